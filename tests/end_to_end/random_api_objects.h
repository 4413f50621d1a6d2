#pragma once

#include <random>
#include <set>
#include <string>

#include "tests/cluster/admin_client.h"

namespace mkp {

// Services of all types and their EndpointSlices, in both families, made, changed and deleted at
// random through an API server. Which of its addresses and node ports a Service may have depends on
// its number, so that no two claim the same, and no endpoint is in two slices.
class RandomApiObjects {
 public:
  static constexpr int kServices = 40;

  // `seed`: the same changes for the same.
  RandomApiObjects(cluster::AdminClient& admin, unsigned seed) : admin_(admin), random_(seed) {}

  // One change of one object; what it was, for messages. Empty: the server did not take it.
  std::string change();
  // How many were not taken, and why the last was not.
  int refused() const { return refused_; }
  const std::string& last_refusal() const { return last_refusal_; }

 private:
  std::string make_service(int number);
  std::string patch_service(int number);
  std::string put_slice(int number);
  std::string remove(const std::string& path, const std::string& what);
  std::string outcome(const Result<>& done, std::string what);

  std::string ports(int number, bool node_ports);
  std::string endpoints(int number, int slice, bool ipv6);
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  bool one_in(int chances) { return below(chances) == 0; }
  template <class T>
  T any_of(std::initializer_list<T> choices) {
    return *(choices.begin() + below(static_cast<int>(choices.size())));
  }

  cluster::AdminClient& admin_;
  std::mt19937 random_;
  std::set<int> services_;
  std::set<std::string> slices_;  // their names
  int refused_ = 0;
  std::string last_refusal_;
};

}  // namespace mkp
