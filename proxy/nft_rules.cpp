#include "proxy/nft_rules.h"

#include <linux/if.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "proxy/nft_skeleton.h"

namespace mkp {
namespace {

using nft::Bytes;

// IP_CT_NEW's bit as `ct state` gives it.
constexpr std::uint32_t kCtStateNew = 8;

constexpr std::size_t kRegisterSize = 4;

std::size_t address_size(IpFamily family) { return family == IpFamily::Ipv4 ? 4 : 16; }

nft::PayloadLoad network(IpFamily family, std::uint32_t offset, nft::Register to) {
  return {nft::PayloadLoad::Base::Network, offset, static_cast<std::uint32_t>(address_size(family)),
          to};
}

Bytes mask_bytes(const IpPrefix& prefix) {
  std::array<std::uint8_t, 16> mask{};
  for (std::size_t bit = 0; bit < prefix.length; ++bit) {
    mask[bit / 8] = static_cast<std::uint8_t>(mask[bit / 8] | (0x80U >> (bit % 8)));
  }
  return Bytes({mask.data(), prefix.address.size()});
}

// A whole name is compared with all the bytes that the kernel keeps of one, a prefix with its own.
Bytes interface_bytes(const std::string& name, bool whole) {
  std::array<std::uint8_t, IFNAMSIZ> bytes{};
  const std::size_t length = std::min(name.size(), bytes.size() - 1);
  std::copy_n(name.begin(), length, bytes.begin());
  return Bytes({bytes.data(), whole ? bytes.size() : length});
}

Expressions match_interface(const LocalPods& pods, nft::Compare::Op op) {
  const bool whole = !pods.interface.empty();
  const std::string& name = whole ? pods.interface : pods.interface_prefix;
  if (name.empty()) return {};
  return {nft::MetaLoad{nft::MetaKey::IifName, 0},
          nft::Compare{op, 0, interface_bytes(name, whole)}};
}

}  // namespace

nft::PayloadLoad source_address(IpFamily family, nft::Register to) {
  return network(family, family == IpFamily::Ipv4 ? 12U : 8U, to);
}

nft::PayloadLoad destination_address(IpFamily family, nft::Register to) {
  return network(family, family == IpFamily::Ipv4 ? 16U : 24U, to);
}

nft::Register address_registers(IpFamily family) {
  return static_cast<nft::Register>(address_size(family) / kRegisterSize);
}

nft::Register load_frontend(FrontendKey key, IpFamily family, Expressions& into) {
  nft::Register next = 0;
  if (key == FrontendKey::Address) {
    into.emplace_back(destination_address(family, 0));
    next = address_registers(family);
  }
  into.emplace_back(nft::MetaLoad{nft::MetaKey::L4Proto, next++});
  into.emplace_back(nft::PayloadLoad{nft::PayloadLoad::Base::Transport, 2, 2, next++});
  return next;
}

Bytes host_word(std::uint32_t value) {
  std::array<std::uint8_t, sizeof value> bytes{};
  std::memcpy(bytes.data(), &value, sizeof value);
  return Bytes(bytes);
}

void match_bits(std::uint32_t mask, Expressions& into) {
  into.emplace_back(nft::Bitwise{0, 0, host_word(mask), host_word(0)});
  into.emplace_back(nft::Compare{nft::Compare::Op::NotEqual, 0, host_word(0)});
}

// Of a prefix of whole bytes nft loads no more than those.
void match_prefix(nft::PayloadLoad load, const IpPrefix& prefix, nft::Compare::Op op,
                  Expressions& into) {
  if (prefix.length == 0) return;
  std::size_t size = prefix.address.size();
  const bool whole_bytes = prefix.length % 8 == 0;
  if (whole_bytes) size = prefix.length / 8;
  load.length = static_cast<std::uint32_t>(size);
  into.emplace_back(load);
  if (!whole_bytes) {
    into.emplace_back(
        nft::Bitwise{0, 0, mask_bytes(prefix), Bytes(std::vector<std::uint8_t>(size))});
  }
  into.emplace_back(nft::Compare{op, 0, Bytes({prefix.address.bytes.data(), size})});
}

std::vector<Expressions> from_local_pods(const LocalPods& pods, IpFamily family) {
  std::vector<Expressions> matches;
  for (const IpPrefix& sources : pods.sources) {
    match_prefix(source_address(family, 0), sources, nft::Compare::Op::Equal,
                 matches.emplace_back());
  }
  Expressions interface = match_interface(pods, nft::Compare::Op::Equal);
  if (!interface.empty()) matches.push_back(std::move(interface));
  return matches;
}

Expressions not_from_local_pods(const LocalPods& pods, IpFamily family) {
  const bool everybody = std::any_of(pods.sources.begin(), pods.sources.end(),
                                     [](const IpPrefix& one) { return one.length == 0; });
  if (everybody) return {};
  Expressions match = match_interface(pods, nft::Compare::Op::NotEqual);
  for (const IpPrefix& sources : pods.sources) {
    match_prefix(source_address(family, 0), sources, nft::Compare::Op::NotEqual, match);
  }
  return match;
}

void match_local(nft::FibLoad::Address address, Expressions& into) {
  into.emplace_back(nft::FibLoad{address, 0});
  into.emplace_back(nft::Compare{nft::Compare::Op::Equal, 0, host_word(RTN_LOCAL)});
}

void match_node_port_address(const NftSettings& settings, Expressions& into) {
  const nft::PayloadLoad destination = destination_address(settings.family, 0);
  if (!settings.node_ports_anywhere) {
    into.emplace_back(destination);
    into.emplace_back(nft::Lookup{std::string(kNodePortIps), 0, nft::Lookup::Use::Match, 0});
    return;
  }
  // What comes to a loopback address cannot be answered from another one.
  match_local(nft::FibLoad::Address::Destination, into);
  const std::uint8_t length = settings.family == IpFamily::Ipv4 ? 8 : 128;
  match_prefix(destination, prefix_of(loopback(settings.family), length),
               nft::Compare::Op::NotEqual, into);
}

nft::Expression to_chain(nft::Verdict::Kind kind, std::string_view chain) {
  return nft::ImmediateVerdict{nft::Verdict{kind, std::string(chain)}};
}

nft::Expression drop() { return nft::ImmediateVerdict{nft::Verdict{nft::Verdict::Kind::Drop, ""}}; }

nft::Rule jump(std::string_view chain) { return {{to_chain(nft::Verdict::Kind::Jump, chain)}}; }
nft::Rule go_to(std::string_view chain) { return {{to_chain(nft::Verdict::Kind::Goto, chain)}}; }

nft::Rule rule_of(Expressions first, nft::Expression second) {
  first.push_back(std::move(second));
  return {std::move(first)};
}

nft::Rule frontend_verdict(Expressions match, FrontendKey key, IpFamily family,
                           std::string_view map) {
  load_frontend(key, family, match);
  return rule_of(std::move(match), nft::Lookup{std::string(map), 0, nft::Lookup::Use::Verdict, 0});
}

nft::Rule frontend_in(Expressions match, FrontendKey key, IpFamily family, std::string_view set,
                      nft::Expression then) {
  load_frontend(key, family, match);
  match.emplace_back(nft::Lookup{std::string(set), 0, nft::Lookup::Use::Match, 0});
  return rule_of(std::move(match), std::move(then));
}

nft::Rule new_connections(std::string_view chain) {
  Expressions match = {nft::CtLoad{nft::CtKey::State, 0}};
  match_bits(kCtStateNew, match);
  return rule_of(std::move(match), to_chain(nft::Verdict::Kind::Jump, chain));
}

nft::Chain regular_chain(std::string_view name) { return {std::string(name), std::nullopt}; }

}  // namespace mkp
