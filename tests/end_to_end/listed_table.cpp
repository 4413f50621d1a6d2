#include "tests/end_to_end/listed_table.h"

#include <algorithm>
#include <utility>

#include "tests/packets/program.h"

namespace mkp {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

std::string text_at(object from, std::string_view name) {
  std::string_view text;
  if (from[name].get(text) != simdjson::SUCCESS) return "";
  return std::string(text);
}

std::vector<element> fields_of(element key) {
  // With a comment or a timeout the key is one level down.
  element inner;
  if (key["elem"]["val"].get(inner) == simdjson::SUCCESS) key = inner;
  array parts;
  if (key["concat"].get(parts) != simdjson::SUCCESS) return {key};
  return {parts.begin(), parts.end()};
}

// Whether a field of a packet is the constant, or within the prefix or the range.
bool holds(element wanted, const std::string& value) {
  if (const std::optional<std::string> constant = constant_text(wanted)) return *constant == value;
  const std::optional<IpAddress> address = parse_ip_address(value);
  if (!address) return false;
  object interval;
  if (wanted["prefix"].get(interval) == simdjson::SUCCESS) {
    const std::optional<IpAddress> first = parse_ip_address(text_at(interval, "addr"));
    std::uint64_t length = 0;
    if (interval["len"].get(length) != simdjson::SUCCESS || !first) return false;
    return contains(prefix_of(*first, static_cast<std::uint8_t>(length)), *address);
  }
  array ends;
  if (wanted["range"].get(ends) != simdjson::SUCCESS || ends.size() != 2) return false;
  const auto first = parse_ip_address(constant_text(ends.at(0)).value_or(""));
  const auto last = parse_ip_address(constant_text(ends.at(1)).value_or(""));
  return first && last && *first <= *address && *address <= *last;
}

}  // namespace

std::optional<std::string> constant_text(element value) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return std::string(text);
  std::uint64_t number = 0;
  if (value.get(number) == simdjson::SUCCESS) return std::to_string(number);
  array parts;
  if (value["concat"].get(parts) != simdjson::SUCCESS) return std::nullopt;
  std::string joined;
  for (const element part : parts) {
    const std::optional<std::string> one = constant_text(part);
    if (!one) return std::nullopt;
    joined += (joined.empty() ? "" : " . ") + *one;
  }
  return joined;
}

void ListedSet::read(array entries) {
  for (const element entry : entries) add(entry);
}

void ListedSet::add(element listed) {
  Entry entry;
  array pair;
  if (listed.get(pair) == simdjson::SUCCESS) {
    entry = {fields_of(pair.at(0)), pair.at(1).value()};
  } else {
    entry.key = fields_of(listed);
  }
  std::vector<std::string> constant;
  for (const element field : entry.key) {
    if (const auto text = constant_text(field)) constant.push_back(*text);
  }
  if (constant.size() == entry.key.size()) {
    constants_.emplace(std::move(constant), std::move(entry));
  } else {
    intervals_.push_back(std::move(entry));
  }
}

const ListedSet::Entry* ListedSet::find(const std::vector<std::string>& fields) const {
  const auto constant = constants_.find(fields);
  if (constant != constants_.end()) return &constant->second;
  const auto interval = std::find_if(intervals_.begin(), intervals_.end(), [&](const Entry& entry) {
    return std::equal(entry.key.begin(), entry.key.end(), fields.begin(), fields.end(), holds);
  });
  return interval == intervals_.end() ? nullptr : &*interval;
}

Result<ListedTable> ListedTable::list(IpFamily family, const std::string& name) {
  const std::string words = family == IpFamily::Ipv4 ? "ip" : "ip6";
  const Result<std::string> said =
      packets::run_program({"nft", "-j", "list", "table", words, name}, "", {0, 1});
  if (!said) return tl::unexpected(said.error());
  if (said->find("No such file or directory") != std::string::npos) {
    return read(family, R"({"nftables": []})");
  }
  return read(family, *said);
}

Result<ListedTable> ListedTable::read(IpFamily family, const std::string& json) {
  ListedTable table;
  table.family_ = family;
  element document;
  array objects;
  const auto error = table.parser_->parse(json).get(document);
  if (error != simdjson::SUCCESS || document["nftables"].get(objects) != simdjson::SUCCESS) {
    return fail(Errc::Invalid, "this is no table of nft's: " + json.substr(0, 1000));
  }
  for (const element one : objects) table.take(one);
  return table;
}

void ListedTable::take(object listed) {
  object what;
  for (const char* kind : {"set", "map"}) {
    if (listed[kind].get(what) != simdjson::SUCCESS) continue;
    ListedSet& made = sets_[text_at(what, "name")];
    array types;
    if (what["type"].get(types) == simdjson::SUCCESS) {
      for (const element one : types) made.type.push_back(constant_text(one).value_or(""));
    } else {
      made.type = {text_at(what, "type")};
    }
    std::uint64_t timeout = 0;
    if (what["timeout"].get(timeout) == simdjson::SUCCESS) made.timeout = timeout;
    array entries;
    if (what["elem"].get(entries) == simdjson::SUCCESS) made.read(entries);
  }
  if (listed["chain"].get(what) == simdjson::SUCCESS) {
    ListedChain& made = chains_[text_at(what, "name")];
    made.name = text_at(what, "name");
    made.hook = text_at(what, "hook");
    if (what["prio"].get(made.priority) != simdjson::SUCCESS) made.priority = 0;
  }
  if (listed["rule"].get(what) == simdjson::SUCCESS) {
    chains_[text_at(what, "chain")].rules.push_back(what["expr"].get_array().value());
  }
}

const ListedChain* ListedTable::chain(std::string_view name) const {
  const auto found = chains_.find(name);
  return found == chains_.end() ? nullptr : &found->second;
}

const ListedSet* ListedTable::set(std::string_view name) const {
  const auto found = sets_.find(name);
  return found == sets_.end() ? nullptr : &found->second;
}

std::vector<const ListedChain*> ListedTable::base_chains(std::string_view hook) const {
  std::vector<const ListedChain*> chains;
  for (const auto& [name, chain] : chains_) {
    if (chain.hook == hook) chains.push_back(&chain);
  }
  std::stable_sort(chains.begin(), chains.end(), [](const auto* one, const auto* other) {
    return one->priority < other->priority;
  });
  return chains;
}

}  // namespace mkp
