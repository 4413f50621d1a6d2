#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "informer/api_client.h"
#include "informer/object_source.h"
#include "informer/wire_format.h"

namespace mkp {

// The objects of one kind that an API server has, as far as a service proxy asks for them, with
// kube-proxy 1.37's selectors: no headless Services and none of other proxies, no EndpointSlices of
// headless Services, the own Node alone. Belongs to the loop thread; outlives its streams.
class ApiSource final : public ObjectSource {
 public:
  // `node_name`: for Node the only one that is asked for.
  ApiSource(ApiClient& client, ObjectKind kind, std::string node_name);

  asio::awaitable<Result<Listing>> list(ListQuery query) override;
  asio::awaitable<Result<std::unique_ptr<EventStream>>> watch(WatchQuery query) override;

 private:
  ApiRequest request() const;
  asio::awaitable<Result<Listing>> read_list(ApiRequest request);

  ApiClient& client_;
  ObjectKind kind_;
  std::string node_name_;
};

}  // namespace mkp
