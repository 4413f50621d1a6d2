#include "tests/end_to_end/compared_node.h"

#include "tests/packets/program.h"

namespace mkp {

using cluster::IsolatedNetwork;

std::string ComparedNode::address(IpFamily family) {
  return family == IpFamily::Ipv4 ? "10.20.200.11" : "fd20:0:0:c8::11";
}

Result<ComparedNode> ComparedNode::make(cluster::ControlPlane& cluster, std::string table) {
  Result<IsolatedNetwork> network = IsolatedNetwork::make();
  if (!network) return tl::unexpected(network.error());
  const IsolatedNetwork::Visit inside(*network);
  const Result<cluster::Attachment> attached = cluster.attach();
  if (!attached) return tl::unexpected(attached.error());
  for (const IpFamily family : {IpFamily::Ipv4, IpFamily::Ipv6}) {
    const std::string length = family == IpFamily::Ipv4 ? "/32" : "/128";
    const Result<std::string> added =
        packets::run_program({"ip", "addr", "add", address(family) + length, "dev", "lo"});
    if (!added) return tl::unexpected(added.error());
  }
  Result<std::unique_ptr<nft::NftablesSocket>> kernel = nft::NftablesSocket::open();
  if (!kernel) return tl::unexpected(kernel.error());
  return ComparedNode(std::move(*network), std::move(table), std::move(*kernel));
}

Result<ListedTable> ComparedNode::table(IpFamily family) const {
  const IsolatedNetwork::Visit inside(network_);
  return ListedTable::list(family, table_);
}

bool ComparedNode::has_changed() {
  const std::uint32_t now = kernel_->generation().value_or(0);
  return now != std::exchange(generation_, now);
}

}  // namespace mkp
