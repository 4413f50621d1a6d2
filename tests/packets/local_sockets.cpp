#include "tests/packets/local_sockets.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace mkp::packets {
namespace {

constexpr int kRawSocket = SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC;

constexpr std::uint8_t kIcmp = IPPROTO_ICMP;
constexpr std::uint8_t kIcmpv6 = IPPROTO_ICMPV6;

int domain_of(IpFamily family) { return family == IpFamily::Ipv4 ? AF_INET : AF_INET6; }

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  explicit SocketAddress(const IpAddress& ip) {
    if (ip.family == IpFamily::Ipv4) {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      std::memcpy(&address.sin_addr, ip.bytes.data(), 4);
      fill(address);
    } else {
      sockaddr_in6 address{};
      address.sin6_family = AF_INET6;
      std::memcpy(&address.sin6_addr, ip.bytes.data(), 16);
      fill(address);
    }
  }

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }

 private:
  template <class T>
  void fill(const T& address) {
    std::memcpy(&storage, &address, sizeof address);
    size = sizeof address;
  }
};

IpAddress address_of(const in6_addr& from) {
  IpAddress address{IpFamily::Ipv6, {}};
  std::memcpy(address.bytes.data(), &from, 16);
  return address;
}

struct Received {
  std::vector<std::uint8_t> bytes;
  IpAddress from;  // IPv6 only, as is `to`
  IpAddress to;
};

std::optional<Received> receive(int socket, IpFamily family) {
  Received got{std::vector<std::uint8_t>(2048), {}, {}};
  iovec part{got.bytes.data(), got.bytes.size()};
  sockaddr_in6 sender{};
  alignas(cmsghdr) std::array<char, 128> control{};
  msghdr message{};
  message.msg_name = &sender;
  message.msg_namelen = sizeof sender;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t size = ::recvmsg(socket, &message, 0);
  if (size < 0) return std::nullopt;
  got.bytes.resize(static_cast<std::size_t>(size));
  if (family == IpFamily::Ipv4) return got;
  got.from = address_of(sender.sin6_addr);
  for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level != IPPROTO_IPV6 || one->cmsg_type != IPV6_PKTINFO) continue;
    in6_pktinfo info{};
    std::memcpy(&info, CMSG_DATA(one), sizeof info);
    got.to = address_of(info.ipi6_addr);
  }
  return got;
}

}  // namespace

Result<LocalSockets::Raw> LocalSockets::open_raw(IpFamily family, std::uint8_t protocol) {
  Descriptor descriptor(::socket(domain_of(family), kRawSocket, protocol));
  if (!descriptor) return fail_errno(errno, fmt::format("open a raw socket for {}", protocol));
  const int on = 1;
  if (family == IpFamily::Ipv6 &&
      ::setsockopt(descriptor.get(), IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on) != 0) {
    return fail_errno(errno, "ask a raw socket for destinations");
  }
  return Raw{std::move(descriptor), family, protocol};
}

Result<LocalSockets> LocalSockets::open() {
  LocalSockets opened;
  for (const IpFamily family : {IpFamily::Ipv4, IpFamily::Ipv6}) {
    const std::uint8_t icmp = family == IpFamily::Ipv4 ? kIcmp : kIcmpv6;
    for (const std::uint8_t protocol : std::array<std::uint8_t, 5>{
             IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP, kSentinelProtocol, icmp}) {
      Result<Raw> socket = open_raw(family, protocol);
      if (!socket) return tl::unexpected(socket.error());
      opened.sockets_.push_back(std::move(*socket));
    }
  }
  return opened;
}

std::vector<int> LocalSockets::descriptors() const {
  std::vector<int> all;
  all.reserve(sockets_.size());
  for (const Raw& socket : sockets_) all.push_back(socket.descriptor.get());
  return all;
}

Result<> LocalSockets::send(const IpAddress& from, const IpAddress& to,
                            std::span<const std::uint8_t> packet) {
  // IPPROTO_RAW: the packet brings its own header, in both families.
  const Descriptor socket(::socket(domain_of(from.family), kRawSocket, IPPROTO_RAW));
  if (!socket) return fail_errno(errno, "open a raw socket");
  const SocketAddress source(from);
  if (::bind(socket.get(), source.get(), source.size) != 0) {
    return fail_errno(errno, "bind to " + mkp::to_text(from));
  }
  const SocketAddress destination(to);
  const ssize_t sent =
      ::sendto(socket.get(), packet.data(), packet.size(), 0, destination.get(), destination.size);
  // EPERM is what a sender sees when a rule drops or rejects its packet.
  if (sent < 0 && errno != EPERM) return fail_errno(errno, "send to " + mkp::to_text(to));
  return {};
}

std::vector<Sighting> LocalSockets::read_all() const {
  std::vector<Sighting> seen;
  for (const Raw& socket : sockets_) {
    for (;;) {
      const std::optional<Received> got = receive(socket.descriptor.get(), socket.family);
      if (!got) break;
      const std::optional<Sighting> sighting =
          socket.family == IpFamily::Ipv4
              ? decode(got->bytes)
              : decode_payload(socket.protocol, got->from, got->to, got->bytes);
      if (sighting) seen.push_back(*sighting);
    }
  }
  return seen;
}

}  // namespace mkp::packets
