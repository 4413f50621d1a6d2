#include "netlink/conntrack_socket.h"

#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio.hpp>
#include <cerrno>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace mkp {
namespace {

// How often a list is asked for while the kernel cannot give all of it.
constexpr int kAttempts = 5;
// Entries forgotten between two turns of other tasks. Their acknowledgements, some 800 bytes of
// kernel memory each, must fit into the receive buffer, which is 208 KiB on an untuned machine.
constexpr std::size_t kPortion = 100;
// The kernel fills at most 32 KiB of a datagram when it lists something.
constexpr std::size_t kReceiveBuffer = 65536;

// What a refused request means; `err` as errno, not 0.
tl::unexpected<Error> refusal(int err) {
  if (err == EPERM) {
    return fail(Errc::Denied, "connection tracking is closed to us (give us CAP_NET_ADMIN)");
  }
  // What nfnetlink says to a subsystem that it does not have.
  if (err == EINVAL || err == EOPNOTSUPP) {
    return fail(Errc::Unavailable,
                "the kernel does not list or forget flows (load its module nf_conntrack_netlink)");
  }
  return fail_errno(err, "the kernel's answer");
}

// One non-blocking netlink socket on the loop.
class FlowSocket {
 public:
  explicit FlowSocket(const asio::any_io_executor& loop)
      : socket_(loop), received_(kReceiveBuffer) {}

  Result<> open() {
    const int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_NETFILTER);
    if (fd < 0 && errno == EPROTONOSUPPORT) {
      return fail(Errc::Unavailable, "the kernel has no nfnetlink");
    }
    if (fd < 0) return fail_errno(errno, "open a netlink socket");
    boost::system::error_code failed;
    socket_.assign(fd, failed);
    if (failed) {
      ::close(fd);
      return fail(Errc::Unavailable, "wait for a netlink socket: " + failed.message());
    }
    // An error would repeat the message that it is about.
    const int on = 1;
    ::setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
    return {};
  }

  Result<> send(ByteSpan messages) {
    sockaddr_nl kernel{};
    kernel.nl_family = AF_NETLINK;
    for (;;) {
      const ssize_t sent =
          ::sendto(socket_.native_handle(), messages.data(), messages.size(), MSG_NOSIGNAL,
                   reinterpret_cast<const sockaddr*>(&kernel), sizeof(kernel));
      if (sent >= 0) return {};
      if (errno == EINTR) continue;
      if (errno == ENOBUFS) return fail_errno(ENOMEM, "send a request");
      return fail_errno(errno, "send a request");
    }
  }

  // The next datagram from the kernel, valid until the next call. Expired when some were lost.
  asio::awaitable<Result<ByteSpan>> receive() {
    for (;;) {
      Result<ByteSpan> datagram = receive_now();
      if (!datagram || !datagram->empty()) co_return datagram;
      const auto [failed] = co_await socket_.async_wait(asio::posix::stream_descriptor::wait_read,
                                                        asio::as_tuple(asio::use_awaitable));
      // An aborted wait is our cancellation, of which the next one tells.
      if (failed && failed != asio::error::operation_aborted) {
        co_return fail(Errc::Unavailable, "wait for a netlink socket: " + failed.message());
      }
    }
  }

 private:
  // Empty when there is none yet.
  Result<ByteSpan> receive_now() {
    for (;;) {
      sockaddr_nl from{};
      socklen_t from_size = sizeof(from);
      const ssize_t size =
          ::recvfrom(socket_.native_handle(), received_.data(), received_.size(),
                     MSG_DONTWAIT | MSG_TRUNC, reinterpret_cast<sockaddr*>(&from), &from_size);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0 && errno == EAGAIN) return ByteSpan();
      if (size < 0) return fail_errno(errno, "read from a netlink socket");
      // Other processes may send to us as well; only the kernel is port 0.
      if (from.nl_pid != 0) continue;
      if (static_cast<std::size_t>(size) > received_.size()) {
        return fail(Errc::Expired, "a netlink answer was cut short");
      }
      return ByteSpan(received_).first(static_cast<std::size_t>(size));
    }
  }

  asio::posix::stream_descriptor socket_;
  std::vector<std::uint8_t> received_;
};

// 0, or the errno that ended it.
asio::awaitable<Result<int>> list_once(IpFamily family, ConntrackFilter filter,
                                       const Conntrack::Visit& visit) {
  const asio::any_io_executor loop = co_await asio::this_coro::executor;
  FlowSocket socket(loop);
  if (Result<> opened = socket.open(); !opened) {
    co_return tl::unexpected<Error>(std::move(opened.error()));
  }
  if (Result<> sent = socket.send(list_flows_message(family, filter, 1)); !sent) {
    co_return tl::unexpected<Error>(std::move(sent.error()));
  }
  FlowListing listing(visit);
  for (;;) {
    Result<ByteSpan> datagram = co_await socket.receive();
    if (!datagram && datagram.error().code == Errc::Expired) co_return ENOBUFS;
    if (!datagram) co_return tl::unexpected<Error>(std::move(datagram.error()));
    if (const std::optional<int> end = listing.take(*datagram)) co_return *end;
    co_await asio::post(loop, asio::use_awaitable);
  }
}

// What came of the requests of one portion.
struct Outcome {
  std::size_t answered = 0;
  std::size_t forgotten = 0;
  int err = 0;  // of the first that failed for another reason than that its entry is gone
};

void take_answers(ByteSpan datagram, Outcome& outcome) {
  MessageReader messages(datagram);
  while (const std::optional<NetlinkMessage> message = messages.next()) {
    if (message->type != NLMSG_ERROR) continue;
    const int err = ending_errno(*message);
    ++outcome.answered;
    if (err == 0) ++outcome.forgotten;
    if (err != 0 && err != ENOENT && outcome.err == 0) outcome.err = err;
  }
}

asio::awaitable<Result<Outcome>> forget_portion(FlowSocket& socket,
                                                std::span<const UdpFlow> flows) {
  std::vector<std::uint8_t> messages;
  for (const UdpFlow& flow : flows) append_forget_message(messages, flow, 1);
  if (Result<> sent = socket.send(messages); !sent) {
    co_return tl::unexpected<Error>(std::move(sent.error()));
  }
  Outcome outcome;
  while (outcome.answered < flows.size()) {
    const Result<ByteSpan> datagram = co_await socket.receive();
    if (!datagram) co_return tl::unexpected<Error>(datagram.error());
    take_answers(*datagram, outcome);
  }
  co_return outcome;
}

}  // namespace

asio::awaitable<Result<>> ConntrackSocket::visit_udp(IpFamily family, Visit visit) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Result<int> ended = co_await list_once(family, filter_, visit);
    if (!ended) co_return fail(std::move(ended.error()), "list flows");
    if (*ended == 0) co_return Result<>();
    if ((*ended == EINVAL || *ended == EOPNOTSUPP) && filter_ == ConntrackFilter::Udp) {
      filter_ = ConntrackFilter::None;
      continue;
    }
    if (*ended != EINTR && *ended != ENOBUFS) {
      co_return fail(refusal(*ended).value(), "list flows");
    }
  }
  co_return fail(Errc::Expired,
                 "list flows: the list was disturbed " + std::to_string(kAttempts) + " times");
}

asio::awaitable<Result<std::size_t>> ConntrackSocket::forget(std::vector<UdpFlow> flows) {
  const asio::any_io_executor loop = co_await asio::this_coro::executor;
  FlowSocket socket(loop);
  if (Result<> opened = socket.open(); !opened) {
    co_return fail(std::move(opened.error()), "forget flows");
  }
  std::size_t forgotten = 0;
  int err = 0;
  for (std::span<const UdpFlow> rest(flows); !rest.empty();) {
    const std::span<const UdpFlow> portion = rest.first(std::min(kPortion, rest.size()));
    rest = rest.subspan(portion.size());
    const Result<Outcome> outcome = co_await forget_portion(socket, portion);
    if (!outcome) co_return fail(outcome.error(), "forget flows");
    forgotten += outcome->forgotten;
    if (err == 0) err = outcome->err;
    if (err == EPERM) break;
    co_await asio::post(loop, asio::use_awaitable);
  }
  if (err != 0) co_return fail(refusal(err).value(), "forget flows");
  co_return forgotten;
}

}  // namespace mkp
