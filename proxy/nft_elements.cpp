#include "proxy/nft_elements.h"

#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace mkp {
namespace {

std::uint8_t protocol_number(Protocol protocol) {
  switch (protocol) {
    case Protocol::Tcp:
      return IPPROTO_TCP;
    case Protocol::Udp:
      return IPPROTO_UDP;
    case Protocol::Sctp:
      return IPPROTO_SCTP;
  }
  return 0;
}

std::optional<Protocol> protocol_of(std::uint8_t number) {
  switch (number) {
    case IPPROTO_TCP:
      return Protocol::Tcp;
    case IPPROTO_UDP:
      return Protocol::Udp;
    case IPPROTO_SCTP:
      return Protocol::Sctp;
    default:
      return std::nullopt;
  }
}

void append_address(nft::Bytes& bytes, const IpAddress& ip) {
  bytes.append_field({ip.bytes.data(), ip.size()});
}

void append_port(nft::Bytes& bytes, std::uint16_t port) {
  const std::array<std::uint8_t, 2> field = {static_cast<std::uint8_t>(port >> 8),
                                             static_cast<std::uint8_t>(port)};
  bytes.append_field(field);
}

// Takes one field after the other off a concatenation.
class FieldReader {
 public:
  explicit FieldReader(const nft::Bytes& bytes) : rest_(bytes.span()) {}

  std::optional<IpAddress> address(IpFamily family) {
    IpAddress ip{family, {}};
    const auto field = take(ip.size());
    if (!field) return std::nullopt;
    std::copy(field->begin(), field->end(), ip.bytes.begin());
    return ip;
  }
  std::optional<Protocol> protocol() {
    const auto field = take(4);
    return field ? protocol_of(field->front()) : std::nullopt;
  }
  std::optional<std::uint16_t> port() {
    const auto field = take(4);
    if (!field) return std::nullopt;
    return static_cast<std::uint16_t>((*field)[0] << 8 | (*field)[1]);
  }
  std::optional<std::uint32_t> host_number() {
    const auto field = take(4);
    if (!field) return std::nullopt;
    std::uint32_t number = 0;
    std::memcpy(&number, field->data(), sizeof number);
    return number;
  }
  bool done() const { return rest_.empty(); }

 private:
  std::optional<std::span<const std::uint8_t>> take(std::size_t size) {
    if (rest_.size() < size) return std::nullopt;
    const auto field = rest_.first(size);
    rest_ = rest_.subspan(size);
    return field;
  }

  std::span<const std::uint8_t> rest_;
};

std::optional<Frontend> read_frontend(FieldReader& reader, FrontendKey kind, IpFamily family) {
  std::optional<IpAddress> ip;
  if (kind == FrontendKey::Address) {
    ip = reader.address(family);
    if (!ip) return std::nullopt;
  }
  const auto protocol = reader.protocol();
  const auto port = reader.port();
  if (!protocol || !port) return std::nullopt;
  return Frontend{ip, *protocol, *port};
}

// The last address of a prefix.
IpAddress last_of(const IpPrefix& prefix) {
  IpAddress last = prefix.address;
  for (std::size_t bit = prefix.length; bit < last.size() * 8; ++bit) {
    last.bytes[bit / 8] = static_cast<std::uint8_t>(last.bytes[bit / 8] | (0x80U >> (bit % 8)));
  }
  return last;
}

// The prefix that begins and ends with these, if it is one.
std::optional<IpPrefix> prefix_between(const IpAddress& first, const IpAddress& last) {
  for (std::size_t length = 0; length <= first.size() * 8; ++length) {
    const IpPrefix prefix = prefix_of(first, static_cast<std::uint8_t>(length));
    if (prefix.address == first && last_of(prefix) == last) return prefix;
  }
  return std::nullopt;
}

}  // namespace

nft::Bytes frontend_key(const Frontend& frontend) {
  nft::Bytes key;
  if (frontend.ip) append_address(key, *frontend.ip);
  const std::uint8_t number = protocol_number(frontend.protocol);
  key.append_field({&number, 1});
  append_port(key, frontend.port);
  return key;
}

std::optional<Frontend> frontend_of(const nft::Bytes& key, FrontendKey kind, IpFamily family) {
  FieldReader reader(key);
  const auto frontend = read_frontend(reader, kind, family);
  return reader.done() ? frontend : std::nullopt;
}

nft::Bytes slot_key(const SlotKey& slot) {
  nft::Bytes key = frontend_key(slot.frontend);
  std::array<std::uint8_t, 4> number{};
  std::memcpy(number.data(), &slot.slot, number.size());
  key.append_field(number);
  return key;
}

std::optional<SlotKey> slot_of(const nft::Bytes& key, FrontendKey kind, IpFamily family) {
  FieldReader reader(key);
  const auto frontend = read_frontend(reader, kind, family);
  const auto slot = reader.host_number();
  if (!frontend || !slot || !reader.done()) return std::nullopt;
  return SlotKey{*frontend, *slot};
}

nft::Bytes endpoint_datum(const Endpoint& endpoint) {
  nft::Bytes datum;
  append_address(datum, endpoint.ip);
  append_port(datum, endpoint.port);
  return datum;
}

std::optional<Endpoint> endpoint_of(const nft::Bytes& datum, IpFamily family) {
  FieldReader reader(datum);
  const auto ip = reader.address(family);
  const auto port = reader.port();
  if (!ip || !port || *port == 0 || !reader.done()) return std::nullopt;
  return Endpoint{*ip, *port};
}

nft::Bytes address_key(const IpAddress& ip) {
  nft::Bytes key;
  append_address(key, ip);
  return key;
}

std::optional<IpAddress> address_of(const nft::Bytes& key, IpFamily family) {
  FieldReader reader(key);
  const auto ip = reader.address(family);
  return reader.done() ? ip : std::nullopt;
}

nft::Bytes hairpin_key(const IpAddress& ip) {
  nft::Bytes key;
  append_address(key, ip);
  append_address(key, ip);
  return key;
}

std::optional<IpAddress> hairpin_of(const nft::Bytes& key, IpFamily family) {
  FieldReader reader(key);
  const auto from = reader.address(family);
  const auto to = reader.address(family);
  if (!from || from != to || !reader.done()) return std::nullopt;
  return from;
}

nft::Element allowed_source(const Frontend& frontend, const IpPrefix& sources) {
  nft::Element element{frontend_key(frontend), {}, ""};
  nft::Bytes end = element.key;
  append_address(element.key, sources.address);
  append_address(end, last_of(sources));
  element.value = nft::IntervalEnd{end};
  return element;
}

std::optional<AllowedSource> allowed_source_of(const nft::Element& element, IpFamily family) {
  const auto* end = std::get_if<nft::IntervalEnd>(&element.value);
  if (!end) return std::nullopt;
  FieldReader begins(element.key);
  FieldReader ends(end->key);
  const auto frontend = read_frontend(begins, FrontendKey::Address, family);
  const auto same = read_frontend(ends, FrontendKey::Address, family);
  const auto first = begins.address(family);
  const auto last = ends.address(family);
  if (!frontend || frontend != same || !first || !last) return std::nullopt;
  const std::optional<IpPrefix> sources = prefix_between(*first, *last);
  if (!sources || !begins.done() || !ends.done()) return std::nullopt;
  return AllowedSource{*frontend, *sources};
}

nft::Bytes protocol_bytes(Protocol protocol) {
  const std::uint8_t number = protocol_number(protocol);
  return nft::Bytes({&number, 1});
}

std::optional<Protocol> protocol_in(const nft::Bytes& bytes) {
  return bytes.size() == 1 ? protocol_of(bytes.span().front()) : std::nullopt;
}

nft::Bytes port_bytes(std::uint16_t port) {
  const std::array<std::uint8_t, 2> bytes = {static_cast<std::uint8_t>(port >> 8),
                                             static_cast<std::uint8_t>(port)};
  return nft::Bytes(bytes);
}

std::string owner_comment(const ServicePortName& port) {
  return to_text(port).substr(0, nft::kMaxComment);
}

}  // namespace mkp
