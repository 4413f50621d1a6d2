#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "netlink/attributes.h"
#include "netlink/messages.h"
#include "runner/result.h"

struct nl_sock;

namespace mkp {

// One netlink socket, libnl's (whose netlink/socket.h has taken that name). The kernel answers
// before a send returns, so nothing here waits: an answer that is not there yet never comes.
// Belongs to one thread.
class NetlinkSocket {
 public:
  // `protocol` as in socket(2): NETLINK_NETFILTER.
  static Result<NetlinkSocket> open(int protocol);

  // The first of `count` sequence numbers that no other message of this socket has.
  std::uint32_t take_sequence(std::uint32_t count);

  // Sends messages that ask for no acknowledgement, as one datagram; returns what the kernel had to
  // say against them, in its order. When it has more to say than the receive buffer holds, the last
  // ones are missing. Unavailable when the kernel lacks the memory: nothing has been done, and
  // smaller batches may pass.
  Result<std::vector<NetlinkError>> send_batch(ByteSpan batch);

  // Sends one request and hands over the messages that answer it, until the kernel says that it is
  // done or that it fails. Expired when what was listed changed meanwhile, or answers were lost:
  // ask again. What `take` fails with ends it, too.
  using Take = std::function<Result<>(const NetlinkMessage&)>;
  Result<> request(ByteSpan message, std::uint32_t sequence, const Take& take);

 private:
  struct Free {
    void operator()(nl_sock* socket) const noexcept;
  };

  explicit NetlinkSocket(std::unique_ptr<nl_sock, Free> socket);

  // 0, or a positive errno.
  int send(ByteSpan bytes);
  int grow_send_buffer(std::size_t size);
  // One datagram; empty when there is none.
  Result<ByteSpan> receive();
  void drain();
  Result<std::vector<NetlinkError>> read_refusals();

  std::unique_ptr<nl_sock, Free> socket_;
  std::uint32_t port_;
  std::uint32_t next_sequence_ = 1;
  int send_buffer_ = 0;
  std::vector<std::uint8_t> received_;
};

}  // namespace mkp
