#pragma once

#include <fmt/format.h>

#include <string>

namespace mkp::cluster {

// A kubeconfig beside `ca.crt`. `user`: the fields of its user, as in a YAML flow mapping.
inline std::string kubeconfig_text(const std::string& server, const std::string& user) {
  return fmt::format(R"(apiVersion: v1
kind: Config
current-context: test
clusters: [{{name: test, cluster: {{server: "{}", certificate-authority: ca.crt}}}}]
users: [{{name: test, user: {{{}}}}}]
contexts: [{{name: test, context: {{cluster: test, user: test}}}}]
)",
                     server, user);
}

}  // namespace mkp::cluster
