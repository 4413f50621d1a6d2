#include "netlink/expressions.h"

#include <linux/netfilter.h>
#include <linux/netfilter/nf_nat.h>
#include <linux/netfilter/nf_tables.h>

#include <string>

#include "netlink/verdicts.h"

namespace mkp::nft {
namespace {

constexpr std::uint64_t kMilliseconds = 1000;  // in a second

// A register that starts a 16-byte one has that one's name, as in nft and in the kernel's answers.
std::uint32_t register_number(Register unit) {
  return unit % 4 == 0 ? NFT_REG_1 + unit / 4U : static_cast<std::uint32_t>(NFT_REG32_00) + unit;
}

std::uint32_t meta_key(MetaKey key) {
  switch (key) {
    case MetaKey::L4Proto:
      return NFT_META_L4PROTO;
    case MetaKey::Mark:
      return NFT_META_MARK;
    case MetaKey::IifName:
      return NFT_META_IIFNAME;
  }
  return 0;
}

// Fills in the attributes of one expression.
class Filler {
 public:
  Filler(nftnl_expr* out, IpFamily family) : out_(out), family_(family) {}

  void operator()(const PayloadLoad& load) {
    const bool network = load.base == PayloadLoad::Base::Network;
    u32(NFTNL_EXPR_PAYLOAD_DREG, register_number(load.to));
    u32(NFTNL_EXPR_PAYLOAD_BASE,
        network ? NFT_PAYLOAD_NETWORK_HEADER : NFT_PAYLOAD_TRANSPORT_HEADER);
    u32(NFTNL_EXPR_PAYLOAD_OFFSET, load.offset);
    u32(NFTNL_EXPR_PAYLOAD_LEN, load.length);
  }
  void operator()(const MetaLoad& load) {
    u32(NFTNL_EXPR_META_KEY, meta_key(load.key));
    u32(NFTNL_EXPR_META_DREG, register_number(load.to));
  }
  void operator()(const MetaSet& set) {
    u32(NFTNL_EXPR_META_KEY, meta_key(set.key));
    u32(NFTNL_EXPR_META_SREG, register_number(set.from));
  }
  void operator()(const CtLoad& load) {
    u32(NFTNL_EXPR_CT_KEY, load.key == CtKey::State ? NFT_CT_STATE : NFT_CT_STATUS);
    u32(NFTNL_EXPR_CT_DREG, register_number(load.to));
  }
  void operator()(const FibLoad& load) {
    const bool source = load.address == FibLoad::Address::Source;
    u32(NFTNL_EXPR_FIB_DREG, register_number(load.to));
    u32(NFTNL_EXPR_FIB_RESULT, NFT_FIB_RESULT_ADDRTYPE);
    u32(NFTNL_EXPR_FIB_FLAGS, source ? NFTA_FIB_F_SADDR : NFTA_FIB_F_DADDR);
  }
  void operator()(const Bitwise& bitwise) {
    u32(NFTNL_EXPR_BITWISE_SREG, register_number(bitwise.from));
    u32(NFTNL_EXPR_BITWISE_DREG, register_number(bitwise.to));
    u32(NFTNL_EXPR_BITWISE_LEN, static_cast<std::uint32_t>(bitwise.mask.size()));
    bytes(NFTNL_EXPR_BITWISE_MASK, bitwise.mask);
    bytes(NFTNL_EXPR_BITWISE_XOR, bitwise.exclusive_or);
  }
  void operator()(const Compare& compare) {
    u32(NFTNL_EXPR_CMP_SREG, register_number(compare.from));
    u32(NFTNL_EXPR_CMP_OP, compare.op == Compare::Op::Equal ? NFT_CMP_EQ : NFT_CMP_NEQ);
    bytes(NFTNL_EXPR_CMP_DATA, compare.value);
  }
  void operator()(const Numgen& numgen) {
    u32(NFTNL_EXPR_NG_DREG, register_number(numgen.to));
    u32(NFTNL_EXPR_NG_MODULUS, numgen.modulus);
    u32(NFTNL_EXPR_NG_TYPE, NFT_NG_RANDOM);
  }
  void operator()(const Lookup& lookup) {
    u32(NFTNL_EXPR_LOOKUP_SREG, register_number(lookup.from));
    nftnl_expr_set_str(out_, NFTNL_EXPR_LOOKUP_SET, lookup.set.c_str());
    if (lookup.use == Lookup::Use::Verdict) u32(NFTNL_EXPR_LOOKUP_DREG, NFT_REG_VERDICT);
    if (lookup.use == Lookup::Use::Data) u32(NFTNL_EXPR_LOOKUP_DREG, register_number(lookup.to));
  }
  void operator()(const ImmediateVerdict& immediate) {
    u32(NFTNL_EXPR_IMM_DREG, NFT_REG_VERDICT);
    u32(NFTNL_EXPR_IMM_VERDICT, verdict_code(immediate.verdict.kind));
    if (!immediate.verdict.chain.empty()) {
      nftnl_expr_set_str(out_, NFTNL_EXPR_IMM_CHAIN, immediate.verdict.chain.c_str());
    }
  }
  void operator()(const ImmediateData& immediate) {
    u32(NFTNL_EXPR_IMM_DREG, register_number(immediate.to));
    bytes(NFTNL_EXPR_IMM_DATA, immediate.value);
  }
  void operator()(const SetUpdate& update) {
    u32(NFTNL_EXPR_DYNSET_OP, NFT_DYNSET_OP_UPDATE);
    u32(NFTNL_EXPR_DYNSET_SREG_KEY, register_number(update.key));
    nftnl_expr_set_str(out_, NFTNL_EXPR_DYNSET_SET_NAME, update.set.c_str());
    nftnl_expr_set_u64(out_, NFTNL_EXPR_DYNSET_TIMEOUT, kMilliseconds * update.timeout);
  }
  void operator()(const Dnat& dnat) {
    u32(NFTNL_EXPR_NAT_TYPE, NFT_NAT_DNAT);
    u32(NFTNL_EXPR_NAT_FAMILY, family_number(dnat.family));
    u32(NFTNL_EXPR_NAT_REG_ADDR_MIN, register_number(dnat.address));
    u32(NFTNL_EXPR_NAT_REG_PROTO_MIN, register_number(dnat.port));
  }
  void operator()(const Masquerade& masquerade) {
    if (masquerade.fully_random) u32(NFTNL_EXPR_MASQ_FLAGS, NF_NAT_RANGE_PROTO_RANDOM_FULLY);
  }
  void operator()(const Reject&) {
    u32(NFTNL_EXPR_REJECT_TYPE, NFT_REJECT_ICMP_UNREACH);
    nftnl_expr_set_u8(out_, NFTNL_EXPR_REJECT_CODE, port_unreachable_code(family_));
  }
  void operator()(const UnknownExpression&) {}  // to_nftnl() has refused it

 private:
  void u32(std::uint16_t attribute, std::uint32_t value) {
    nftnl_expr_set_u32(out_, attribute, value);
  }
  void bytes(std::uint16_t attribute, const Bytes& value) {
    nftnl_expr_set(out_, attribute, value.span().data(), static_cast<std::uint32_t>(value.size()));
  }

  nftnl_expr* out_;
  IpFamily family_;
};

struct KernelName {
  const char* operator()(const PayloadLoad&) const { return "payload"; }
  const char* operator()(const MetaLoad&) const { return "meta"; }
  const char* operator()(const MetaSet&) const { return "meta"; }
  const char* operator()(const CtLoad&) const { return "ct"; }
  const char* operator()(const FibLoad&) const { return "fib"; }
  const char* operator()(const Bitwise&) const { return "bitwise"; }
  const char* operator()(const Compare&) const { return "cmp"; }
  const char* operator()(const Numgen&) const { return "numgen"; }
  const char* operator()(const Lookup&) const { return "lookup"; }
  const char* operator()(const ImmediateVerdict&) const { return "immediate"; }
  const char* operator()(const ImmediateData&) const { return "immediate"; }
  const char* operator()(const SetUpdate&) const { return "dynset"; }
  const char* operator()(const Dnat&) const { return "nat"; }
  const char* operator()(const Masquerade&) const { return "masq"; }
  const char* operator()(const Reject&) const { return "reject"; }
  const char* operator()(const UnknownExpression&) const { return nullptr; }
};

}  // namespace

Result<ExpressionHandle> to_nftnl(const Expression& expression, IpFamily family) {
  const char* const name = std::visit(KernelName{}, expression);
  if (name == nullptr) {
    return fail(Errc::Invalid, "cannot write an expression \"" +
                                   std::get<UnknownExpression>(expression).name +
                                   "\" that is not understood");
  }
  ExpressionHandle handle(nftnl_expr_alloc(name));
  if (!handle) return fail(Errc::Invalid, std::string("libnftnl knows no expression ") + name);
  std::visit(Filler(handle.get(), family), expression);
  return handle;
}

}  // namespace mkp::nft
