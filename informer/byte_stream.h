#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "informer/api_server.h"
#include "informer/credential_source.h"
#include "runner/clock.h"
#include "runner/result.h"

namespace mkp {

// Bytes to and from a peer, in order. Belongs to the loop thread; one read and one write at a time.
// After a failure, a cancelled call included, it is of no use any more.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // How many bytes were read into `space`, which is not empty; 0 when the peer has closed its side
  // in good order. Fails with Unreachable when the connection broke.
  virtual asio::awaitable<Result<std::size_t>> read_some(std::span<char> space) = 0;
  // All of `bytes`.
  virtual asio::awaitable<Result<>> write(std::string bytes) = 0;
  // Whether nothing has come since the last read: a connection that lies idle and is not usable any
  // more has an end, or bytes that nobody asked for.
  virtual bool is_quiet() = 0;
};

// Connects to the server, through its proxy if there is one, and for https does the handshake with
// what `credentials` says of certificates.
//
// A peer that falls silent is noticed within four seconds, by the kernel's keep-alive probes
// (idle for 2 s, then one a second) and TCP_USER_TIMEOUT, as the API server itself says nothing on
// an idle watch for up to a minute. A server that nobody answers for, a refusal and a time-out are
// Unreachable; a certificate that is not accepted, on either side, is Denied.
asio::awaitable<Result<std::unique_ptr<ByteStream>>> connect(const ApiServer& server,
                                                             const Credentials& credentials,
                                                             Clock& clock);

}  // namespace mkp
