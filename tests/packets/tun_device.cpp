#include "tests/packets/tun_device.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include <cerrno>

namespace mkp::packets {

Result<TunDevice> TunDevice::create(const std::string& name) {
  Descriptor descriptor(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!descriptor) return fail_errno(errno, "open /dev/net/tun");
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (::ioctl(descriptor.get(), TUNSETIFF, &request) != 0) {
    return fail_errno(errno, "make the TUN device " + name);
  }
  return TunDevice(std::move(descriptor));
}

Result<> TunDevice::write(std::span<const std::uint8_t> packet) const {
  const ssize_t written = ::write(descriptor_.get(), packet.data(), packet.size());
  if (written != static_cast<ssize_t>(packet.size())) {
    return fail_errno(errno, "write to a TUN device");
  }
  return {};
}

std::optional<std::vector<std::uint8_t>> TunDevice::read() const {
  std::vector<std::uint8_t> packet(2048);
  const ssize_t got = ::read(descriptor_.get(), packet.data(), packet.size());
  if (got <= 0) return std::nullopt;
  packet.resize(static_cast<std::size_t>(got));
  return packet;
}

}  // namespace mkp::packets
