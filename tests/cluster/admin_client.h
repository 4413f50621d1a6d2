#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>

#include "runner/result.h"
#include "tests/cluster/isolated_network.h"

namespace mkp::cluster {

// What a test does to the objects of an API server, as an administrator: HTTP/1.1 over one TLS
// connection to 127.0.0.1:6443 in the server's network. Blocks the calling thread, for 60 seconds
// at most.
class AdminClient {
 public:
  // Accepts only a certificate of that authority (PEM).
  AdminClient(const IsolatedNetwork& network, const std::string& authority, std::string token);

  // The body of the answer. Invalid, with the body in the text, when the status is not 2xx;
  // Unreachable when there was none.
  Result<std::string> request(std::string_view method, const std::string& path,
                              std::string_view body = "",
                              std::string_view content_type = "application/json");
  Result<std::string> get(const std::string& path) { return request("GET", path); }

  // Makes the objects what the manifest says, by server-side apply, status included, as YAML or
  // JSON. One document, of a kind that is in `object_path`.
  Result<> apply(const std::string& manifest);
  // JSON merge patch.
  Result<> patch(const std::string& path, std::string_view merge_patch);
  Result<> remove(const std::string& path);

 private:
  struct Free {
    void operator()(SSL_CTX* settings) const noexcept { SSL_CTX_free(settings); }
    void operator()(BIO* chain) const noexcept { BIO_free_all(chain); }
  };

  Result<> connect();
  Result<std::string> exchange(const std::string& request);

  const IsolatedNetwork& network_;
  std::string token_;
  std::unique_ptr<SSL_CTX, Free> settings_;
  std::unique_ptr<BIO, Free> connection_;  // null when there is none
};

// "/api/v1/namespaces/default/services/web": Namespace, Service, Node, EndpointSlice, ServiceCIDR,
// ServiceAccount, ClusterRoleBinding. Empty for any other kind.
std::string object_path(std::string_view kind, const std::string& name_space,
                        const std::string& name);

}  // namespace mkp::cluster
