#include "configs/text_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "runner/duration_text.h"

namespace mkp {
namespace {

template <class Value>
struct Name {
  std::string_view text;
  Value value;
};

constexpr std::array<Name<ProxyMode>, 3> kModes{{{"nftables", ProxyMode::Nftables},
                                                 {"iptables", ProxyMode::Iptables},
                                                 {"ipvs", ProxyMode::Ipvs}}};

constexpr std::array<Name<DetectLocalMode>, 4> kDetectLocalModes{
    {{"ClusterCIDR", DetectLocalMode::ClusterCidr},
     {"NodeCIDR", DetectLocalMode::NodeCidr},
     {"BridgeInterface", DetectLocalMode::BridgeInterface},
     {"InterfaceNamePrefix", DetectLocalMode::InterfaceNamePrefix}}};

constexpr std::array<Name<LogFormat>, 2> kLogFormats{
    {{"text", LogFormat::Text}, {"json", LogFormat::Json}}};

// As Go's ParseBool.
constexpr std::array<Name<bool>, 12> kBools{{{"true", true},
                                             {"True", true},
                                             {"TRUE", true},
                                             {"t", true},
                                             {"T", true},
                                             {"1", true},
                                             {"false", false},
                                             {"False", false},
                                             {"FALSE", false},
                                             {"f", false},
                                             {"F", false},
                                             {"0", false}}};

tl::unexpected<Error> is_not(std::string_view text, std::string_view what) {
  return fail(Errc::Invalid, fmt::format("\"{}\" is not {}", text, what));
}

template <class Names>
auto value_of(const Names& names, std::string_view text) {
  using Value = decltype(names.front().value);
  const auto found = std::find_if(names.begin(), names.end(),
                                  [text](const auto& name) { return name.text == text; });
  return found == names.end() ? std::optional<Value>() : std::optional<Value>(found->value);
}

template <class Names, class Value>
std::string name_of(const Names& names, Value value) {
  const auto found = std::find_if(names.begin(), names.end(),
                                  [value](const auto& name) { return name.value == value; });
  return std::string(found->text);
}

template <class Names>
auto one_of(const Names& names, std::string_view text) -> Result<decltype(names.front().value)> {
  if (const auto value = value_of(names, text)) return *value;
  std::vector<std::string_view> texts;
  texts.reserve(names.size());
  for (const auto& name : names) texts.push_back(name.text);
  return is_not(text, fmt::format("one of {}", fmt::join(texts, ", ")));
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  Number number{};
  const char* const end = text.data() + text.size();
  const std::from_chars_result read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

// What is before and after the last '='; both empty without one.
struct KeyAndValue {
  std::string key;
  std::string_view value;
};

KeyAndValue split_at_equals(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos) return {};
  return {std::string(text.substr(0, equals)), text.substr(equals + 1)};
}

std::vector<std::string> texts_of(const std::vector<IpPrefix>& prefixes) {
  std::vector<std::string> texts;
  texts.reserve(prefixes.size());
  for (const IpPrefix& prefix : prefixes) texts.push_back(to_text(prefix));
  return texts;
}

}  // namespace

std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    parts.push_back(text.substr(0, comma));
    // A comma at the end has an empty part after it, which nothing accepts.
    if (comma + 1 == text.size()) parts.emplace_back();
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

template <>
Result<bool> parse_value(std::string_view text) {
  if (const std::optional<bool> value = value_of(kBools, text)) return *value;
  return is_not(text, "true or false");
}

template <>
Result<std::int32_t> parse_value(std::string_view text) {
  if (const auto number = number_of<std::int32_t>(text)) return *number;
  return is_not(text, "an integer of 32 bits");
}

template <>
Result<float> parse_value(std::string_view text) {
  if (const auto number = number_of<float>(text)) return *number;
  return is_not(text, "a number");
}

template <>
Result<std::string> parse_value(std::string_view text) {
  return std::string(text);
}

template <>
Result<Duration> parse_value(std::string_view text) {
  if (const std::optional<Duration> duration = parse_duration(text)) return *duration;
  return is_not(text, "a duration such as 10ms or 1m30s");
}

template <>
Result<ProxyMode> parse_value(std::string_view text) {
  return one_of(kModes, text);
}

template <>
Result<DetectLocalMode> parse_value(std::string_view text) {
  return one_of(kDetectLocalModes, text);
}

template <>
Result<LogFormat> parse_value(std::string_view text) {
  return one_of(kLogFormats, text);
}

template <>
Result<IpAddress> parse_value(std::string_view text) {
  if (const std::optional<IpAddress> address = parse_ip_address(text)) return *address;
  return is_not(text, "an IP address");
}

template <>
Result<std::vector<IpPrefix>> parse_value(std::string_view text) {
  std::vector<IpPrefix> prefixes;
  for (const std::string_view part : split_list(text)) {
    const std::optional<IpPrefix> prefix = parse_ip_prefix(part);
    if (!prefix) return is_not(part, "a prefix such as 10.180.0.0/16 or fd00:10:180::/56");
    prefixes.push_back(*prefix);
  }
  return prefixes;
}

template <>
Result<NodePortAddresses> parse_value(std::string_view text) {
  NodePortAddresses addresses;
  const auto add = [&](std::initializer_list<const char*> prefixes) {
    for (const char* prefix : prefixes) {
      addresses.prefixes.push_back(parse_ip_prefix(prefix).value_or(IpPrefix{}));
    }
  };
  for (const std::string_view part : split_list(text)) {
    if (part == "primary") {
      addresses.primary = true;
    } else if (part == "localhost") {
      add({"127.0.0.0/8", "::1/128"});
    } else if (part == "all") {
      add({"0.0.0.0/0", "::/0"});
    } else if (const std::optional<IpPrefix> prefix = parse_ip_prefix(part)) {
      addresses.prefixes.push_back(*prefix);
    } else {
      return is_not(part, "primary, localhost, all or a prefix such as 192.168.0.0/24");
    }
  }
  return addresses;
}

template <>
Result<std::vector<LoggingConfig::Module>> parse_value(std::string_view text) {
  std::vector<LoggingConfig::Module> modules;
  for (const std::string_view part : split_list(text)) {
    KeyAndValue module = split_at_equals(part);
    const auto verbosity = number_of<std::int32_t>(module.value);
    if (module.key.empty() || !verbosity || *verbosity < 0) {
      return is_not(part, "a file pattern and verbosity such as gc*=2");
    }
    modules.push_back({std::move(module.key), *verbosity});
  }
  return modules;
}

template <>
Result<std::map<std::string, bool>> parse_value(std::string_view text) {
  std::map<std::string, bool> gates;
  for (const std::string_view part : split_list(text)) {
    const KeyAndValue gate = split_at_equals(part);
    const std::optional<bool> enabled = value_of(kBools, gate.value);
    if (gate.key.empty() || !enabled) {
      return is_not(part, "a feature gate and its state such as AllAlpha=false");
    }
    gates[gate.key] = *enabled;
  }
  return gates;
}

Result<ListenAddress> parse_listen_address(std::string_view text, std::uint16_t port) {
  const auto refused = [text] {
    return is_not(text, "an address with a port such as 127.0.0.1:10249 or [::1]:10249");
  };
  if (const std::optional<IpAddress> bare = parse_ip_address(text))
    return ListenAddress{*bare, port};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return refused();
  const auto number = number_of<std::uint16_t>(text.substr(colon + 1));
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  const std::optional<IpAddress> address = parse_ip_address(host);
  // Without brackets nobody could tell where an IPv6 address ends.
  if (!number || !address || bracketed != (host.find(':') != std::string_view::npos))
    return refused();
  return ListenAddress{*address, *number};
}

std::string value_text(bool value) { return value ? "true" : "false"; }
std::string value_text(std::int32_t value) { return std::to_string(value); }
std::string value_text(float value) { return fmt::format("{}", value); }
std::string value_text(const std::string& value) { return value; }
std::string value_text(Duration value) { return to_text(value); }
std::string value_text(ProxyMode value) { return name_of(kModes, value); }
std::string value_text(DetectLocalMode value) { return name_of(kDetectLocalModes, value); }
std::string value_text(LogFormat value) { return name_of(kLogFormats, value); }
std::string value_text(const IpAddress& value) { return to_text(value); }

std::string value_text(const ListenAddress& value) {
  const std::string address = to_text(value.address);
  if (value.address.family == IpFamily::Ipv6) return fmt::format("[{}]:{}", address, value.port);
  return fmt::format("{}:{}", address, value.port);
}

std::string value_text(const std::vector<IpPrefix>& value) {
  return fmt::format("{}", fmt::join(texts_of(value), ","));
}

std::string value_text(const NodePortAddresses& value) {
  if (!value.primary) return value_text(value.prefixes);
  return value.prefixes.empty() ? "primary" : "primary," + value_text(value.prefixes);
}

std::string value_text(const std::vector<LoggingConfig::Module>& value) {
  std::vector<std::string> texts;
  texts.reserve(value.size());
  for (const LoggingConfig::Module& module : value) {
    texts.push_back(fmt::format("{}={}", module.file_pattern, module.verbosity));
  }
  return fmt::format("{}", fmt::join(texts, ","));
}

std::string value_text(const std::map<std::string, bool>& value) {
  std::vector<std::string> texts;
  texts.reserve(value.size());
  for (const auto& [gate, enabled] : value) texts.push_back(fmt::format("{}={}", gate, enabled));
  return fmt::format("{}", fmt::join(texts, ","));
}

}  // namespace mkp
