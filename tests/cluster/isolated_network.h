#pragma once

#include <string>

#include "runner/result.h"
#include "tests/packets/descriptor.h"

namespace mkp::cluster {

// A network namespace without a name, which lives as long as this does, or a process in it.
class IsolatedNetwork {
 public:
  // With `lo` up.
  static Result<IsolatedNetwork> make();

  // The calling thread, and what it starts, is in there until this is destroyed.
  class Visit {
   public:
    explicit Visit(const IsolatedNetwork& network);
    ~Visit();
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

   private:
    packets::Descriptor before_;
  };

  // What `ip` takes for a network namespace, while this lives.
  std::string path() const;

 private:
  explicit IsolatedNetwork(packets::Descriptor network) : network_(std::move(network)) {}
  packets::Descriptor network_;
};

}  // namespace mkp::cluster
