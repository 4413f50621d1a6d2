#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runner/result.h"
#include "tests/packets/local_sockets.h"
#include "tests/packets/network_namespace.h"
#include "tests/packets/outcome.h"
#include "tests/packets/tun_device.h"

namespace mkp::packets {

// The pods of the cluster, wherever the cases put them. Everything else is outside.
bool is_pod_address(const IpAddress& address);

// A node in a network namespace of its own, with two devices: `pods`, where all pods are, and
// `outside`, where everything else is and which bears the node's addresses. The node has an address
// of its own towards the pods too, so that masquerading shows even on what the node itself sends.
class SimulatedNode {
 public:
  enum class Ipv6 { On, Off };
  static Result<std::unique_ptr<SimulatedNode>> create(const std::vector<IpAddress>& addresses,
                                                       Ipv6 ipv6 = Ipv6::On);

  // The first address of that family; loopback when the node has none.
  IpAddress primary_address(IpFamily family) const;

  // Gives the node's device a further address, or takes one away, for good.
  Result<> add_node_address(const IpAddress& address);
  Result<> remove_node_address(const IpAddress& address);

  // Sends one packet from where its source address is at home, the node included, and waits until
  // everything that it caused has happened. What is sent to its own source comes from the node too,
  // which then must have that address.
  Result<Outcome> probe(const Packet& packet);

  // Sends many packets that come from pods, and yields everything that was seen until all that they
  // caused has happened. They are of one family.
  Result<std::vector<Seen>> send_from_pods(std::span<const Packet> packets);

  // While it lives, a further address of the node.
  class ExtraAddress {
   public:
    explicit ExtraAddress(std::string address) : address_(std::move(address)) {}
    ~ExtraAddress();
    ExtraAddress(const ExtraAddress&) = delete;
    ExtraAddress& operator=(const ExtraAddress&) = delete;

   private:
    std::string address_;
  };
  // Null for an address that the node has anyway.
  Result<std::unique_ptr<ExtraAddress>> add_address(const IpAddress& address) const;

 private:
  SimulatedNode(NetworkNamespace space, TunDevice pods, TunDevice outside, LocalSockets local,
                std::vector<IpAddress> addresses);
  Result<> configure(Ipv6 ipv6) const;
  // A device may be up before what the node sends through it gets out.
  Result<> await_answers(Ipv6 ipv6);
  bool is_local(const IpAddress& address) const;
  Result<std::vector<Seen>> settle(IpFamily family);
  Result<> send_sentinels(IpFamily family, std::uint32_t tag) const;
  Result<> await_sentinels(std::uint32_t tag, std::vector<Seen>& seen) const;
  std::vector<Seen> read_all() const;
  Result<> wait_for_packets() const;

  NetworkNamespace space_;  // first: what has sockets in it dies before it
  TunDevice pods_;
  TunDevice outside_;
  LocalSockets local_;
  std::vector<IpAddress> addresses_;
  std::uint32_t next_sentinel_ = 1;
};

}  // namespace mkp::packets
