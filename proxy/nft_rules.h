#pragma once

#include <string_view>
#include <vector>

#include "netlink/ruleset.h"
#include "proxy/nft_settings.h"
#include "proxy/types.h"

namespace mkp {

// What the rules of the flat layout are put together from. Pure functions.

// How a packet's destination is looked up: address . protocol . port, or, for node ports, protocol
// . port.
enum class FrontendKey : std::uint8_t { Address, NodePort };

using Expressions = std::vector<nft::Expression>;

nft::PayloadLoad source_address(IpFamily family, nft::Register to);
nft::PayloadLoad destination_address(IpFamily family, nft::Register to);
// How many registers an address takes.
nft::Register address_registers(IpFamily family);

// Appends the load of a frontend's key into the registers from 0 on. Says the first free register.
nft::Register load_frontend(FrontendKey key, IpFamily family, Expressions& into);

// Appends "register 0 & mask is not zero".
void match_bits(std::uint32_t mask, Expressions& into);

// Marks and connection tracking's words are numbers in host byte order.
nft::Bytes host_word(std::uint32_t value);

// Appends "the source (or destination) is, or is not, within `prefix`", byte for byte as nft writes
// it, so that a table that nft has loaded is the same as ours. Nothing for a prefix of length 0.
void match_prefix(nft::PayloadLoad load, const IpPrefix& prefix, nft::Compare::Op op,
                  Expressions& into);

// Matches, each of which holds for some of the packets of local pods; together they hold for all.
// None when pods cannot be told.
std::vector<Expressions> from_local_pods(const LocalPods& pods, IpFamily family);
// The match of everybody else's packets. Nothing when pods cannot be told, or everybody is one.
Expressions not_from_local_pods(const LocalPods& pods, IpFamily family);

// Appends `fib saddr type local`, or `fib daddr type local`.
void match_local(nft::FibLoad::Address address, Expressions& into);

// Appends "the destination answers on node ports".
void match_node_port_address(const NftSettings& settings, Expressions& into);

nft::Expression to_chain(nft::Verdict::Kind kind, std::string_view chain);
nft::Expression drop();
nft::Rule jump(std::string_view chain);
nft::Rule go_to(std::string_view chain);
// `first` followed by `second`.
nft::Rule rule_of(Expressions first, nft::Expression second);
// `match`, then the verdict that `map` gives for the frontend.
nft::Rule frontend_verdict(Expressions match, FrontendKey key, IpFamily family,
                           std::string_view map);
// `match`, then `then` for the frontends in `set`.
nft::Rule frontend_in(Expressions match, FrontendKey key, IpFamily family, std::string_view set,
                      nft::Expression then);
// `ct state new jump chain`
nft::Rule new_connections(std::string_view chain);

nft::Chain regular_chain(std::string_view name);

}  // namespace mkp
