#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mkp {

// Netlink attributes (struct nlattr): a 16-bit length that counts its own four bytes, a 16-bit type
// whose two highest bits are flags, the payload, zero bytes up to a multiple of four. Lengths and
// types are in host byte order; nf_tables keeps its numbers in network byte order.

using ByteSpan = std::span<const std::uint8_t>;

struct Attribute {
  std::uint16_t type = 0;  // without the flags
  ByteSpan payload;
};

// Walks over attributes that somebody else wrote; never reads outside of `bytes`.
class AttributeReader {
 public:
  explicit AttributeReader(ByteSpan bytes) : rest_(bytes) {}

  // The next attribute, until the next call; null at the end, or where the bytes are no attribute.
  const Attribute* next();
  // Whether next() has met bytes that are no attribute.
  bool malformed() const { return malformed_; }
  // What next() has not looked at yet: a position, in bytes from the end.
  std::size_t remaining() const { return rest_.size(); }

 private:
  ByteSpan rest_;
  Attribute current_;
  bool malformed_ = false;
};

// Attributes by their type, those below `kTypes`; of two with one type the last counts, as in the
// kernel.
template <std::size_t kTypes>
class AttributeTable {
 public:
  // Nothing when the bytes are not attributes from end to end.
  static std::optional<AttributeTable> read(ByteSpan bytes) {
    AttributeTable table;
    AttributeReader reader(bytes);
    while (const Attribute* attribute = reader.next()) {
      if (attribute->type < kTypes) table.payloads_[attribute->type] = attribute->payload;
    }
    if (reader.malformed()) return std::nullopt;
    return table;
  }

  bool has(std::size_t type) const { return payloads_[type].data() != nullptr; }
  // Empty for a missing one, too.
  ByteSpan payload(std::size_t type) const { return payloads_[type]; }

 private:
  std::array<ByteSpan, kTypes> payloads_{};
};

// Numbers and names in a payload. Nothing when the payload has another size.
std::optional<std::uint8_t> read_u8(ByteSpan payload);
std::optional<std::uint32_t> read_be32(ByteSpan payload);
// The text before the NUL that must end it.
std::optional<std::string_view> read_name(ByteSpan payload);

// Appends attributes to a buffer.
class AttributeWriter {
 public:
  explicit AttributeWriter(std::vector<std::uint8_t>& out) : out_(out) {}

  void put(std::uint16_t type, ByteSpan payload);
  void put_be32(std::uint16_t type, std::uint32_t value);
  // With its NUL.
  void put_name(std::uint16_t type, std::string_view name);
  // What is put until close(begin) lies within this attribute. Returns where it begins.
  [[nodiscard]] std::size_t open(std::uint16_t type);
  // The attribute must have stayed under 64 KiB: its length has 16 bits.
  void close(std::size_t begin);

 private:
  std::vector<std::uint8_t>& out_;
};

// The size of an attribute with such a payload, padding included.
constexpr std::size_t attribute_size(std::size_t payload) { return (4 + payload + 3) / 4 * 4; }

// A number in host byte order, wherever it lies.
template <class Number>
Number load_host(const std::uint8_t* from) {
  Number number;
  std::memcpy(&number, from, sizeof(number));
  return number;
}
template <class Number>
void store_host(std::uint8_t* to, Number number) {
  std::memcpy(to, &number, sizeof(number));
}

}  // namespace mkp
