#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <optional>

#include "configs/api_server_config.h"
#include "configs/exec_credential.h"
#include "informer/signal.h"
#include "proxy/exec_plugin_process.h"
#include "runner/clock.h"
#include "runner/result.h"
#include "runner/token_bucket.h"
#include "runner/wall_time.h"

namespace mkp {

// The time of day, which credentials expire by.
using WallTimeSource = std::function<WallTime()>;

// Credentials of a plugin (client.authentication.k8s.io), kept until they expire or are refused.
// Belongs to the loop thread.
class ExecPlugin {
 public:
  ExecPlugin(ExecPluginConfig config, Clock& clock, WallTimeSource wall_time);

  // Runs the plugin when there are no credentials in force, once for all who ask meanwhile, who
  // share its failure too. It gets a minute. A failure begins with "getting credentials: " and has
  // nothing of the plugin's output; that on standard error goes to ours, as it is.
  asio::awaitable<Result<ExecCredential>> current();

  // The server did not accept this token, or certificate: unless it is of the past already, the
  // plugin runs before the next use.
  void refused(const std::string& token, const std::string& client_certificate);

 private:
  const ExecCredential* in_force() const;  // or null
  asio::awaitable<Result<ExecCredential>> run();
  asio::awaitable<Result<ProcessResult>> run_in_time();
  std::string shown_failure(const Error& error);

  const ExecPluginConfig config_;
  const ProcessCommand command_;
  Clock& clock_;
  WallTimeSource wall_time_;
  ProcessRunner processes_;
  TokenBucket hints_;  // how often the install hint is given
  std::optional<ExecCredential> credential_;
  std::optional<Error> failure_;  // of the last run
  bool running_ = false;
  Signal ran_;
};

}  // namespace mkp
