#include "proxy/api_credentials.h"

#include <utility>

#include "configs/certificates.h"
#include "informer/forward_proxy.h"

namespace mkp {
namespace {

constexpr const char* kBearer = "Bearer ";

std::string fixed_authorization_of(const ApiServerConfig& config) {
  if (!config.username.empty() || !config.password.empty()) {
    return basic_authorization(config.username, config.password);
  }
  if (config.token_file.empty() && !config.token.empty()) return kBearer + config.token;
  return "";
}

Result<> check_pair_texts(const std::vector<std::string>& texts) {
  return check_key_pair(texts.at(0), texts.at(1));
}

Result<> check_root_texts(const std::vector<std::string>& texts) {
  return check_roots(texts.at(0));
}

}  // namespace

ApiCredentials::ApiCredentials(const ApiServerConfig& config, Clock& clock,
                               WallTimeSource wall_time)
    : clock_(clock), fixed_authorization_(fixed_authorization_of(config)) {
  if (!config.token_file.empty()) token_file_.emplace(config.token_file, config.token);
  if (config.client_certificate.given()) {
    client_pair_.emplace(std::vector{config.client_certificate, config.client_key},
                         "client certificate and key", &check_pair_texts);
  }
  if (config.certificate_authority.given()) {
    roots_.emplace(std::vector{config.certificate_authority}, "certificate authority",
                   &check_root_texts);
  }
  if (config.exec) plugin_.emplace(*config.exec, clock, std::move(wall_time));
}

asio::awaitable<Result<Credentials>> ApiCredentials::current() {
  Credentials credentials;
  if (const Result<> read = read_files(credentials); !read) {
    co_return tl::unexpected<Error>(read.error());
  }
  if (!plugin_) co_return credentials;
  Result<ExecCredential> answer = co_await plugin_->current();
  if (!answer) co_return tl::unexpected<Error>(answer.error());
  if (!answer->token.empty()) credentials.authorization = kBearer + answer->token;
  credentials.client_certificate = std::move(answer->client_certificate);
  credentials.client_key = std::move(answer->client_key);
  co_return credentials;
}

Result<> ApiCredentials::read_files(Credentials& credentials) {
  const TimePoint now = clock_.now();
  credentials.authorization = fixed_authorization_;
  if (token_file_) {
    const Result<std::string> token = token_file_->current(now);
    if (!token) return tl::unexpected<Error>(token.error());
    credentials.authorization = kBearer + *token;
  }
  if (client_pair_) {
    if (Result<> pair = client_pair_->refresh(now); !pair) return pair;
    credentials.client_certificate = client_pair_->texts().at(0);
    credentials.client_key = client_pair_->texts().at(1);
  }
  if (roots_) {
    if (Result<> roots = roots_->refresh(now); !roots) return roots;
    credentials.trusted_roots = roots_->texts().at(0);
  }
  return {};
}

void ApiCredentials::refused(const Credentials& credentials) {
  if (token_file_) token_file_->expire();
  if (!plugin_) return;
  const bool bearer = credentials.authorization.starts_with(kBearer);
  plugin_->refused(bearer ? credentials.authorization.substr(std::string_view(kBearer).size()) : "",
                   credentials.client_certificate);
}

}  // namespace mkp
