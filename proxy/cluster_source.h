#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "configs/flags.h"
#include "informer/manifest_source.h"
#include "proxy/api_cluster.h"
#include "runner/clock.h"

namespace mkp {

// Where the objects come from: an API server, or a directory of manifests. Belongs to the loop
// thread.
class ClusterSource {
 public:
  // A directory is read at once, and must be there.
  static Result<std::unique_ptr<ClusterSource>> open(const Options& options,
                                                     const std::string& node_name, Clock& clock);

  ObjectSource& source(ObjectKind kind);

  // Does what has to go on beside the watches. Returns only when they are of no use any more.
  asio::awaitable<void> run();

  // Calls when what has been given out belongs together and is complete: after each reading of a
  // directory. An API server knows no such moment, and false is the answer.
  bool on_reading(std::function<void()> call);

  // How many manifests cannot be used as they are.
  std::size_t problems() const;
  // For messages: the directory or the API server.
  const std::string& name() const { return name_; }

  // Null for a directory.
  ApiCluster* api() { return api_.get(); }

 private:
  std::string name_;
  std::unique_ptr<ManifestSource> manifests_;
  std::unique_ptr<ApiCluster> api_;
};

}  // namespace mkp
