#include "tests/end_to_end/packet_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "proxy/types.h"

namespace mkp {
namespace {

using simdjson::SUCCESS;
using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

// Those that every packet here has; another one would be a match of its own.
const std::set<std::string_view> kHeaders = {"ip", "ip6", "th"};

std::uint64_t number_in(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string fate_of(const Packet& packet, const std::string& dialled) {
  std::string fate = "untouched";
  if (packet.translated) {
    const auto port = static_cast<std::uint16_t>(packet.port);
    fate =
        "to " + to_text(Endpoint{parse_ip_address(packet.destination).value_or(IpAddress{}), port});
  } else if (packet.destination != dialled) {
    fate = "to another address, but not translated";
  }
  if (packet.masqueraded) fate += ", masqueraded";
  if (packet.remembered != 0) fate += fmt::format(", remembered {} s", packet.remembered);
  return fate;
}

}  // namespace

Result<std::set<std::string>> PacketWalk::fates(const Packet& packet) {
  refusals_.clear();
  misread_.clear();
  Packets on_the_way = {packet};
  if (packet.from_node) {
    on_the_way = through_hook("output", on_the_way);
  } else {
    Packets to_node, to_others;
    for (const Packet& routed : through_hook("prerouting", on_the_way)) {
      (is_own(routed.destination) ? to_node : to_others).insert(routed);
    }
    on_the_way = through_hook("input", to_node);
    on_the_way.merge(through_hook("forward", to_others));
  }
  std::set<std::string> fates;
  for (const Packet& left : on_the_way) {
    // What the node has itself does not leave it.
    const bool leaves = !is_own(left.destination);
    for (const Packet& sent : leaves ? through_hook("postrouting", {left}) : Packets{left}) {
      fates.insert(fate_of(sent, packet.destination));
    }
  }
  fates.merge(refusals_);
  if (!misread_.empty()) return fail(Errc::Invalid, "a rule that cannot be read: " + misread_);
  return fates;
}

bool PacketWalk::is_own(const std::string& address) const {
  return address == node_address_ || address == "127.0.0.1" || address == "::1";
}

PacketWalk::Packets PacketWalk::through_hook(std::string_view hook, const Packets& arriving) {
  Packets packets = arriving;
  for (const ListedChain* chain : table_.base_chains(hook)) {
    accepted_.clear();
    packets = through_chain(chain->name, packets);
    packets.merge(accepted_);
  }
  return packets;
}

PacketWalk::Packets PacketWalk::through_chain(std::string_view name, const Packets& arriving) {
  const ListedChain* chain = table_.chain(name);
  if (!chain) {
    misread_ = fmt::format("no chain {}", name);
    return {};
  }
  Packets here = arriving;
  Packets returned;
  for (const array& rule : chain->rules) {
    Packets next;
    for (const Packet& packet : here) take_rule(rule, packet, next, returned);
    here = std::move(next);
  }
  here.merge(returned);
  return here;
}

void PacketWalk::take_rule(const array& rule, const Packet& packet, Packets& next,
                           Packets& returned) {
  std::uint64_t below = 1;
  for (std::uint64_t drawn = 0; drawn < below; ++drawn) {
    Step step;
    step.packet = packet;
    step.drawn = drawn;
    for (const element statement : rule) {
      if (!take(statement, step)) break;
    }
    below = step.below;
    settle(std::move(step), next, returned);
  }
}

void PacketWalk::settle(Step step, Packets& next, Packets& returned) {
  switch (step.end) {
    case Step::End::Next:
      next.insert(std::move(step.packet));
      break;
    case Step::End::Jump:
      next.merge(through_chain(step.target, {step.packet}));
      break;
    case Step::End::Goto:
      returned.merge(through_chain(step.target, {step.packet}));
      break;
    case Step::End::Return:
      returned.insert(std::move(step.packet));
      break;
    case Step::End::Accept:
      accepted_.insert(std::move(step.packet));
      break;
    case Step::End::Refused:
      break;
  }
}

void PacketWalk::misread(std::string what) { misread_ = std::move(what); }

bool PacketWalk::take(element statement, Step& step) {
  object what;
  if (statement["match"].get(what) == SUCCESS) return matches(what, step);
  if (statement["vmap"].get(what) == SUCCESS) return take_verdict_map(what, step);
  if (statement["mangle"].get(what) == SUCCESS) return set_mark(what, step);
  if (statement["dnat"].get(what) == SUCCESS) return translate(what, step);
  if (statement["set"].get(what) == SUCCESS) return remember(what, step);
  return take_verdict(statement, step);
}

bool PacketWalk::take_verdict(element statement, Step& step) {
  const object verdict = statement.get_object().value();
  const std::string_view kind = verdict.size() == 1 ? verdict.begin().key() : "";
  std::string_view target;
  if (kind == "jump" || kind == "goto") {
    if (verdict[kind]["target"].get(target) != SUCCESS) misread(simdjson::minify(statement));
    step.target = std::string(target);
    step.end = kind == "jump" ? Step::End::Jump : Step::End::Goto;
  } else if (kind == "return") {
    step.end = Step::End::Return;
  } else if (kind == "accept") {
    step.end = Step::End::Accept;
  } else if (kind == "drop") {
    refusals_.insert("drop");
    step.end = Step::End::Refused;
  } else if (kind == "reject") {
    std::string_view answer;
    if (verdict[kind]["expr"].get(answer) != SUCCESS) misread(simdjson::minify(statement));
    refusals_.insert("reject " + std::string(answer));
    step.end = Step::End::Refused;
  } else if (kind == "masquerade") {
    step.packet.masqueraded = true;
    step.end = Step::End::Accept;
  } else {
    misread(simdjson::minify(statement));
  }
  return false;
}

const ListedSet* PacketWalk::set_of(element data, ListedSet& anonymous) {
  std::string_view name;
  if (data.get(name) == SUCCESS && name.starts_with('@')) return table_.set(name.substr(1));
  array entries;
  if (data["set"].get(entries) != SUCCESS) return nullptr;
  anonymous.read(entries);
  return &anonymous;
}

bool PacketWalk::take_verdict_map(object map, Step& step) {
  ListedSet anonymous;
  const ListedSet* verdicts = set_of(map["data"], anonymous);
  const auto key = evaluate(map["key"], step);
  if (!verdicts || !key) misread(simdjson::minify(map));
  const ListedSet::Entry* found = verdicts && key ? verdicts->find(*key) : nullptr;
  return found && found->value && take_verdict(*found->value, step);
}

bool PacketWalk::matches(object match, Step& step) {
  std::string_view op;
  const auto left = evaluate(match["left"], step);
  if (match["op"].get(op) != SUCCESS || !left) {
    misread(simdjson::minify(match));
    return false;
  }
  ListedSet right;
  const ListedSet* wanted = set_of(match["right"], right);
  if (!wanted) {
    right.add(match["right"]);  // a constant, or a prefix
    wanted = &right;
  }
  const bool within = wanted->find(*left) != nullptr;
  if (op == "!=") return !within;
  if (op != "==" && op != "in") misread(simdjson::minify(match));
  return within;
}

bool PacketWalk::translate(object nat, Step& step) {
  const auto address = evaluate(nat["addr"], step);
  if (!address) return false;
  std::vector<std::string> target = *address;
  element port;
  if (nat["port"].get(port) == SUCCESS) target.push_back(constant_text(port).value_or(""));
  if (target.size() != 2) {
    misread(simdjson::minify(nat));
    return false;
  }
  step.packet.destination = target[0];
  step.packet.port = number_in(target[1]);
  step.packet.translated = true;
  step.end = Step::End::Accept;
  return false;
}

bool PacketWalk::set_mark(object mangle, Step& step) {
  std::string_view key;
  if (mangle["key"]["meta"]["key"].get(key) != SUCCESS || key != "mark")
    misread(simdjson::minify(mangle));
  step.packet.mark = number_in(field_of(mangle["value"], step));
  return true;
}

bool PacketWalk::remember(object update, Step& step) {
  std::string_view name;
  if (update["set"].get(name) != SUCCESS || !name.starts_with('@'))
    misread(simdjson::minify(update));
  const ListedSet* clients = name.empty() ? nullptr : table_.set(name.substr(1));
  std::uint64_t seconds = clients ? clients->timeout.value_or(0) : 0;
  std::uint64_t own = 0;
  if (update["elem"]["elem"]["timeout"].get(own) == SUCCESS) seconds = own;
  if (seconds == 0) misread(simdjson::minify(update));
  step.packet.remembered = seconds;
  return true;
}

std::optional<std::vector<std::string>> PacketWalk::evaluate(element value, Step& step) {
  array parts;
  object map;
  std::vector<std::string> fields;
  if (value["concat"].get(parts) == SUCCESS) {
    for (const element part : parts) fields.push_back(field_of(part, step));
    return fields;
  }
  if (value["map"].get(map) != SUCCESS) return {{field_of(value, step)}};

  ListedSet anonymous;
  const ListedSet* data = set_of(map["data"], anonymous);
  const auto key = evaluate(map["key"], step);
  if (!data || !key) misread(simdjson::minify(value));
  const ListedSet::Entry* found = data && key ? data->find(*key) : nullptr;
  if (!found || !found->value) return std::nullopt;
  return evaluate(*found->value, step);
}

std::string PacketWalk::field_of(element value, Step& step) {
  if (const std::optional<std::string> constant = constant_text(value)) return *constant;
  const Packet& packet = step.packet;
  std::string_view key;
  std::uint64_t modulus = 0;
  if (value["payload"]["field"].get(key) == SUCCESS) {
    std::string_view header;
    if (value["payload"]["protocol"].get(header) != SUCCESS || !kHeaders.contains(header)) key = "";
    if (key == "saddr") return packet.source;
    if (key == "daddr") return packet.destination;
    if (key == "dport") return std::to_string(packet.port);
  } else if (value["meta"]["key"].get(key) == SUCCESS) {
    if (key == "l4proto") return packet.protocol;
    if (key == "mark") return std::to_string(packet.mark);
  } else if (value["ct"]["key"].get(key) == SUCCESS) {
    if (key == "state") return "new";
    if (key == "status") return packet.translated ? "dnat" : "";
  } else if (value["numgen"]["mod"].get(modulus) == SUCCESS && !step.draws) {
    step.draws = true;
    step.below = modulus;
    return std::to_string(step.drawn);
  }
  if (value["fib"]["flags"].at(0).get(key) == SUCCESS) {
    const bool local = key == "saddr" ? packet.from_node : is_own(packet.destination);
    return local ? "local" : "unicast";
  }
  return calculate(value, step);
}

std::string PacketWalk::calculate(element value, Step& step) {
  for (const char* sign : {"|", "&", "^"}) {
    array sides;
    if (value[sign].get(sides) != SUCCESS || sides.size() != 2) continue;
    const std::uint64_t left = number_in(field_of(sides.at(0), step));
    const std::uint64_t right = number_in(field_of(sides.at(1), step));
    if (*sign == '|') return std::to_string(left | right);
    return std::to_string(*sign == '&' ? left & right : left ^ right);
  }
  misread(simdjson::minify(value));
  return "";
}

}  // namespace mkp
