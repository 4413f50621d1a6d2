#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "netlink/nftables_socket.h"
#include "runner/result.h"
#include "tests/cluster/control_plane.h"
#include "tests/cluster/isolated_network.h"
#include "tests/end_to_end/listed_table.h"

namespace mkp {

// The network of a node, and the tables in which a proxy keeps its rules there. Several of them are
// the same node to the API server: each has its addresses.
class ComparedNode {
 public:
  static constexpr const char* kName = "worker-1";
  // By which it is known to the API server, and answers on node ports.
  static std::string address(IpFamily family);

  // In a network of its own that is attached to the control plane. `table`: the proxy's.
  static Result<ComparedNode> make(cluster::ControlPlane& cluster, std::string table);

  // Where to start the proxy.
  const cluster::IsolatedNetwork& network() const { return network_; }
  Result<ListedTable> table(IpFamily family) const;
  // Whether rules have changed since this was last asked.
  bool has_changed();

 private:
  ComparedNode(cluster::IsolatedNetwork network, std::string table,
               std::unique_ptr<nft::NftablesSocket> kernel)
      : network_(std::move(network)), table_(std::move(table)), kernel_(std::move(kernel)) {}

  cluster::IsolatedNetwork network_;
  std::string table_;
  std::unique_ptr<nft::NftablesSocket> kernel_;
  std::uint32_t generation_ = 0;
};

}  // namespace mkp
