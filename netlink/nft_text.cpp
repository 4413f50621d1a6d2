#include "netlink/nft_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "netlink/nft_values.h"

namespace mkp::nft {
namespace {

const char* type_text(Field field) {
  switch (field) {
    case Field::Ipv4Address:
      return "ipv4_addr";
    case Field::Ipv6Address:
      return "ipv6_addr";
    case Field::InetProto:
      return "inet_proto";
    case Field::InetService:
      return "inet_service";
    case Field::Slot:
      return "integer";
  }
  return "";
}

// An expression of the type; nft takes the whole declaration from them.
const char* typeof_text(Field field) {
  switch (field) {
    case Field::Ipv4Address:
      return "ip daddr";
    case Field::Ipv6Address:
      return "ip6 daddr";
    case Field::InetProto:
      return "meta l4proto";
    case Field::InetService:
      return "th dport";
    case Field::Slot:
      return "numgen random mod 65536";
  }
  return "";
}

std::string fields_text(const std::vector<Field>& fields, const char* (*field_text)(Field)) {
  std::string text;
  for (const Field field : fields)
    text += (text.empty() ? "" : " . ") + std::string(field_text(field));
  return text;
}

const char* hook_text(BaseHook::Hook hook) {
  switch (hook) {
    case BaseHook::Hook::Prerouting:
      return "prerouting";
    case BaseHook::Hook::Input:
      return "input";
    case BaseHook::Hook::Forward:
      return "forward";
    case BaseHook::Hook::Output:
      return "output";
    case BaseHook::Hook::Postrouting:
      return "postrouting";
  }
  return "";
}

// nft has names for some priorities, each at the hooks where it makes sense, and says how far
// others are from those.
std::string priority_text(const BaseHook& hook) {
  struct Named {
    std::int32_t priority;
    const char* name;
    std::optional<BaseHook::Hook> only_at;
  };
  constexpr std::int32_t kReach = 10;
  constexpr std::array<Named, 6> kNamed{{{-300, "raw", {}},
                                         {-150, "mangle", {}},
                                         {-100, "dstnat", BaseHook::Hook::Prerouting},
                                         {0, "filter", {}},
                                         {50, "security", {}},
                                         {100, "srcnat", BaseHook::Hook::Postrouting}}};
  for (const Named& named : kNamed) {
    if (named.only_at && named.only_at != hook.hook) continue;
    if (hook.priority == named.priority) return named.name;
    if (hook.priority > named.priority + kReach || hook.priority < named.priority - kReach)
      continue;
    const std::int32_t offset = hook.priority - named.priority;
    return fmt::format("{} {} {}", named.name, offset < 0 ? '-' : '+', std::abs(offset));
  }
  return std::to_string(hook.priority);
}

const char* kind_text(const Set& set) { return set.kind == Set::Kind::Set ? "set" : "map"; }

// The lines of a declaration.
std::vector<std::string> properties_of(const Set& set) {
  const bool slots = std::ranges::find(set.key, Field::Slot) != set.key.end();
  const auto field_text = slots ? typeof_text : type_text;
  std::string type = (slots ? "typeof " : "type ") + fields_text(set.key, field_text);
  if (set.kind == Set::Kind::VerdictMap) type += " : verdict";
  if (set.kind == Set::Kind::DataMap) type += " : " + fields_text(set.data, field_text);
  switch (set.content) {
    case Set::Content::Keys:
      return {type};
    case Set::Content::Intervals:
      return {type, "flags interval"};
    case Set::Content::Remembered:
      return {type, fmt::format("size {}", Set::kMaxRemembered), "flags dynamic,timeout"};
  }
  return {type};
}

void append_set(std::string& out, const Ruleset::SetState& state) {
  out += fmt::format("\t{} {} {{\n\t\t{}\n", kind_text(state.set), state.set.name,
                     fmt::join(properties_of(state.set), "\n\t\t"));
  if (state.set.foreign) out += "\t\t# declared in a way that is not understood\n";
  std::vector<std::reference_wrapper<const Element>> elements(state.elements.begin(),
                                                              state.elements.end());
  std::ranges::sort(elements, {}, [](const Element& element) { return element.key; });
  const char* before = "\t\telements = { ";
  for (const Element& element : elements) {
    out += before + to_text(element, state.set);
    before = ",\n\t\t\t     ";
  }
  if (!elements.empty()) out += " }\n";
  out += "\t}\n";
}

void append_chain(std::string& out, const Ruleset::ChainState& state, IpFamily family) {
  out += fmt::format("\tchain {} {{\n", state.chain.name);
  if (state.chain.foreign) out += "\t\t# a base chain that is not understood\n";
  if (state.chain.hook) out += "\t\t" + to_text(*state.chain.hook) + "\n";
  for (const Rule& rule : state.rules) out += "\t\t" + to_text(rule, family) + "\n";
  out += "\t}\n";
}

}  // namespace

const char* family_text(IpFamily family) { return family == IpFamily::Ipv4 ? "ip" : "ip6"; }

std::string to_text(const BaseHook& hook) {
  return fmt::format("type {} hook {} priority {}; policy accept;",
                     hook.type == BaseHook::Type::Nat ? "nat" : "filter", hook_text(hook.hook),
                     priority_text(hook));
}

std::string declaration_text(const Set& set) {
  return fmt::format("{}", fmt::join(properties_of(set), "; "));
}

std::string to_text(const Element& element, const Set& set) {
  const auto* end = std::get_if<IntervalEnd>(&element.value);
  std::string text = end == nullptr ? value_text(set.key, element.key)
                                    : interval_text(set.key, element.key, end->key);
  if (!element.comment.empty()) text += " comment \"" + element.comment + '"';
  if (const auto* datum = std::get_if<Bytes>(&element.value)) {
    text += " : " + value_text(set.data, *datum);
  } else if (const auto* verdict = std::get_if<Verdict>(&element.value)) {
    text += " : " + to_text(*verdict);
  }
  return text;
}

std::string to_text(const Ruleset& ruleset) {
  std::string out = fmt::format("table {} {} {{\n", family_text(ruleset.family), ruleset.table);
  const char* before = "";
  for (const Ruleset::SetState& set : ruleset.sets) {
    out += std::exchange(before, "\n");
    append_set(out, set);
  }
  for (const Ruleset::ChainState& chain : ruleset.chains) {
    out += std::exchange(before, "\n");
    append_chain(out, chain, ruleset.family);
  }
  return out + "}\n";
}

// "kind family table", then what each operation is about.
struct OperationPrinter::Visitor {
  OperationPrinter& printer;

  std::string head(std::string_view kind) const {
    return fmt::format("{} {} {}", kind, family_text(printer.family_), printer.table_);
  }
  std::string element(std::string_view set, const Element& element) const {
    const auto declared = printer.sets_.find(set);
    const Set unknown;
    return fmt::format(
        "{} {} {{ {} }}", head("element"), set,
        nft::to_text(element, declared == printer.sets_.end() ? unknown : declared->second));
  }

  std::string operator()(const AddTable&) const { return head("table"); }
  std::string operator()(const DeleteTable&) const { return head("table"); }
  std::string operator()(const AddChain& add) const {
    const std::string chain = head("chain") + " " + add.chain.name;
    return add.chain.hook ? chain + " { " + nft::to_text(*add.chain.hook) + " }" : chain;
  }
  std::string operator()(const DeleteChain& remove) const {
    return head("chain") + " " + remove.chain;
  }
  std::string operator()(const FlushChain& flush) const {
    return head("flush chain") + " " + flush.chain;
  }
  std::string operator()(const AddRule& add) const {
    return fmt::format("{} {} {}", head("rule"), add.chain,
                       nft::to_text(add.rule, printer.family_));
  }
  std::string operator()(const AddSet& add) const {
    printer.declare(add.set);
    return fmt::format("{} {} {{ {}; }}", head(kind_text(add.set)), add.set.name,
                       declaration_text(add.set));
  }
  std::string operator()(const DeleteSet& remove) const {
    const auto declared = printer.sets_.find(remove.set);
    const bool map = declared != printer.sets_.end() && declared->second.kind != Set::Kind::Set;
    return head(map ? "map" : "set") + " " + remove.set;
  }
  std::string operator()(const AddElement& add) const { return element(add.set, add.element); }
  std::string operator()(const DeleteElement& remove) const {
    return element(remove.set, remove.element);
  }
};

OperationPrinter::OperationPrinter(IpFamily family, std::string_view table)
    : family_(family), table_(table) {}

void OperationPrinter::declare(const Set& set) { sets_.insert_or_assign(set.name, set); }

std::string OperationPrinter::to_text(const Operation& operation) {
  return std::visit(Visitor{*this}, operation.what);
}

}  // namespace mkp::nft
