#pragma once

#include <cstdint>
#include <vector>

#include "netlink/netlink_socket.h"
#include "tests/netlink/conntrack_contract.h"

namespace mkp {

// The kernel's connection tracking, in a network namespace of this process's own that begins with
// it. Whatever goes wrong with the entries fails the test.
class KernelTable final : public ConntrackTable {
 public:
  // `conntrack`: what is to be tested.
  explicit KernelTable(std::unique_ptr<Conntrack> conntrack);

  Conntrack& conntrack() override { return *conntrack_; }
  void add(const std::vector<UdpFlow>& flows) override;
  void add_tcp(const UdpFlow& ends) override;
  void add_in_zone(const UdpFlow& flow, std::uint16_t zone) override;
  void remove(const UdpFlow& flow) override;
  void replace(const UdpFlow& flow) override;

 private:
  void send(const std::vector<std::uint8_t>& messages);

  std::unique_ptr<Conntrack> conntrack_;
  NetlinkSocket socket_;
};

}  // namespace mkp
