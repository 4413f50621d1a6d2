#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "netlink/ruleset.h"
#include "proxy/nft_rules.h"
#include "proxy/types.h"

namespace mkp {

// The elements of the flat layout's sets, to bytes and back. A key is a concatenation, each field
// padded to four bytes: address . protocol number . port in network byte order . slot in host byte
// order. The key of a node port has no address. What comes from a dump may be anything: whatever
// does not read as one of ours gives nothing.

nft::Bytes frontend_key(const Frontend& frontend);
std::optional<Frontend> frontend_of(const nft::Bytes& key, FrontendKey kind, IpFamily family);

struct SlotKey {
  Frontend frontend;
  std::uint32_t slot = 0;
};
nft::Bytes slot_key(const SlotKey& slot);
std::optional<SlotKey> slot_of(const nft::Bytes& key, FrontendKey kind, IpFamily family);

nft::Bytes endpoint_datum(const Endpoint& endpoint);
std::optional<Endpoint> endpoint_of(const nft::Bytes& datum, IpFamily family);

nft::Bytes address_key(const IpAddress& ip);
std::optional<IpAddress> address_of(const nft::Bytes& key, IpFamily family);

nft::Bytes hairpin_key(const IpAddress& ip);  // ip . ip
std::optional<IpAddress> hairpin_of(const nft::Bytes& key, IpFamily family);

// Who may use a frontend: the interval of frontend . source address.
nft::Element allowed_source(const Frontend& frontend, const IpPrefix& sources);
struct AllowedSource {
  Frontend frontend;
  IpPrefix sources;
};
std::optional<AllowedSource> allowed_source_of(const nft::Element& element, IpFamily family);

// A value of its own, as a rule compares or loads it.
nft::Bytes protocol_bytes(Protocol protocol);
std::optional<Protocol> protocol_in(const nft::Bytes& bytes);
nft::Bytes port_bytes(std::uint16_t port);

// The comment of a Service port's verdict: its text, cut to what the kernel takes.
std::string owner_comment(const ServicePortName& port);

}  // namespace mkp
