#include "netlink/kernel_features.h"

#include <cerrno>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "netlink/nft_text.h"

namespace mkp::nft {
namespace {

constexpr const char* kTable = "mkp-kernel-probe";

// Something that our rules need, and the operations that only a kernel with it takes. All can be
// done in one table.
struct Feature {
  std::string name;
  std::string option;
  std::vector<Operation> operations;
};

// The fields of a key and where they go in the registers, by family.
struct Layout {
  IpFamily family = IpFamily::Ipv4;
  Field address = Field::Ipv4Address;
  PayloadLoad load_destination;
  Register next = 1;  // behind the address
};

Layout layout_of(IpFamily family) {
  using Base = PayloadLoad::Base;
  if (family == IpFamily::Ipv4) return {family, Field::Ipv4Address, {Base::Network, 16, 4, 0}, 1};
  return {family, Field::Ipv6Address, {Base::Network, 24, 16, 0}, 4};
}

PayloadLoad load_port(Register to) { return {PayloadLoad::Base::Transport, 2, 2, to}; }

Operation add_rule(std::string chain, std::vector<Expression> expressions) {
  return {AddRule{std::move(chain), Rule{std::move(expressions)}}};
}
Operation add_chain(std::string chain, std::optional<BaseHook> hook = std::nullopt) {
  return {AddChain{Chain{std::move(chain), hook}}};
}

std::vector<Feature> set_features(const Layout& layout) {
  const std::vector<Field> frontend{layout.address, Field::InetProto, Field::InetService};
  const std::vector<Field> target{layout.address, Field::InetService};
  const Register protocol = layout.next;
  const auto port = static_cast<Register>(protocol + 1);
  const std::vector<Expression> load_key{layout.load_destination,
                                         MetaLoad{MetaKey::L4Proto, protocol}, load_port(port)};
  const auto looked_up = [&](std::string set, Lookup::Use use) {
    std::vector<Expression> expressions = load_key;
    expressions.emplace_back(Lookup{std::move(set), 0, use, 0});
    return expressions;
  };
  return {
      {"sets with concatenated keys",
       "CONFIG_NF_TABLES of Linux 4.1 or later",
       {{AddSet{{"set", Set::Kind::Set, frontend, {}}}},
        add_chain("match"),
        add_rule("match", looked_up("set", Lookup::Use::Match))}},
      {"verdict maps",
       "CONFIG_NF_TABLES",
       {{AddSet{{"verdicts", Set::Kind::VerdictMap, frontend, {}}}},
        add_chain("dispatch"),
        add_rule("dispatch", looked_up("verdicts", Lookup::Use::Verdict))}},
      {"maps of addresses and ports",
       "CONFIG_NF_TABLES",
       {{AddSet{{"data", Set::Kind::DataMap, frontend, target}}},
        add_chain("map"),
        add_rule("map", looked_up("data", Lookup::Use::Data))}},
      {"intervals in concatenated keys",
       "CONFIG_NF_TABLES of Linux 5.6 or later",
       {{AddSet{{"intervals", Set::Kind::Set, frontend, {}, Set::Content::Intervals}}},
        add_chain("intervals"),
        add_rule("intervals", looked_up("intervals", Lookup::Use::Match))}},
      {"sets with timeouts that rules update",
       "CONFIG_NF_TABLES",
       {{AddSet{{"clients", Set::Kind::Set, {layout.address}, {}, Set::Content::Remembered}}},
        add_chain("remember"),
        add_rule("remember", {layout.load_destination, SetUpdate{"clients", 0, 1}})}},
  };
}

std::vector<Feature> rule_features(const Layout& layout) {
  using Type = BaseHook::Type;
  using Hook = BaseHook::Hook;
  const Bytes word(std::vector<std::uint8_t>(4));
  return {
      {"random numbers",
       "CONFIG_NFT_NUMGEN",
       {add_chain("numgen"), add_rule("numgen", {Numgen{2, 0}})}},
      {"connection tracking",
       "CONFIG_NFT_CT",
       {add_chain("ct"), add_rule("ct", {CtLoad{CtKey::State, 0}, CtLoad{CtKey::Status, 1}})}},
      {"types of addresses by route",
       layout.family == IpFamily::Ipv4 ? "CONFIG_NFT_FIB, CONFIG_NFT_FIB_IPV4"
                                       : "CONFIG_NFT_FIB, CONFIG_NFT_FIB_IPV6",
       {add_chain("fib"), add_rule("fib", {FibLoad{FibLoad::Address::Source, 0},
                                           FibLoad{FibLoad::Address::Destination, 1}})}},
      {"packet marks",
       "CONFIG_NF_TABLES",
       {add_chain("mark"), add_rule("mark", {MetaLoad{MetaKey::Mark, 0}, Bitwise{0, 0, word, word},
                                             MetaSet{MetaKey::Mark, 0}})}},
      {"NAT",
       "CONFIG_NFT_NAT",
       {add_chain("nat", BaseHook{Type::Nat, Hook::Prerouting, -100}),
        add_rule("nat", {layout.load_destination, load_port(layout.next),
                         Dnat{layout.family, 0, layout.next}})}},
      {"masquerading",
       "CONFIG_NFT_MASQ",
       {add_chain("masquerade", BaseHook{Type::Nat, Hook::Postrouting, 100}),
        add_rule("masquerade", {Masquerade{true}})}},
      {"rejecting packets",
       layout.family == IpFamily::Ipv4 ? "CONFIG_NFT_REJECT_IPV4" : "CONFIG_NFT_REJECT_IPV6",
       {add_chain("reject", BaseHook{Type::Filter, Hook::Input, 0}),
        add_rule("reject", {Reject{}})}},
  };
}

std::vector<Feature> features(IpFamily family) {
  const Layout layout = layout_of(family);
  std::vector<Feature> all = set_features(layout);
  std::vector<Feature> more = rule_features(layout);
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return all;
}

// Whether the kernel takes these in a table of their own: 0, or the errno of the first refusal.
Result<int> probe(Nftables& nftables, IpFamily family, const std::vector<Operation>& operations) {
  Transaction transaction{family, kTable, {{AddTable{}}}};
  transaction.operations.insert(transaction.operations.end(), operations.begin(), operations.end());
  transaction.operations.push_back({DeleteTable{}});
  const Result<std::vector<Refusal>> refused = nftables.commit(transaction, std::nullopt);
  if (!refused) return tl::unexpected<Error>(refused.error());
  return refused->empty() ? 0 : refused->front().err;
}

tl::unexpected<Error> cannot_ask(const Error& cause) {
  if (cause.code != Errc::Denied) return fail(cause, "probe nf_tables");
  return fail(cause, "nf_tables needs CAP_NET_ADMIN in this network namespace");
}

}  // namespace

Result<> check_kernel(Nftables& nftables, IpFamily family) {
  const std::vector<Feature> needed = features(family);
  std::vector<Operation> everything;
  for (const Feature& feature : needed) {
    everything.insert(everything.end(), feature.operations.begin(), feature.operations.end());
  }
  const Result<int> all = probe(nftables, family, everything);
  if (!all) return cannot_ask(all.error());
  if (*all == 0) return {};

  // Something is missing: ask for one at a time what it is.
  const Result<int> tables = probe(nftables, family, {});
  if (!tables) return cannot_ask(tables.error());
  if (*tables != 0) {
    return fail_errno(*tables, "the kernel has no nf_tables for family " +
                                   std::string(family_text(family)) +
                                   " (CONFIG_NF_TABLES, CONFIG_NF_TABLES_IPV4, "
                                   "CONFIG_NF_TABLES_IPV6)");
  }
  std::string missing;
  for (const Feature& feature : needed) {
    const Result<int> one = probe(nftables, family, feature.operations);
    if (!one) return cannot_ask(one.error());
    if (*one == 0) continue;
    missing += (missing.empty() ? "" : "; ") + feature.name + " (" + feature.option +
               "): " + std::generic_category().message(*one);
  }
  if (missing.empty()) missing = "some combination of what it has";
  return fail(Errc::Invalid, "nf_tables of this kernel lacks, for family " +
                                 std::string(family_text(family)) + ": " + missing);
}

}  // namespace mkp::nft
