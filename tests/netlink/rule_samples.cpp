#include "tests/netlink/rule_samples.h"

#include <arpa/inet.h>

#include <cassert>
#include <cstring>
#include <utility>

#include "netlink/attributes.h"

namespace mkp::nft {
namespace {

template <class Number>
Bytes bytes_of(Number value) {
  std::array<std::uint8_t, sizeof(Number)> bytes{};
  store_host(bytes.data(), value);
  return Bytes(bytes);
}

// Registers and offsets of one family.
struct Family {
  IpFamily ip = IpFamily::Ipv4;
  Field address = Field::Ipv4Address;
  std::uint32_t size = 4;
  std::uint32_t source = 12;
  std::uint32_t destination = 16;
  Register units = 1;
};
Family family_of(IpFamily ip) {
  if (ip == IpFamily::Ipv4) return {};
  return {ip, Field::Ipv6Address, 16, 8, 24, 4};
}

constexpr std::uint32_t kMark = 0x4000;

PayloadLoad load_address(const Family& family, std::uint32_t offset, Register to = 0) {
  return {PayloadLoad::Base::Network, offset, family.size, to};
}
PayloadLoad load_port(Register to) { return {PayloadLoad::Base::Transport, 2, 2, to}; }
Lookup look_up(std::string set, Lookup::Use use) { return {std::move(set), 0, use, 0}; }

Rule slot_rule(const Family& family, std::uint32_t modulus) {
  const Register next = family.units;
  const auto at = [&](int n) { return static_cast<Register>(next + n); };
  return rule(load_address(family, family.destination), MetaLoad{MetaKey::L4Proto, next},
              load_port(at(1)), Numgen{modulus, at(2)},
              look_up("cluster-endpoints", Lookup::Use::Data), Dnat{family.ip, 0, next});
}
Rule nodeport_slot_rule(const Family& family) {
  return rule(MetaLoad{MetaKey::L4Proto, 0}, load_port(1), Numgen{4, 2},
              look_up("nodeport-endpoints", Lookup::Use::Data), Dnat{family.ip, 0, family.units});
}
Rule frontend_rule(const Family& family, std::string set, Lookup::Use use) {
  const Register next = family.units;
  return rule(load_address(family, family.destination), MetaLoad{MetaKey::L4Proto, next},
              load_port(static_cast<Register>(next + 1)), look_up(std::move(set), use));
}
Rule with(Rule rule, Expression last) {
  rule.expressions.push_back(std::move(last));
  return rule;
}
Rule joined(Rule first, const Rule& second) {
  first.expressions.insert(first.expressions.end(), second.expressions.begin(),
                           second.expressions.end());
  return first;
}
ImmediateVerdict verdict(Verdict::Kind kind) { return {{kind, ""}}; }
ImmediateVerdict jump_to(std::string name) { return {{Verdict::Kind::Jump, std::move(name)}}; }

// Addresses of the prefix fd00::/12 or 10.64.0.0/12, with the mask applied.
Rule outside_rule(const Family& family) {
  Bytes mask = family.ip == IpFamily::Ipv4 ? address("255.240.0.0") : address("fff0::");
  Bytes prefix = family.ip == IpFamily::Ipv4 ? address("10.64.0.0") : address("fd00::");
  return rule(load_address(family, family.source),
              Bitwise{0, 0, mask, Bytes(std::vector<std::uint8_t>(family.size))},
              Compare{Compare::Op::NotEqual, 0, prefix}, jump_to("mark-for-masquerade"));
}
Rule ct_rule(CtKey key, std::uint32_t bit) {
  return rule(CtLoad{key, 0}, Bitwise{0, 0, number(bit), number(0)},
              Compare{Compare::Op::NotEqual, 0, number(0)});
}
Rule set_mark(std::uint32_t mask, std::uint32_t exclusive_or) {
  return rule(MetaLoad{MetaKey::Mark, 0}, Bitwise{0, 0, number(mask), number(exclusive_or)},
              MetaSet{MetaKey::Mark, 0});
}
Rule if_marked(ImmediateVerdict verdict) {
  return rule(MetaLoad{MetaKey::Mark, 0}, Bitwise{0, 0, number(kMark), number(0)},
              Compare{Compare::Op::NotEqual, 0, number(0)}, std::move(verdict));
}
Rule interface_rule(std::string_view name, bool whole, Compare::Op op) {
  std::vector<std::uint8_t> bytes(name.begin(), name.end());
  if (whole) bytes.resize(16);
  return rule(MetaLoad{MetaKey::IifName, 0}, Compare{op, 0, Bytes(bytes)},
              jump_to("mark-for-masquerade"));
}
Rule hairpin_rule(const Family& family) {
  Rule hairpin = ct_rule(CtKey::Status, 32);
  hairpin = with(std::move(hairpin), load_address(family, family.source));
  hairpin = with(std::move(hairpin), load_address(family, family.destination, family.units));
  hairpin = with(std::move(hairpin), look_up("hairpin", Lookup::Use::Match));
  return with(std::move(hairpin), Masquerade{true});
}
// A prefix of whole bytes needs no mask: nft loads no more than that.
Rule prefix_rule(const Family& family, std::uint32_t offset, Compare::Op op,
                 std::string_view prefix, std::uint32_t bytes) {
  PayloadLoad load = load_address(family, offset);
  load.length = bytes;
  const Bytes whole = address(prefix);
  return rule(load, Compare{op, 0, Bytes(whole.span().first(bytes))});
}
Rule short_prefix_rule(const Family& family, std::uint32_t offset) {
  const bool v4 = family.ip == IpFamily::Ipv4;
  return prefix_rule(family, offset, Compare::Op::Equal, v4 ? "10.180.0.0" : "fd64::", v4 ? 2 : 8);
}
Rule fib_rule(FibLoad::Address address, Compare::Op op) {
  return rule(FibLoad{address, 0}, Compare{op, 0, number(2)});
}
Rule node_port_rule() {
  return rule(MetaLoad{MetaKey::L4Proto, 0}, load_port(1),
              look_up("nodeports", Lookup::Use::Verdict));
}
// At a node's own address, other than on loopback.
Rule local_node_port_rule(const Family& family) {
  const bool v4 = family.ip == IpFamily::Ipv4;
  const Rule local = fib_rule(FibLoad::Address::Destination, Compare::Op::Equal);
  const Rule elsewhere = prefix_rule(family, family.destination, Compare::Op::NotEqual,
                                     v4 ? "127.0.0.0" : "::1", v4 ? 1 : 16);
  return joined(joined(local, elsewhere), node_port_rule());
}
Rule listed_node_port_rule(const Family& family) {
  return joined(
      rule(load_address(family, family.destination), look_up("cluster-ips", Lookup::Use::Match)),
      node_port_rule());
}
Rule allowed_source_rule(const Family& family) {
  const auto at = [&](int n) { return static_cast<Register>(family.units + n); };
  return rule(load_address(family, family.destination), MetaLoad{MetaKey::L4Proto, at(0)},
              load_port(at(1)), load_address(family, family.source, at(2)),
              look_up("allowed-sources", Lookup::Use::Match), verdict(Verdict::Kind::Return));
}
Rule remember_rule(const Family& family, std::uint32_t timeout) {
  return rule(load_address(family, family.source), SetUpdate{"affinity-web", 0, timeout});
}
Rule one_endpoint_rule(const Family& family) {
  const bool v4 = family.ip == IpFamily::Ipv4;
  return rule(MetaLoad{MetaKey::L4Proto, 0}, Compare{Compare::Op::Equal, 0, byte(6)},
              ImmediateData{0, address(v4 ? "10.180.0.2" : "fd64::7")},
              ImmediateData{4, port(8080)}, Dnat{family.ip, 0, 4});
}

std::vector<Ruleset::SetState> sample_sets(const Family& family) {
  const bool v4 = family.ip == IpFamily::Ipv4;
  const Bytes service = v4 ? address("172.30.0.10") : address("fd00::10");
  const Bytes pod = v4 ? address("10.180.1.5") : address("fd64::5");
  const std::vector<Field> frontend{family.address, Field::InetProto, Field::InetService};
  const std::vector<Field> target{family.address, Field::InetService};
  std::vector<Field> slots = frontend;
  slots.push_back(Field::Slot);
  std::vector<Field> frontend_and_source = frontend;
  frontend_and_source.push_back(family.address);
  const Bytes lowest = Bytes(std::vector<std::uint8_t>(family.size, 0));
  const Bytes highest = Bytes(std::vector<std::uint8_t>(family.size, 0xff));
  const auto sources = [&](const char* first4, const char* last4, const char* first6,
                           const char* last6) {
    return interval(concatenate({service, byte(6), port(80), address(v4 ? first4 : first6)}),
                    concatenate({service, byte(6), port(80), address(v4 ? last4 : last6)}));
  };
  const auto key = [&](std::uint16_t number_of_port) {
    return concatenate({service, byte(6), port(number_of_port)});
  };
  const Bytes datum = concatenate({pod, port(8080)});
  return {
      {{"services", Set::Kind::VerdictMap, frontend, {}},
       {element(key(80), go_to("internal-cluster-4"), "shop/web:http"),
        element(key(443), go_to("internal-cluster-4"))}},
      {{"cluster-endpoints", Set::Kind::DataMap, slots, target},
       {element(concatenate({key(80), number(0)}), datum),
        element(concatenate({key(80), number(70000)}), datum)}},
      {{"nodeport-endpoints",
        Set::Kind::DataMap,
        {Field::InetProto, Field::InetService, Field::Slot},
        target},
       {element(concatenate({byte(17), port(30053), number(1)}), datum)}},
      {{"nodeports", Set::Kind::VerdictMap, {Field::InetProto, Field::InetService}, {}},
       {element(concatenate({byte(132), port(30080)}), go_to("internal-cluster-4"))}},
      {{"cluster-ips", Set::Kind::Set, {family.address}, {}}, {element(service)}},
      {{"reject-services", Set::Kind::Set, frontend, {}}, {element(key(81), {}, "shop/none:x")}},
      {{"hairpin", Set::Kind::Set, {family.address, family.address}, {}},
       {element(concatenate({pod, pod}))}},
      {{"allowed-sources", Set::Kind::Set, frontend_and_source, {}, Set::Content::Intervals},
       {sources("192.0.2.0", "192.0.2.127", "2001:db8::", "2001:db8::ffff:ffff:ffff:ffff"),
        sources("192.0.2.200", "192.0.2.200", "2001:db8:1::5", "2001:db8:1::5"),
        sources("192.0.3.1", "192.0.3.7", "2001:db8:2::1", "2001:db8:2::7"),
        interval(concatenate({service, byte(17), port(53), lowest}),
                 concatenate({service, byte(17), port(60), highest}), "shop/dns:dns")}},
      {{"affinity-web", Set::Kind::Set, {family.address}, {}, Set::Content::Remembered}, {}},
  };
}

std::vector<Ruleset::ChainState> sample_chains(const Family& family) {
  using Hook = BaseHook::Hook;
  using Type = BaseHook::Type;
  const Rule new_only = ct_rule(CtKey::State, 8);
  const auto base = [](std::string name, BaseHook hook) { return Chain{std::move(name), hook}; };
  using Op = Compare::Op;
  const Rule local =
      with(fib_rule(FibLoad::Address::Source, Op::Equal), jump_to("mark-for-masquerade"));
  const Rule not_local =
      with(fib_rule(FibLoad::Address::Destination, Op::NotEqual), goto_chain("cluster-4"));
  return {
      {chain("mark-for-masquerade"), {set_mark(~kMark, kMark)}},
      {chain("masquerade-marked"), {set_mark(~0U, kMark), rule(Masquerade{true})}},
      {chain("masquerading"),
       {if_marked(goto_chain("masquerade-marked")), hairpin_rule(family), rule(Masquerade{false})}},
      {chain("cluster-4"),
       {slot_rule(family, 4), slot_rule(family, 1), nodeport_slot_rule(family)}},
      {chain("internal-cluster-4"), {outside_rule(family), rule(goto_chain("cluster-4"))}},
      {chain("dispatch"),
       {frontend_rule(family, "services", Lookup::Use::Verdict), node_port_rule(),
        local_node_port_rule(family), listed_node_port_rule(family),
        joined(short_prefix_rule(family, family.source),
               frontend_rule(family, "services", Lookup::Use::Verdict))}},
      {chain("endpoints-check"),
       {with(frontend_rule(family, "reject-services", Lookup::Use::Match), Reject{}),
        rule(load_address(family, family.destination), look_up("cluster-ips", Lookup::Use::Match),
             verdict(Verdict::Kind::Drop)),
        with(frontend_rule(family, "reject-services", Lookup::Use::Match),
             verdict(Verdict::Kind::Drop)),
        with(short_prefix_rule(family, family.destination), verdict(Verdict::Kind::Drop))}},
      {chain("firewall"), {allowed_source_rule(family), rule(verdict(Verdict::Kind::Drop))}},
      {chain("affinity-endpoint"), {remember_rule(family, 10800), one_endpoint_rule(family)}},
      {chain("affinity"),
       {rule(load_address(family, family.source), look_up("affinity-web", Lookup::Use::Match),
             goto_chain("affinity-endpoint")),
        rule(Numgen{3, 0}, Compare{Op::Equal, 0, number(0)}, goto_chain("affinity-endpoint")),
        joined(remember_rule(family, 90), one_endpoint_rule(family))}},
      {chain("interfaces"),
       {interface_rule("cni0", true, Op::Equal), interface_rule("cni0", true, Op::NotEqual),
        interface_rule("veth", false, Op::Equal), interface_rule("veth", false, Op::NotEqual)}},
      {chain("odds"),
       {local, not_local,
        with(short_prefix_rule(family, family.source), verdict(Verdict::Kind::Accept)),
        set_mark(0xff, 0), set_mark(0xff00, 0x11)}},
      {base("nat-prerouting", {Type::Nat, Hook::Prerouting, -100}), {rule(jump_to("dispatch"))}},
      {base("nat-output", {Type::Nat, Hook::Output, -100}), {rule(jump_to("dispatch"))}},
      {base("nat-postrouting", {Type::Nat, Hook::Postrouting, 100}),
       {rule(jump_to("masquerading"))}},
      {base("filter-prerouting", {Type::Filter, Hook::Prerouting, -110}), {}},
      {base("filter-input", {Type::Filter, Hook::Input, 0}),
       {with(new_only, jump_to("endpoints-check"))}},
      {base("filter-forward", {Type::Filter, Hook::Forward, 0}), {}},
      {base("filter-output", {Type::Filter, Hook::Output, 1}), {}},
  };
}

const char* errno_name(int err) {
  switch (err) {
    case EBUSY:
      return "EBUSY";
    case EEXIST:
      return "EEXIST";
    case EINVAL:
      return "EINVAL";
    case ENAMETOOLONG:
      return "ENAMETOOLONG";
    case ENOENT:
      return "ENOENT";
    case EOPNOTSUPP:
      return "EOPNOTSUPP";
    default:
      return std::strerror(err);
  }
}

}  // namespace

Bytes address(std::string_view text) {
  const std::optional<IpAddress> parsed = parse_ip_address(text);
  assert(parsed);
  return Bytes(std::span(parsed->bytes).first(parsed->size()));
}
Bytes number(std::uint32_t value) { return bytes_of(value); }
Bytes byte(std::uint8_t value) { return bytes_of(value); }
Bytes port(std::uint16_t value) { return bytes_of(htons(value)); }
Bytes concatenate(const std::vector<Bytes>& fields) {
  Bytes key;
  for (const Bytes& field : fields) key.append_field(field.span());
  return key;
}

Chain chain(std::string name) { return Chain{std::move(name), std::nullopt}; }
Chain base_chain(std::string name) {
  return Chain{std::move(name), BaseHook{BaseHook::Type::Filter, BaseHook::Hook::Input, 0}};
}
Set addresses() { return Set{"addresses", Set::Kind::Set, {Field::Ipv4Address}, {}}; }
Set verdicts() { return Set{"verdicts", Set::Kind::VerdictMap, {Field::Ipv4Address}, {}}; }
Set data() { return Set{"data", Set::Kind::DataMap, {Field::Ipv4Address}, {Field::Ipv4Address}}; }

Set intervals() {
  return Set{"intervals",
             Set::Kind::Set,
             {Field::Ipv4Address, Field::InetService},
             {},
             Set::Content::Intervals};
}
Set clients() {
  return Set{"clients", Set::Kind::Set, {Field::Ipv4Address}, {}, Set::Content::Remembered};
}

PayloadLoad load_destination() { return {PayloadLoad::Base::Network, 16, 4, 0}; }
PayloadLoad load_source() { return {PayloadLoad::Base::Network, 12, 4, 0}; }
ImmediateVerdict goto_chain(std::string name) { return {go_to(std::move(name))}; }
Verdict go_to(std::string name) { return {Verdict::Kind::Goto, std::move(name)}; }
Element element(Bytes key, decltype(Element::value) value, std::string comment) {
  return {key, std::move(value), std::move(comment)};
}
Element interval(Bytes first, Bytes last, std::string comment) {
  return {first, IntervalEnd{last}, std::move(comment)};
}

Ruleset sample_ruleset(IpFamily family, std::string table) {
  Ruleset ruleset;
  ruleset.family = family;
  ruleset.table = std::move(table);
  ruleset.chains = sample_chains(family_of(family));
  ruleset.sets = sample_sets(family_of(family));
  return ruleset;
}

Transaction creation_of(const Ruleset& ruleset) {
  Transaction transaction{ruleset.family, ruleset.table, {{AddTable{}}}};
  std::vector<Operation>& operations = transaction.operations;
  for (const auto& state : ruleset.chains) operations.push_back({AddChain{state.chain}});
  for (const auto& state : ruleset.sets) operations.push_back({AddSet{state.set}});
  for (const auto& state : ruleset.chains) {
    for (const Rule& rule : state.rules) operations.push_back({AddRule{state.chain.name, rule}});
  }
  for (const auto& state : ruleset.sets) {
    for (const Element& element : state.elements) {
      operations.push_back({AddElement{state.set.name, element}});
    }
  }
  return transaction;
}

std::string outcome_text(const Result<std::vector<Refusal>>& outcome) {
  if (!outcome) {
    return outcome.error().code == Errc::Expired ? "expired" : "failed: " + outcome.error().what;
  }
  std::string text;
  for (const Refusal& refusal : *outcome) {
    if (!text.empty()) text += ", ";
    text += std::to_string(refusal.first);
    if (refusal.last != refusal.first) text += "-" + std::to_string(refusal.last);
    text += std::string(": ") + errno_name(refusal.err);
  }
  return text;
}

}  // namespace mkp::nft
