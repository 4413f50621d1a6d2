#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "runner/result.h"
#include "tests/cluster/admin_client.h"
#include "tests/end_to_end/object_drafts.h"

namespace mkp {

// Changes Services and EndpointSlices at an API server, at random but alike for one seed. Endpoints
// are of 10.180.0.0/24 and fd00:180::/120, on the nodes worker-1, worker-2 or none, with hints for
// zones north and south.
//
// Left out is what kube-proxy 1.37.2 decides by the order of a hash table, anew with every sync: of
// one endpoint in two slices of a Service no more than one is running. Neither does a slice change
// its owner, as kube-proxy then keeps it with both.
class RandomChanges {
 public:
  // `admin` is borrowed.
  RandomChanges(cluster::AdminClient& admin, std::uint32_t seed) : admin_(admin), random_(seed) {}

  // One change of one object. Says which; fails when the API server does not want it.
  Result<std::string> next();
  // The frontends that more than one Service claims by now, in nft's words: address, protocol,
  // port.
  std::set<std::vector<std::string>> contended() const;

 private:
  int number(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  bool once_in(int times) { return number(times) == 0; }
  std::string one_of(const std::vector<std::string>& choices) {
    return choices[static_cast<std::size_t>(number(static_cast<int>(choices.size())))];
  }

  Result<std::string> change_service(int index);
  Result<std::string> change_slice(int service, int index, bool ipv6);
  template <class Draft>
  Result<std::string> apply(const char* kind, const Draft& draft, const std::string& what);
  ServiceDraft new_service(int index);
  SliceDraft new_slice(int service, int index, bool ipv6);
  std::string alter(ServiceDraft& service, int index);
  std::string alter_policies(ServiceDraft& service);
  std::string alter_addresses(ServiceDraft& service, int index);
  std::string alter_ports(ServiceDraft& service);
  std::string alter(SliceDraft& slice, int index);
  std::string alter_hints(SliceDraft& slice);
  void give_hints(const SliceDraft& slice, SliceDraft::Endpoint& endpoint);
  int new_host(int index);
  void put_endpoint(SliceDraft& slice, int host, int index);
  SliceDraft::Endpoint new_endpoint(int host, int index);
  Protocol protocol_of(const std::string& port);
  ServiceDraft::Port new_port(const std::vector<ServiceDraft::Port>& others);

  cluster::AdminClient& admin_;
  std::mt19937 random_;
  std::map<std::string, ServiceDraft> services_;
  std::map<std::string, SliceDraft> slices_;
};

}  // namespace mkp
