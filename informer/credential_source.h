#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "runner/result.h"

namespace mkp {

namespace asio = boost::asio;

// What a client shows to an API server, and goes by when it looks at the server's certificate: all
// that may change while a process runs. Secret but for the roots; never logged.
struct Credentials {
  std::string authorization;  // the header's value, such as "Bearer abc"; empty: none is sent
  // PEM, both or neither; shown when the server asks for a certificate.
  std::string client_certificate{};
  std::string client_key{};
  std::string trusted_roots{};  // PEM; empty: the system's

  bool operator==(const Credentials&) const = default;
};

// Where credentials come from: files that are rotated, plugins that are run. Belongs to the loop
// thread.
class CredentialSource {
 public:
  virtual ~CredentialSource() = default;
  // The credentials to use now, asked before each request; quick unless they have to be renewed. A
  // failure names the file or the plugin, and no secret.
  virtual asio::awaitable<Result<Credentials>> current() = 0;
  // The server said 401 to these: whoever can makes others for the next request.
  virtual void refused(const Credentials& credentials) = 0;
};

}  // namespace mkp
