#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "configs/config.h"
#include "tests/proxy/small_cluster.h"

namespace mkp {

// A cluster of a few Services with everything that a Service may ask for, and of objects that are
// odd here and there; the same for one seed. Pools of names and addresses are small, so that
// Services contend for frontends and endpoints turn up again.
class RandomCluster {
 public:
  explicit RandomCluster(std::uint32_t seed);

  // One random change of one object, or of the node.
  void edit();

  SmallCluster& cluster() { return cluster_; }
  const SmallCluster& cluster() const { return cluster_; }
  const Config& config() const { return config_; }

  int number(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  // Once in so many times.
  bool once_in(int times) { return number(times) == 0; }

 private:
  template <class T>
  const T& one_of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(number(static_cast<int>(choices.size())))];
  }
  std::vector<std::string> some_of(const std::vector<std::string>& choices);
  std::shared_ptr<const Service> service(const std::string& name);
  void give_addresses(Service& service);
  void give_ports(Service& service);
  std::shared_ptr<const EndpointSlice> slice(const std::string& name, const std::string& owner);
  EndpointSlice::Endpoint endpoint(AddressType type);
  NodeFacts node();

  std::mt19937 random_;
  Config config_;
  SmallCluster cluster_;
};

}  // namespace mkp
