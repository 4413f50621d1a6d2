#include "netlink/attributes.h"

#include <arpa/inet.h>
#include <linux/netlink.h>

#include <algorithm>
#include <cassert>

namespace mkp {
namespace {

constexpr std::size_t kHeaderSize = sizeof(nlattr);
static_assert(kHeaderSize == 4);

constexpr std::size_t padded(std::size_t size) { return (size + 3) / 4 * 4; }

}  // namespace

const Attribute* AttributeReader::next() {
  if (malformed_ || rest_.empty()) return nullptr;
  if (rest_.size() < kHeaderSize) {
    malformed_ = true;
    return nullptr;
  }
  const auto length = load_host<std::uint16_t>(rest_.data());
  const auto type = load_host<std::uint16_t>(rest_.data() + 2);
  if (length < kHeaderSize || length > rest_.size()) {
    malformed_ = true;
    return nullptr;
  }
  current_ = Attribute{static_cast<std::uint16_t>(type & NLA_TYPE_MASK),
                       rest_.subspan(kHeaderSize, length - kHeaderSize)};
  // The padding of the last attribute may be missing.
  rest_ = rest_.subspan(std::min(padded(length), rest_.size()));
  return &current_;
}

std::optional<std::uint8_t> read_u8(ByteSpan payload) {
  if (payload.size() != 1) return std::nullopt;
  return payload[0];
}

std::optional<std::uint32_t> read_be32(ByteSpan payload) {
  if (payload.size() != 4) return std::nullopt;
  return ntohl(load_host<std::uint32_t>(payload.data()));
}

std::optional<std::string_view> read_name(ByteSpan payload) {
  const auto nul = std::ranges::find(payload, std::uint8_t{0});
  if (nul == payload.end()) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(payload.data()),
                          static_cast<std::size_t>(nul - payload.begin()));
}

void AttributeWriter::put(std::uint16_t type, ByteSpan payload) {
  const std::size_t begin = out_.size();
  assert(kHeaderSize + payload.size() <= 0xffff);
  out_.resize(begin + attribute_size(payload.size()));
  store_host(out_.data() + begin, static_cast<std::uint16_t>(kHeaderSize + payload.size()));
  store_host(out_.data() + begin + 2, type);
  std::copy(payload.begin(), payload.end(), out_.data() + begin + kHeaderSize);
}

void AttributeWriter::put_be32(std::uint16_t type, std::uint32_t value) {
  std::array<std::uint8_t, 4> bytes{};
  store_host(bytes.data(), htonl(value));
  put(type, bytes);
}

void AttributeWriter::put_name(std::uint16_t type, std::string_view name) {
  const std::size_t begin = out_.size();
  assert(kHeaderSize + name.size() + 1 <= 0xffff);
  out_.resize(begin + attribute_size(name.size() + 1));
  store_host(out_.data() + begin, static_cast<std::uint16_t>(kHeaderSize + name.size() + 1));
  store_host(out_.data() + begin + 2, type);
  std::copy(name.begin(), name.end(), out_.data() + begin + kHeaderSize);
}

std::size_t AttributeWriter::open(std::uint16_t type) {
  const std::size_t begin = out_.size();
  out_.resize(begin + kHeaderSize);
  store_host(out_.data() + begin + 2, static_cast<std::uint16_t>(type | NLA_F_NESTED));
  return begin;
}

void AttributeWriter::close(std::size_t begin) {
  const std::size_t length = out_.size() - begin;
  assert(length <= 0xffff);
  store_host(out_.data() + begin, static_cast<std::uint16_t>(length));
}

}  // namespace mkp
