#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace mkp {

// One TCP connection to a port of this machine, for tests: plain bytes, so that they can be wrong.
class HttpClient {
 public:
  // Connects; what is refused is closed at once. `address`: IPv4 or IPv6.
  explicit HttpClient(std::uint16_t port, const std::string& address = "127.0.0.1") {
    const bool ipv6 = address.find(':') != std::string::npos;
    socket_ = ::socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_storage where{};
    if (ipv6) {
      auto& in6 = reinterpret_cast<sockaddr_in6&>(where);
      in6.sin6_family = AF_INET6;
      in6.sin6_port = htons(port);
      ::inet_pton(AF_INET6, address.c_str(), &in6.sin6_addr);
    } else {
      auto& in4 = reinterpret_cast<sockaddr_in&>(where);
      in4.sin_family = AF_INET;
      in4.sin_port = htons(port);
      ::inet_pton(AF_INET, address.c_str(), &in4.sin_addr);
    }
    const auto size = static_cast<socklen_t>(ipv6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&where), size) == 0;
    ended_ = !connected_;
  }
  ~HttpClient() {
    if (socket_ >= 0) ::close(socket_);
  }
  HttpClient(HttpClient&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)),
        connected_(other.connected_),
        ended_(other.ended_),
        received_(std::move(other.received_)) {}
  HttpClient& operator=(HttpClient&&) = delete;

  bool connected() const { return connected_; }
  void send(const std::string& bytes) const {
    (void)::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  void finish_sending() const { ::shutdown(socket_, SHUT_WR); }
  int descriptor() const { return socket_; }

  // Takes what has come. False once the other side has ended the connection.
  bool receive() {
    char buffer[65536];
    while (!ended_) {
      const ssize_t size = ::recv(socket_, buffer, sizeof(buffer), MSG_DONTWAIT);
      if (size > 0) {
        received_.append(buffer, static_cast<std::size_t>(size));
      } else if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        return true;
      } else {
        ended_ = true;
      }
    }
    return false;
  }
  const std::string& received() const { return received_; }
  bool ended() const { return ended_; }

  // One answer, complete by its Content-Length; "" when there is none (yet).
  std::string take_answer(bool has_body = true) {
    const std::size_t head = received_.find("\r\n\r\n");
    if (head == std::string::npos) return "";
    const std::size_t length_at = received_.find("Content-Length: ");
    std::size_t size = head + 4;
    if (has_body && length_at < head) size += std::stoul(received_.substr(length_at + 16));
    if (received_.size() < size) return "";
    std::string answer = received_.substr(0, size);
    received_.erase(0, size);
    return answer;
  }

 private:
  int socket_ = -1;
  bool connected_ = false;
  bool ended_ = false;
  std::string received_;
};

}  // namespace mkp
