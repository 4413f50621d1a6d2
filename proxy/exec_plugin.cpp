#include "proxy/exec_plugin.h"

#include <fmt/format.h>

#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <utility>
#include <variant>

#include "runner/duration_text.h"

namespace mkp {
namespace {

using namespace asio::experimental::awaitable_operators;

constexpr Duration kLongestRun = std::chrono::minutes(1);
constexpr std::size_t kLargestOutput = std::size_t{1} << 20;
constexpr int kHintsAnHour = 10;
constexpr Duration kHintInterval = Duration(std::chrono::hours(1)) / kHintsAnHour;

ProcessCommand command_of(const ExecPluginConfig& config) {
  ProcessCommand command{.program = config.command, .args = config.args, .variables = {}};
  for (const auto& [name, value] : config.env) command.variables[name] = value;
  command.variables["KUBERNETES_EXEC_INFO"] = exec_info_of(config);
  return command;
}

}  // namespace

ExecPlugin::ExecPlugin(ExecPluginConfig config, Clock& clock, WallTimeSource wall_time)
    : config_(std::move(config)),
      command_(command_of(config_)),
      clock_(clock),
      wall_time_(std::move(wall_time)),
      hints_(kHintInterval, kHintsAnHour) {}

const ExecCredential* ExecPlugin::in_force() const {
  if (!credential_) return nullptr;
  const bool expired = credential_->expires && wall_time_() > *credential_->expires;
  return expired ? nullptr : &*credential_;
}

asio::awaitable<Result<ExecCredential>> ExecPlugin::current() {
  bool waited = false;
  while (running_) {
    waited = true;
    co_await ran_.wait();
  }
  // One whose task was cancelled has left neither.
  if (waited && failure_) co_return tl::unexpected<Error>(*failure_);
  if (const ExecCredential* kept = in_force()) co_return *kept;

  const auto finish = [this](bool* running) {
    *running = false;
    ran_.notify();
  };
  running_ = true;
  const std::unique_ptr<bool, decltype(finish)> run_of_ours(&running_, finish);
  credential_.reset();
  failure_.reset();
  Result<ExecCredential> credential = co_await run();
  if (!credential) {
    failure_ = Error{Errc::Internal, "getting credentials: " + shown_failure(credential.error())};
    co_return tl::unexpected<Error>(*failure_);
  }
  credential_ = std::move(*credential);
  co_return *credential_;
}

void ExecPlugin::refused(const std::string& token, const std::string& client_certificate) {
  if (credential_ && credential_->token == token &&
      credential_->client_certificate == client_certificate) {
    credential_.reset();
  }
}

asio::awaitable<Result<ExecCredential>> ExecPlugin::run() {
  const Result<ProcessResult> result = co_await run_in_time();
  if (!result) co_return tl::unexpected<Error>(result.error());
  if (result->exit_code < 0) {
    co_return fail(Errc::Internal,
                   fmt::format("exec: executable {} was ended by a signal", config_.command));
  }
  if (result->exit_code != 0) {
    co_return fail(Errc::Internal, fmt::format("exec: executable {} failed with exit code {}",
                                               config_.command, result->exit_code));
  }
  co_return parse_exec_credential(result->output, config_.api_version);
}

asio::awaitable<Result<ProcessResult>> ExecPlugin::run_in_time() {
  auto outcome = co_await (processes_.run(command_, kLargestOutput) ||
                           clock_.sleep_until(later(clock_.now(), kLongestRun)));
  if (auto* result = std::get_if<Result<ProcessResult>>(&outcome)) {
    if (*result) co_return std::move(*result);
    const Error& error = result->error();
    if (error.code == Errc::NotFound) {
      co_return fail(Errc::NotFound, fmt::format("exec: executable {} not found", config_.command));
    }
    co_return fail(error, fmt::format("exec: executable {}", config_.command));
  }
  co_return fail(Errc::Internal, fmt::format("exec: executable {} did not end within {}",
                                             config_.command, to_text(kLongestRun)));
}

// With the hint how to install what was not found, now and then.
std::string ExecPlugin::shown_failure(const Error& error) {
  const bool hint = error.code == Errc::NotFound && !config_.install_hint.empty();
  if (!hint || !hints_.allow(clock_.now())) return error.what;
  return error.what + "; " + config_.install_hint;
}

}  // namespace mkp
