#pragma once

#include <array>
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "configs/config.h"
#include "configs/environment.h"
#include "informer/api_client.h"
#include "informer/api_source.h"
#include "informer/credential_source.h"
#include "proxy/event_recorder.h"
#include "runner/clock.h"
#include "runner/ip_address.h"
#include "runner/result.h"

namespace mkp {

// The cluster as its API server has it: one client, a source for each kind, and events. Belongs to
// the loop thread.
class ApiCluster {
 public:
  // Reads the kubeconfig, or what a pod has, and says in the log what is doubtful about it; talks
  // to nobody yet. `master`: takes the place of the kubeconfig's server; empty: nothing.
  static Result<std::unique_ptr<ApiCluster>> open(const Config& config, const std::string& master,
                                                  const std::string& node_name,
                                                  const Environment& environment, Clock& clock);

  ObjectSource& source(ObjectKind kind);
  EventRecorder& events() { return events_; }
  const std::string& node_name() const { return events_.node_name(); }
  // "10.0.0.1:6443", as metrics name it.
  std::string host() const;
  std::string name() const { return to_text(client_.server()); }

  // To be called before the loop dies, once nobody asks for anything any more.
  void close() { client_.close_idle(); }

  // Called for every request that was tried.
  void on_request(std::function<void(const ApiClient::Figures&)> call) {
    on_request_ = std::move(call);
  }

  // See ApiClient::on_body().
  void on_body(std::function<void(const ApiClient::Body&)> call) {
    client_.on_body(std::move(call));
  }

  // The API server's address, if it is one that we were told and not a name.
  std::optional<IpAddress> address() const;

 private:
  ApiCluster(ApiServer server, std::unique_ptr<CredentialSource> credentials,
             const std::string& node_name, Clock& clock);

  void note(const ApiClient::Figures& figures);

  Clock& clock_;
  std::optional<TimePoint> out_of_reach_since_;
  std::function<void(const ApiClient::Figures&)> on_request_ = [](const ApiClient::Figures&) {};
  std::unique_ptr<CredentialSource> credentials_;
  ApiClient client_;
  EventRecorder events_;
  std::array<ApiSource, 4> sources_;
};

}  // namespace mkp
