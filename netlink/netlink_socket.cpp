#include "netlink/netlink_socket.h"

#include <linux/netlink.h>
#include <netlink/errno.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>

namespace mkp {
namespace {

// The kernel fills at most 32 KiB of a datagram when it lists something.
constexpr std::size_t kReceiveBuffer = 65536;
// What the kernel keeps for answers: refusals of a batch come all at once.
constexpr int kAnswers = 1 << 22;
// What a send buffer must have beyond its datagram.
constexpr std::size_t kSendOverhead = 4096;

int set_option(int fd, int level, int name, int value) {
  return ::setsockopt(fd, level, name, &value, sizeof(value)) == 0 ? 0 : errno;
}

// Past the limits of an ordinary user when we may (CAP_NET_ADMIN), else up to them.
int set_buffer(int fd, int force, int ordinary, int size) {
  if (set_option(fd, SOL_SOCKET, force, size) == 0) return 0;
  return set_option(fd, SOL_SOCKET, ordinary, size);
}

}  // namespace

void NetlinkSocket::Free::operator()(nl_sock* socket) const noexcept { nl_socket_free(socket); }

NetlinkSocket::NetlinkSocket(std::unique_ptr<nl_sock, Free> socket)
    : socket_(std::move(socket)),
      port_(nl_socket_get_local_port(socket_.get())),
      received_(kReceiveBuffer) {}

Result<NetlinkSocket> NetlinkSocket::open(int protocol) {
  std::unique_ptr<nl_sock, Free> socket(nl_socket_alloc());
  if (!socket) return fail_errno(ENOMEM, "open a netlink socket");
  // libnl binds it and asks the kernel (getsockname) which port it got.
  if (const int err = nl_connect(socket.get(), protocol); err < 0) {
    return fail(err == -NLE_PERM ? Errc::Denied : Errc::Unavailable,
                std::string("open a netlink socket: ") + nl_geterror(err));
  }
  const int fd = nl_socket_get_fd(socket.get());
  set_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, kAnswers);
  // An error repeats the message that it is about, 64 KiB of elements, unless told not to; and it
  // says which attribute it is about if told to. Both are older than any kernel that we run on.
  set_option(fd, SOL_NETLINK, NETLINK_CAP_ACK, 1);
  set_option(fd, SOL_NETLINK, NETLINK_EXT_ACK, 1);
  return NetlinkSocket(std::move(socket));
}

std::uint32_t NetlinkSocket::take_sequence(std::uint32_t count) {
  return std::exchange(next_sequence_, next_sequence_ + count);
}

int NetlinkSocket::grow_send_buffer(std::size_t size) {
  const std::size_t wanted = std::min<std::size_t>(size, 1U << 30);
  if (wanted <= static_cast<std::size_t>(send_buffer_)) return 0;
  const int bytes = static_cast<int>(wanted);
  const int err = set_buffer(nl_socket_get_fd(socket_.get()), SO_SNDBUFFORCE, SO_SNDBUF, bytes);
  if (err == 0) send_buffer_ = bytes;
  return err;
}

int NetlinkSocket::send(ByteSpan bytes) {
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  for (;;) {
    const ssize_t sent =
        ::sendto(nl_socket_get_fd(socket_.get()), bytes.data(), bytes.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&kernel), sizeof(kernel));
    if (sent >= 0) return 0;
    if (errno != EINTR) return errno;
  }
}

Result<ByteSpan> NetlinkSocket::receive() {
  for (;;) {
    sockaddr_nl from{};
    socklen_t from_size = sizeof(from);
    const ssize_t size =
        ::recvfrom(nl_socket_get_fd(socket_.get()), received_.data(), received_.size(),
                   MSG_DONTWAIT | MSG_TRUNC, reinterpret_cast<sockaddr*>(&from), &from_size);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return ByteSpan();
    if (size < 0) return fail_errno(errno, "read from a netlink socket");
    // Other processes may send to us as well; only the kernel is port 0.
    if (from.nl_pid != 0) continue;
    const auto length = static_cast<std::size_t>(size);
    if (length > received_.size()) {
      received_.resize(length);
      return fail(Errc::Expired, "a netlink answer was cut short");
    }
    return ByteSpan(received_).first(length);
  }
}

// Forgets answers that nobody waits for any more.
void NetlinkSocket::drain() {
  for (;;) {
    const Result<ByteSpan> datagram = receive();
    if (datagram && datagram->empty()) return;
    if (!datagram && datagram.error().code != Errc::Expired) return;
  }
}

Result<std::vector<NetlinkError>> NetlinkSocket::send_batch(ByteSpan batch) {
  drain();
  if (const int err = grow_send_buffer(batch.size() + kSendOverhead)) {
    return fail_errno(err, "size the netlink send buffer");
  }
  int err = send(batch);
  if (err == EMSGSIZE || err == ENOBUFS) {
    // The kernel counts its own bookkeeping, too.
    if (grow_send_buffer(2 * (batch.size() + kSendOverhead)) == 0) err = send(batch);
  }
  if (err == EMSGSIZE || err == ENOBUFS || err == ENOMEM) {
    return fail(Errc::Unavailable,
                "the kernel has no room for a batch of " + std::to_string(batch.size()) + " bytes");
  }
  if (err != 0) return fail_errno(err, "send a batch");

  return read_refusals();
}

Result<std::vector<NetlinkError>> NetlinkSocket::read_refusals() {
  std::vector<NetlinkError> refused;
  std::optional<Error> lost;
  for (;;) {
    const Result<ByteSpan> datagram = receive();
    if (!datagram) {
      // An overrun is told before what did fit; that is still to be read.
      if (datagram.error().code != Errc::Expired) return fail(datagram.error(), "read refusals");
      lost = datagram.error();
      continue;
    }
    if (datagram->empty()) break;
    MessageReader messages(*datagram);
    while (const std::optional<NetlinkMessage> message = messages.next()) {
      if (message->type != NLMSG_ERROR || message->port != port_) continue;
      const std::optional<NetlinkError> error = parse_error(*message);
      if (error && error->err != 0) refused.push_back(*error);
    }
  }
  if (lost && refused.empty()) return fail(std::move(*lost), "read refusals");
  return refused;
}

Result<> NetlinkSocket::request(ByteSpan message, std::uint32_t sequence, const Take& take) {
  drain();
  if (const int err = send(message)) return fail_errno(err, "send a request");
  // A failure must not leave answers behind, so reading goes on to the end.
  Result<> outcome;
  bool interrupted = false;
  for (;;) {
    const Result<ByteSpan> datagram = receive();
    if (!datagram) return fail(datagram.error(), "read an answer");
    if (datagram->empty()) return fail(Errc::Expired, "the kernel's answer is missing");
    MessageReader messages(*datagram);
    while (const std::optional<NetlinkMessage> answer = messages.next()) {
      if (answer->sequence != sequence || answer->port != port_) continue;
      if ((answer->flags & NLM_F_DUMP_INTR) != 0) interrupted = true;
      const bool done = answer->type == NLMSG_DONE;
      if (done || answer->type == NLMSG_ERROR) {
        // NLMSG_DONE begins with a negative errno as well, where the kernel has one to tell.
        const int err = answer->payload.size() < sizeof(std::int32_t)
                            ? 0
                            : -load_host<std::int32_t>(answer->payload.data());
        if (err == EINTR || (interrupted && err == 0)) {
          return fail(Errc::Expired, "what was listed changed meanwhile");
        }
        if (err == EPERM) {
          return fail(Errc::Denied,
                      "nf_tables is closed to us: even reading it takes CAP_NET_ADMIN");
        }
        if (err > 0) return fail_errno(err, "the kernel's answer");
        return outcome;
      }
      if (outcome) outcome = take(*answer);
    }
  }
}

}  // namespace mkp
