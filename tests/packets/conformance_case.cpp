#include "tests/packets/conformance_case.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>

namespace mkp::packets {
namespace {

// Within this file a mistake in a case is an exception of the YAML library, which tells the line;
// parse_cases makes it an Error.
[[noreturn]] void refuse(const YAML::Node& at, const std::string& why) {
  throw YAML::RepresentationException(at.Mark(), why);
}

// A mapping of which every key must be asked for.
class Fields {
 public:
  explicit Fields(const YAML::Node& node) : node_(node) {
    if (!node.IsMap()) refuse(node, "must be a mapping");
  }

  YAML::Node find(const std::string& key) {
    known_.insert(key);
    return node_[key];
  }

  YAML::Node require(const std::string& key) {
    YAML::Node value = find(key);
    if (!value.IsDefined() || value.IsNull()) refuse(node_, key + " is missing");
    return value;
  }

  template <class T>
  T get_or(const std::string& key, T otherwise) {
    const YAML::Node value = find(key);
    return value.IsDefined() ? value.as<T>() : std::move(otherwise);
  }

  template <class T>
  std::optional<T> get(const std::string& key) {
    const YAML::Node value = find(key);
    if (!value.IsDefined()) return std::nullopt;
    return value.as<T>();
  }

  void refuse_others() const {
    for (const auto& entry : node_) {
      const auto key = entry.first.as<std::string>();
      if (!known_.contains(key)) refuse(entry.first, "unknown key " + key);
    }
  }

 private:
  const YAML::Node node_;
  std::set<std::string> known_;
};

IpAddress read_ip(const YAML::Node& node) {
  const std::optional<IpAddress> address = parse_ip_address(node.as<std::string>());
  if (!address) refuse(node, "not an IP address");
  return *address;
}

AddressPort read_address_port(const YAML::Node& node) {
  const std::optional<AddressPort> address = parse_address_port(node.as<std::string>());
  if (!address) refuse(node, "not an address and port");
  return *address;
}

Mode read_mode(const YAML::Node& node) {
  const auto text = node.as<std::string>();
  if (text == "nftables") return Mode::Nftables;
  if (text == "iptables") return Mode::Iptables;
  refuse(node, "unknown mode " + text);
}

std::vector<Mode> read_modes(const YAML::Node& node) {
  if (node.as<std::string>() == "any") return {Mode::Nftables, Mode::Iptables};
  return {read_mode(node)};
}

Transport read_transport(const YAML::Node& node) {
  const auto text = node.as<std::string>();
  for (const Transport transport : {Transport::Tcp, Transport::Udp, Transport::Sctp}) {
    if (text == to_text(transport)) return transport;
  }
  refuse(node, "unknown protocol " + text);
}

Expectation read_expectation(const YAML::Node& node) {
  if (node.IsSequence()) {
    Expectation expected{.kind = Expectation::Kind::Translated};
    for (const YAML::Node& one : node) expected.endpoints.insert(read_address_port(one));
    if (expected.endpoints.empty()) refuse(node, "names no endpoint");
    return expected;
  }
  static const std::map<std::string, Expectation::Kind> kWords{
      {"reject", Expectation::Kind::Reject},
      {"drop", Expectation::Kind::Drop},
      {"pass", Expectation::Kind::Pass},
      {"accept", Expectation::Kind::Accept}};
  const auto word = kWords.find(node.as<std::string>());
  if (word == kWords.end()) refuse(node, "unknown expectation");
  return {.kind = word->second};
}

std::map<AddressPort, bool> read_masquerade(const YAML::Node& node, const Expectation& expected) {
  std::map<AddressPort, bool> masquerade;
  if (!node.IsMap()) {
    const bool always = node.as<bool>();
    if (always && expected.endpoints.empty())
      refuse(node, "only what is translated is masqueraded");
    for (const AddressPort& endpoint : expected.endpoints) masquerade[endpoint] = always;
    return masquerade;
  }
  for (const auto& entry : node) {
    const AddressPort endpoint = read_address_port(entry.first);
    if (!expected.endpoints.contains(endpoint)) refuse(entry.first, "is not expected");
    masquerade[endpoint] = entry.second.as<bool>();
  }
  if (masquerade.size() != expected.endpoints.size()) refuse(node, "leaves out an endpoint");
  return masquerade;
}

std::chrono::seconds read_sticky(const YAML::Node& node) {
  Fields fields(node);
  const std::chrono::seconds timeout(fields.require("timeoutSeconds").as<unsigned>());
  fields.refuse_others();
  return timeout;
}

Flow read_flow(const YAML::Node& node) {
  Fields fields(node);
  Flow flow;
  const YAML::Node from = fields.require("from");
  if (from.as<std::string>() != "node") flow.from = read_ip(from);
  flow.to = {read_ip(fields.require("to")), fields.require("port").as<std::uint16_t>()};
  if (flow.from && flow.from->family != flow.to.ip.family) refuse(node, "mixes the families");
  flow.transport = read_transport(fields.require("proto"));
  if (const YAML::Node mode = fields.find("mode")) flow.mode = read_mode(mode);
  flow.expect = read_expectation(fields.require("expect"));
  flow.masquerade = read_masquerade(fields.require("masquerade"), flow.expect);
  if (const YAML::Node sticky = fields.find("sticky")) {
    if (flow.expect.endpoints.empty()) refuse(sticky, "only what is translated sticks");
    flow.sticky = read_sticky(sticky);
  }
  flow.source_port = fields.get<std::uint16_t>("sport");
  if (const YAML::Node mark = fields.find("mark")) {
    if (flow.expect.endpoints.empty()) refuse(mark, "is followed on what is translated only");
    flow.mark = mark.as<std::uint32_t>();
  }
  if (const YAML::Node state = fields.find("ctstate")) {
    if (state.as<std::string>() != "invalid") refuse(state, "unknown state");
    if (flow.transport != Transport::Tcp) refuse(state, "is made with TCP only");
    flow.invalid_state = true;
  }
  fields.get<std::string>("note");
  fields.refuse_others();
  return flow;
}

std::vector<Flow> read_flows(const YAML::Node& node) {
  if (!node.IsSequence()) refuse(node, "must be a list of flows");
  std::vector<Flow> flows;
  for (const YAML::Node& flow : node) flows.push_back(read_flow(flow));
  return flows;
}

std::vector<IpAddress> read_ips(const YAML::Node& node) {
  std::vector<IpAddress> addresses;
  for (const YAML::Node& address : node) addresses.push_back(read_ip(address));
  return addresses;
}

NodeChange read_node_change(const YAML::Node& node) {
  Fields fields(node);
  NodeChange change{fields.get<std::string>("zone"),
                    fields.get_or<std::vector<std::string>>("podCIDRs", {})};
  fields.refuse_others();
  return change;
}

AddressChange read_address_change(const YAML::Node& node) {
  Fields fields(node);
  AddressChange change;
  if (const YAML::Node add = fields.find("add")) change.add = read_ips(add);
  if (const YAML::Node remove = fields.find("remove")) change.remove = read_ips(remove);
  fields.refuse_others();
  return change;
}

// Valid and odd objects are told apart for those who read the files, and for tests that decode all
// valid ones.
std::string read_objects(Fields& fields, const std::string& valid, const std::string& odd) {
  const auto text = fields.get_or<std::string>(valid, "");
  const auto odd_text = fields.get_or<std::string>(odd, "");
  return odd_text.empty() ? text : text + "\n---\n" + odd_text;
}

// All but what says in which mode, and for which cluster, the proxy runs.
ProxySettings read_settings(Fields& fields) {
  ProxySettings settings;
  settings.detect_local_mode = fields.get_or<std::string>("detectLocalMode", "ClusterCIDR");
  settings.bridge_interface = fields.get_or<std::string>("bridgeInterface", "");
  settings.interface_name_prefix = fields.get_or<std::string>("interfaceNamePrefix", "");
  if (settings.detect_local_mode == "ClusterCIDR") {
    settings.cluster_cidr = fields.require("clusterCIDR").as<std::string>();
  }
  settings.masquerade_bit = fields.get<int>("masqueradeBit");
  settings.node_port_addresses = fields.get<std::vector<std::string>>("nodePortAddresses");
  settings.localhost_node_ports = fields.get_or("localhostNodePorts", true);
  settings.masquerade_all = fields.get_or("masqueradeAll", false);
  settings.conntrack_tcp_be_liberal = fields.get_or("conntrackTCPBeLiberal", false);
  return settings;
}

Step read_step(const YAML::Node& node) {
  Fields fields(node);
  Step step;
  step.about = fields.require("about").as<std::string>();
  step.apply = read_objects(fields, "apply", "applyOdd");
  step.remove = fields.get_or<std::string>("delete", "");
  step.service_cidrs = fields.get<std::vector<std::string>>("serviceCIDRs");
  if (const YAML::Node change = fields.find("node")) step.node = read_node_change(change);
  if (const YAML::Node change = fields.find("nodeAddresses")) {
    step.node_addresses = read_address_change(change);
  }
  step.restart = fields.get_or("restart", false);
  if (const YAML::Node config = fields.find("config")) {
    if (!step.restart) refuse(config, "is read at a start only");
    Fields settings(config);
    step.settings = read_settings(settings);
    settings.refuse_others();
  }
  step.flows = read_flows(fields.require("flows"));
  fields.get<std::string>("note");
  fields.refuse_others();
  return step;
}

NodeUnderTest read_node(const YAML::Node& node) {
  Fields fields(node);
  NodeUnderTest read;
  read.name = fields.require("name").as<std::string>();
  read.ips = read_ips(fields.require("ips"));
  read.zone = fields.get<std::string>("zone");
  read.pod_cidrs = fields.get_or<std::vector<std::string>>("podCIDRs", {});
  read.ipv6 = fields.get_or("ipv6", true);
  fields.refuse_others();
  return read;
}

void read_config(const YAML::Node& node, Case& read) {
  Fields fields(node);
  read.modes = read_modes(fields.require("mode"));
  read.settings = read_settings(fields);
  read.steps.front().service_cidrs = fields.get<std::vector<std::string>>("serviceCIDRs");
  fields.refuse_others();
}

Case read_case(const YAML::Node& node) {
  Fields fields(node);
  Case read;
  read.name = fields.require("name").as<std::string>();
  read.about = fields.require("about").as<std::string>();
  fields.require("source").as<std::string>();
  fields.get<std::string>("note");
  read.unserved = fields.get_or("unserved", false);
  read.steps.emplace_back();
  read.steps.front().about = "start";
  read_config(fields.require("config"), read);
  read.node = read_node(fields.require("node"));
  fields.require("objects");
  read.steps.front().apply = read_objects(fields, "objects", "oddObjects");
  read.steps.front().flows = read_flows(fields.require("flows"));
  if (const YAML::Node steps = fields.find("steps")) {
    for (const YAML::Node& step : steps) read.steps.push_back(read_step(step));
  }
  fields.refuse_others();
  return read;
}

std::vector<Case> read_cases(const YAML::Node& node) {
  if (!node.IsSequence()) refuse(node, "must be a list of cases");
  std::vector<Case> cases;
  std::set<std::string> names;
  for (const YAML::Node& one : node) {
    cases.push_back(read_case(one));
    if (!names.insert(cases.back().name).second) refuse(one, "repeats a name");
  }
  return cases;
}

bool holds_other_cases(const std::filesystem::path& file) {
  try {
    const YAML::Node cases = YAML::LoadFile(file.string());
    return cases.IsSequence() && cases.size() > 0 && cases[0].IsMap() &&
           !cases[0]["flows"].IsDefined();
  } catch (const YAML::Exception&) {
    return false;
  }
}

std::string to_text(const Expectation& expected) {
  switch (expected.kind) {
    case Expectation::Kind::Reject:
      return "reject";
    case Expectation::Kind::Drop:
      return "drop";
    case Expectation::Kind::Pass:
      return "pass";
    case Expectation::Kind::Accept:
      return "accept";
    case Expectation::Kind::Translated:
      break;
  }
  return "";
}

}  // namespace

std::string_view to_text(Mode mode) { return mode == Mode::Nftables ? "nftables" : "iptables"; }

std::string to_text(const Flow& flow) {
  std::string expected = to_text(flow.expect);
  for (const auto& [endpoint, masquerade] : flow.masquerade) {
    if (!expected.empty()) expected += " or ";
    expected += to_text(endpoint) + (masquerade ? " masqueraded" : "");
  }
  return fmt::format("{} to {}/{} (expected: {})",
                     flow.from ? mkp::to_text(*flow.from) : std::string("node"), to_text(flow.to),
                     to_text(flow.transport), expected);
}

Result<std::vector<Case>> parse_cases(const std::string& yaml) {
  try {
    return read_cases(YAML::Load(yaml));
  } catch (const YAML::Exception& wrong) {
    return fail(Errc::Invalid, wrong.what());
  }
}

Result<std::vector<Case>> load_cases(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) return fail(Errc::NotFound, "read " + file.string());
  Result<std::vector<Case>> cases = parse_cases(text.str());
  if (!cases) return fail(cases.error(), file.filename().string());
  return cases;
}

std::vector<std::filesystem::path> packet_flow_files(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".yaml" && !holds_other_cases(entry.path())) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace mkp::packets
