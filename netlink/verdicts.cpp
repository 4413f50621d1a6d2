#include "netlink/verdicts.h"

// Before the kernel's headers, which then leave out what this one has.
#include <netinet/in.h>

#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>

#include <string>

namespace mkp::nft {
namespace {

// The kernel's verdicts below zero are written as 32 bits in two's complement.
constexpr std::uint32_t code(int verdict) { return static_cast<std::uint32_t>(verdict); }

}  // namespace

std::uint32_t verdict_code(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::Accept:
      return NF_ACCEPT;
    case Verdict::Kind::Drop:
      return NF_DROP;
    case Verdict::Kind::Return:
      return code(NFT_RETURN);
    case Verdict::Kind::Jump:
      return code(NFT_JUMP);
    case Verdict::Kind::Goto:
      return code(NFT_GOTO);
  }
  return NF_DROP;
}

std::optional<Verdict> parse_verdict(ByteSpan attributes) {
  const auto verdict = AttributeTable<NFTA_VERDICT_MAX + 1>::read(attributes);
  if (!verdict) return std::nullopt;
  const std::optional<std::uint32_t> number = read_be32(verdict->payload(NFTA_VERDICT_CODE));
  if (number == std::uint32_t{NF_ACCEPT}) return Verdict{Verdict::Kind::Accept, ""};
  if (number == std::uint32_t{NF_DROP}) return Verdict{Verdict::Kind::Drop, ""};
  if (number == code(NFT_RETURN)) return Verdict{Verdict::Kind::Return, ""};
  const std::optional<std::string_view> chain = read_name(verdict->payload(NFTA_VERDICT_CHAIN));
  if (!chain) return std::nullopt;
  if (number == code(NFT_JUMP)) return Verdict{Verdict::Kind::Jump, std::string(*chain)};
  if (number == code(NFT_GOTO)) return Verdict{Verdict::Kind::Goto, std::string(*chain)};
  return std::nullopt;
}

void put_verdict(AttributeWriter& out, const Verdict& verdict) {
  const std::size_t begin = out.open(NFTA_DATA_VERDICT);
  out.put_be32(NFTA_VERDICT_CODE, verdict_code(verdict.kind));
  if (!verdict.chain.empty()) out.put_name(NFTA_VERDICT_CHAIN, verdict.chain);
  out.close(begin);
}

std::uint8_t port_unreachable_code(IpFamily family) {
  return family == IpFamily::Ipv4 ? std::uint8_t{ICMP_PORT_UNREACH}
                                  : std::uint8_t{ICMP6_DST_UNREACH_NOPORT};
}

std::uint8_t family_number(IpFamily family) {
  return family == IpFamily::Ipv4 ? std::uint8_t{NFPROTO_IPV4} : std::uint8_t{NFPROTO_IPV6};
}

}  // namespace mkp::nft
