#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "configs/api_server_config.h"
#include "runner/result.h"
#include "runner/wall_time.h"

namespace mkp {

// What a plugin answers (ExecCredential): a token, or a certificate with its key, or both. Secret.
struct ExecCredential {
  std::string token;
  std::string client_certificate;  // PEM
  std::string client_key;
  std::optional<WallTime> expires;  // nothing: never

  bool operator==(const ExecCredential&) const = default;
};

// The value of KUBERNETES_EXEC_INFO: an ExecCredential in JSON that tells the plugin what it is
// asked. It is never interactive, as nobody sits at a daemon.
std::string exec_info_of(const ExecPluginConfig& plugin);

// Reads a plugin's standard output, which has to be of the API version that it was asked in. A
// failure has nothing of the text in it.
Result<ExecCredential> parse_exec_credential(std::string_view text, std::string_view api_version);

}  // namespace mkp
