#include "netlink/ruleset.h"

#include <algorithm>
#include <cassert>

namespace mkp::nft {

Bytes::Bytes(std::span<const std::uint8_t> bytes) {
  assert(bytes.size() <= kMaxSize);
  std::copy(bytes.begin(), bytes.end(), data_.begin());
  size_ = static_cast<std::uint8_t>(bytes.size());
}

void Bytes::append_field(std::span<const std::uint8_t> field) {
  const std::size_t padded = (field.size() + 3) / 4 * 4;
  assert(size_ + padded <= kMaxSize);
  // What lies behind size_ is always zero, and so the padding is too.
  std::copy(field.begin(), field.end(), data_.begin() + size_);
  size_ = static_cast<std::uint8_t>(size_ + padded);
}

bool Bytes::operator==(const Bytes& other) const {
  return std::ranges::equal(span(), other.span());
}

std::strong_ordering Bytes::operator<=>(const Bytes& other) const {
  return std::lexicographical_compare_three_way(
      data_.begin(), data_.begin() + size_, other.data_.begin(), other.data_.begin() + other.size_);
}

std::size_t size_of(Field field) {
  switch (field) {
    case Field::Ipv4Address:
      return 4;
    case Field::Ipv6Address:
      return 16;
    case Field::InetProto:
      return 1;
    case Field::InetService:
      return 2;
    case Field::Slot:
      return 4;
  }
  return 0;
}

}  // namespace mkp::nft
