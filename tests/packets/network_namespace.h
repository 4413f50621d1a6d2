#pragma once

#include "runner/result.h"
#include "tests/packets/descriptor.h"

namespace mkp::packets {

// Puts the calling thread, and whatever it starts, into a fresh network namespace until destroyed.
// The namespace goes when its last socket does, so what holds sockets in it must be gone first.
class NetworkNamespace {
 public:
  static Result<NetworkNamespace> enter();
  ~NetworkNamespace();
  NetworkNamespace(NetworkNamespace&&) = default;
  NetworkNamespace& operator=(NetworkNamespace&&) = delete;

 private:
  explicit NetworkNamespace(Descriptor before) : before_(std::move(before)) {}
  Descriptor before_;
};

}  // namespace mkp::packets
