#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runner/result.h"
#include "tests/packets/descriptor.h"
#include "tests/packets/packet.h"

namespace mkp::packets {

// The node's own end: raw sockets that get a copy of each packet that passed the input hook, and
// that send packets through the output hook.
class LocalSockets {
 public:
  static Result<LocalSockets> open();

  std::vector<int> descriptors() const;
  // As a process on the node would, bound to the packet's source address. A packet that the output
  // hook stops is no failure.
  static Result<> send(const IpAddress& from, const IpAddress& to,
                       std::span<const std::uint8_t> packet);
  // What has arrived, in no particular order between protocols. Never waits.
  std::vector<Sighting> read_all() const;

 private:
  struct Raw {
    Descriptor descriptor;
    IpFamily family = IpFamily::Ipv4;
    std::uint8_t protocol = 0;
  };
  static Result<Raw> open_raw(IpFamily family, std::uint8_t protocol);

  std::vector<Raw> sockets_;
};

}  // namespace mkp::packets
