#include "configs/exec_credential.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "configs/certificates.h"
#include "configs/json_text.h"
#include "configs/kubeconfig_reader.h"

namespace mkp {
namespace {

constexpr const char* kKind = "ExecCredential";

tl::unexpected<Error> not_decoded(std::string_view why) {
  return fail(Errc::Invalid, fmt::format("decoding stdout: {}", why));
}

bool fits_header(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char letter) { return letter < ' ' || letter == 0x7f; });
}

// A plugin's output is not to be shown, unless it is a version of this API indeed.
std::string_view known_version(std::string_view version) {
  constexpr std::string_view kGroup = "client.authentication.k8s.io/";
  const bool short_one = version.size() <= kGroup.size() + 10;
  return version.starts_with(kGroup) && short_one ? version : "of another API";
}

Result<> check(const ExecCredential& credential) {
  if (credential.client_certificate.empty() != credential.client_key.empty()) {
    return fail(Errc::Invalid, "exec plugin returned only certificate or key, not both");
  }
  if (credential.token.empty() && credential.client_key.empty()) {
    return fail(Errc::Invalid, "exec plugin didn't return a token or cert/key pair");
  }
  if (!fits_header(credential.token)) {
    return not_decoded("status.token: has a line break or another control character");
  }
  if (credential.client_key.empty()) return {};
  const Result<> pair = check_key_pair(credential.client_certificate, credential.client_key);
  if (!pair) return fail(pair.error(), "failed parsing client key/certificate");
  return {};
}

// Whoever means "never" may name a year that is beyond nanoseconds since 1970.
std::optional<WallTime> expiry_of(std::string text) {
  constexpr std::string_view kLastLeapYear = "2260";
  const std::string_view year = std::string_view(text).substr(0, kLastLeapYear.size());
  const bool digits = year.find_first_not_of("0123456789") == std::string_view::npos;
  if (digits && year > kLastLeapYear) text.replace(0, kLastLeapYear.size(), kLastLeapYear);
  return parse_wall_time(text);
}

Result<ExecCredential> credential_of(const YAML::Node& document, std::string_view api_version) {
  if (!document.IsMap()) return not_decoded("expected an ExecCredential");
  KubeconfigReader reader("");
  const KubeconfigBlock root{document, "", ""};
  const std::string kind = reader.text(root, "kind");
  const std::string version = reader.text(root, "apiVersion");
  ExecCredential credential;
  const std::optional<KubeconfigBlock> status = reader.block(root, "status");
  if (status) {
    credential.token = reader.text(*status, "token");
    credential.client_certificate = reader.text(*status, "clientCertificateData");
    credential.client_key = reader.text(*status, "clientKeyData");
    if (const std::string expiry = reader.text(*status, "expirationTimestamp"); !expiry.empty()) {
      credential.expires = expiry_of(expiry);
      if (!credential.expires) {
        reader.error(*status, status->node, "expirationTimestamp", "is no time of RFC 3339");
      }
    }
  }
  if (const std::vector<std::string> errors = reader.errors(); !errors.empty()) {
    return not_decoded(errors.front());
  }
  if (kind != kKind) return not_decoded("expected an ExecCredential");
  if (version != api_version) {
    return fail(Errc::Invalid,
                fmt::format("exec plugin is configured to use API version {}, plugin returned "
                            "version {}",
                            api_version, known_version(version)));
  }
  if (!status) return fail(Errc::Invalid, "exec plugin didn't return a status field");
  if (const Result<> good = check(credential); !good) {
    return tl::unexpected<Error>(good.error());
  }
  return credential;
}

}  // namespace

std::string exec_info_of(const ExecPluginConfig& plugin) {
  std::string info =
      fmt::format("{{\"kind\":\"{}\",\"apiVersion\":{},\"spec\":{{\"interactive\":false", kKind,
                  json_quoted(plugin.api_version));
  if (!plugin.cluster_info.empty()) info += ",\"cluster\":" + plugin.cluster_info;
  return info + "}}";
}

Result<ExecCredential> parse_exec_credential(std::string_view text, std::string_view api_version) {
  try {
    return credential_of(YAML::Load(std::string(text)), api_version);
  } catch (const YAML::Exception& error) {
    // Behind a colon, yaml-cpp cites the text.
    return not_decoded(
        fmt::format("line {}: {}", error.mark.line + 1, error.msg.substr(0, error.msg.find(':'))));
  }
}

}  // namespace mkp
