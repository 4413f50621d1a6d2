#include "proxy/cluster_source.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace mkp {

Result<std::unique_ptr<ClusterSource>> ClusterSource::open(const Options& options,
                                                           const std::string& node_name,
                                                           Clock& clock) {
  auto cluster = std::make_unique<ClusterSource>();
  if (options.manifests.empty()) {
    Result<std::unique_ptr<ApiCluster>> api =
        ApiCluster::open(options.config, options.master.value_or(std::string()), node_name,
                         Environment::of_this_process(), clock);
    if (!api) return tl::unexpected<Error>(std::move(api.error()));
    cluster->api_ = std::move(*api);
    cluster->name_ = cluster->api_->name();
    return cluster;
  }
  cluster->name_ = options.manifests;
  cluster->manifests_ = std::make_unique<ManifestSource>(options.manifests);
  if (const Result<> read = cluster->manifests_->read_now(); !read) {
    return fail(read.error(), "read the manifests");
  }
  if (cluster->manifests_->empty()) {
    spdlog::warn(
        "there is no manifest (*.yaml, *.yml, *.json) in {}: no Service is served, and rules of a "
        "former process for any are removed",
        options.manifests);
  }
  return cluster;
}

ObjectSource& ClusterSource::source(ObjectKind kind) {
  return api_ ? api_->source(kind) : manifests_->source(kind);
}

asio::awaitable<void> ClusterSource::run() {
  return api_ ? api_->events().run() : manifests_->run();
}

bool ClusterSource::on_reading(std::function<void()> call) {
  if (!manifests_) return false;
  manifests_->on_reading(std::move(call));
  return true;
}

std::size_t ClusterSource::problems() const {
  return manifests_ ? manifests_->problems().size() : 0;
}

}  // namespace mkp
