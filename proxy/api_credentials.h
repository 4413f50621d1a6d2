#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>

#include "configs/api_server_config.h"
#include "informer/credential_source.h"
#include "proxy/api_credentials_files.h"
#include "proxy/exec_plugin.h"
#include "runner/clock.h"

namespace mkp {

// The credentials that a client configuration names, as files and plugins have them by now.
//
// A token file is read again every 50 s, and when the server refused its token; files of
// certificates and keys when they change, which is looked for every second. Of files that cannot be
// used the last good state stays. A plugin runs when its credentials have expired or were refused.
class ApiCredentials final : public CredentialSource {
 public:
  ApiCredentials(const ApiServerConfig& config, Clock& clock, WallTimeSource wall_time = &wall_now);

  asio::awaitable<Result<Credentials>> current() override;
  void refused(const Credentials& credentials) override;

 private:
  Result<> read_files(Credentials& credentials);

  Clock& clock_;
  std::string fixed_authorization_;  // of what does not change; empty: none
  std::optional<TokenFile> token_file_;
  std::optional<PemFiles> client_pair_;
  std::optional<PemFiles> roots_;
  std::optional<ExecPlugin> plugin_;
};

}  // namespace mkp
