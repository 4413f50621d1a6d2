#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runner/result.h"
#include "tests/packets/descriptor.h"

namespace mkp::packets {

// A network device whose other end is this program: what is written arrives at the node, and what
// the node sends through the device is read here. Packets begin with their IP header.
class TunDevice {
 public:
  static Result<TunDevice> create(const std::string& name);

  int descriptor() const { return descriptor_.get(); }
  Result<> write(std::span<const std::uint8_t> packet) const;
  // Never waits: nothing when there is no packet.
  std::optional<std::vector<std::uint8_t>> read() const;

 private:
  explicit TunDevice(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  Descriptor descriptor_;
};

}  // namespace mkp::packets
