// The conformance cases that are data: what the daemon's own types make of objects.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "proxy/service_port_spec.h"
#include "proxy/udp_diff.h"
#include "proxy/udp_frontends.h"
#include "tests/proxy/data_cluster.h"

namespace mkp {
namespace {

struct DataCase {
  std::string name;
  YAML::Node yaml;
};
void PrintTo(const DataCase& one, std::ostream* out) { *out << one.name; }

std::vector<DataCase> cases_of(const std::string& file) {
  std::vector<DataCase> cases;
  for (const YAML::Node& yaml : YAML::LoadFile(MKP_CONFORMANCE_DIR "/" + file)) {
    cases.push_back({yaml["name"].as<std::string>(), yaml});
  }
  return cases;
}

std::string case_name(const testing::TestParamInfo<DataCase>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string text_at(const YAML::Node& node, const char* key) {
  return node[key] ? node[key].as<std::string>() : "";
}

IpFamily family_at(const YAML::Node& node) {
  return text_at(node, "ipFamily") == "IPv6" ? IpFamily::Ipv6 : IpFamily::Ipv4;
}

std::set<std::string> set_at(const YAML::Node& node, const char* key) {
  std::set<std::string> all;
  for (const YAML::Node& one : node[key]) all.insert(one.as<std::string>());
  return all;
}

template <class T>
std::set<std::string> texts_of(const std::vector<T>& values) {
  std::set<std::string> all;
  for (const T& value : values) all.insert(to_text(value));
  return all;
}

ServiceName service_name(const std::string& text) {
  const std::size_t slash = text.find('/');
  return {text.substr(0, slash), text.substr(slash + 1)};
}

void set_node(DataCluster& cluster, const YAML::Node& node) {
  std::vector<IpAddress> ips;
  for (const YAML::Node& one : node["ips"]) ips.push_back(ip(one.as<std::string>()));
  cluster.node(text_at(node, "name"), text_at(node, "zone"), std::move(ips));
}

class DataTest : public testing::TestWithParam<DataCase> {
 protected:
  const YAML::Node& yaml() const { return GetParam().yaml; }
  // Takes the case's objects, or a step's changes, in.
  std::set<std::string> take(const YAML::Node& step) {
    cluster_.apply(text_at(step, "objects") + text_at(step, "apply"));
    cluster_.remove(text_at(step, "delete"));
    cluster_.remove(text_at(step, "deleteUnknown"));
    cluster_.remove(text_at(step, "thenDelete"));
    return cluster_.sync();
  }

  DataCluster cluster_;
};

// --- topology.yaml: which endpoints a Service port uses ---

class TopologyCases : public DataTest {};

TEST_P(TopologyCases, HasTheseEndpoints) {
  set_node(cluster_, yaml()["node"]);
  take(yaml());
  const YAML::Node query = yaml()["query"];
  const RuleModel model = cluster_.model(family_at(query));
  const auto port =
      model.find({service_name(text_at(query, "service")), text_at(query, "port"), Protocol::Tcp});
  ASSERT_NE(port, model.end());
  const EndpointSets& sets = port->second.endpoints;
  const YAML::Node expect = yaml()["expect"];

  const auto compare = [&](const char* key, const std::optional<std::vector<Endpoint>>& list) {
    EXPECT_EQ(expect[key].IsNull(), !list) << key;
    if (list) {
      EXPECT_EQ(texts_of(*list), set_at(expect, key)) << key;
    }
  };
  compare("cluster", sets.cluster);
  compare("local", sets.local);
  std::set<std::string> reachable = texts_of(port->second.cluster_endpoints());
  reachable.merge(texts_of(port->second.local_endpoints()));
  EXPECT_EQ(reachable, set_at(expect, "allLocallyReachable"));
  EXPECT_EQ(sets.any, expect["hasAnyEndpoints"].as<bool>());
}

INSTANTIATE_TEST_SUITE_P(Data, TopologyCases, testing::ValuesIn(cases_of("topology.yaml")),
                         case_name);

// --- services.yaml: what one family reads out of Services ---

std::string join(const std::set<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ",") + text;
  return all;
}

// "ops/np u UDP 10.96.11.10:345 nodePort 30678 ..."
std::set<std::string> spec_lines(const ServiceSpec& spec) {
  std::set<std::string> lines;
  for (const auto& [name, port] : spec.ports) {
    lines.insert(to_text(name.service) + " " + name.port + " " +
                 std::string(to_text(name.protocol)) + " " + to_text(port.cluster_ip) + " " +
                 std::to_string(port.port) + " " + std::to_string(port.node_port) + " lb " +
                 join(texts_of(port.load_balancer_ips)) + " ext " +
                 join(texts_of(port.external_ips)) + " from " + join(texts_of(port.source_ranges)));
  }
  return lines;
}

std::set<std::string> expected_spec_lines(const YAML::Node& ports) {
  std::set<std::string> lines;
  for (const YAML::Node& port : ports) {
    const std::string node_port = text_at(port, "nodePort");
    lines.insert(text_at(port, "service") + " " + text_at(port, "port") + " " +
                 text_at(port, "protocol") + " " + text_at(port, "clusterIP") + " " +
                 text_at(port, "servicePort") + " " + (node_port.empty() ? "0" : node_port) +
                 " lb " + join(set_at(port, "loadBalancerVIPs")) + " ext " +
                 join(set_at(port, "externalIPs")) + " from " +
                 join(set_at(port, "loadBalancerSourceRanges")));
  }
  return lines;
}

class ServicesCases : public DataTest {
 protected:
  std::map<std::string, ServiceSpec> specs() const {
    std::map<std::string, ServiceSpec> all;
    for (const auto& [key, service] : cluster_.services()) {
      all.emplace(key, service_spec(*service, family_at(yaml())));
    }
    return all;
  }
  void check(const YAML::Node& step) {
    const std::map<std::string, ServiceSpec> before = specs_;
    take(step);
    EXPECT_FALSE(cluster_.has_pending());
    specs_ = specs();
    const YAML::Node expect = step["expect"];
    std::set<std::string> lines;
    std::set<std::string> health;
    std::set<std::string> changed;
    for (const auto& [key, spec] : specs_) {
      lines.merge(spec_lines(spec));
      for (const auto& [name, port] : spec.ports) {
        if (port.health_check_node_port == 0) continue;
        health.insert(key + " " + std::to_string(port.health_check_node_port));
      }
      const auto was = before.find(key);
      const auto ports = was == before.end() ? decltype(spec.ports){} : was->second.ports;
      if (ports != spec.ports) changed.insert(key);
    }
    EXPECT_EQ(lines, expected_spec_lines(expect["servicePorts"]));
    if (expect["changedServices"]) {
      EXPECT_EQ(changed, set_at(expect, "changedServices"));
    }
    std::set<std::string> expected_health;
    for (const auto& entry : expect["healthCheckNodePorts"]) {
      expected_health.insert(entry.first.as<std::string>() + " " + entry.second.as<std::string>());
    }
    EXPECT_EQ(health, expected_health);
  }

  std::map<std::string, ServiceSpec> specs_;
};

TEST_P(ServicesCases, GiveTheseServicePorts) {
  check(yaml());
  for (const YAML::Node& step : yaml()["steps"]) check(step);
}

INSTANTIATE_TEST_SUITE_P(Data, ServicesCases, testing::ValuesIn(cases_of("services.yaml")),
                         case_name);

// --- endpointslices.yaml: endpoints by Service port, and what a change concerns ---

class EndpointSlicesCases : public DataTest {
 protected:
  using Endpoints = std::map<ServicePortName, std::vector<EndpointInfo>>;

  Endpoints endpoints() const {
    Endpoints all;
    for (const ServiceName& name : cluster_.state().names()) {
      const Slices* slices = cluster_.state().slices_of(name);
      if (slices) all.merge(all_slice_endpoints(name, *slices, family_at(yaml())));
    }
    return all;
  }
  std::set<std::string> lines_of(const Endpoints& all) const {
    std::set<std::string> lines;
    for (const auto& [name, infos] : all) {
      const std::string key =
          to_text(name.service) + ":" + name.port + "/" + std::string(to_text(name.protocol));
      for (const EndpointInfo& info : infos) {
        lines.insert(key + " " + to_text(info.endpoint) +
                     (is_local(info, cluster_.state().node().node) ? " local" : "") +
                     (info.ready ? " ready" : "") + (info.serving ? " serving" : "") +
                     (info.terminating ? " terminating" : ""));
      }
    }
    return lines;
  }
  static std::set<std::string> expected_lines(const YAML::Node& expect) {
    std::set<std::string> lines;
    for (const auto& entry : expect["endpoints"]) {
      for (const YAML::Node& one : entry.second) {
        std::string line = entry.first.as<std::string>() + " " + text_at(one, "addr");
        for (const char* flag : {"local", "ready", "serving", "terminating"}) {
          if (one[flag].as<bool>()) line += std::string(" ") + flag;
        }
        lines.insert(line);
      }
    }
    return lines;
  }
  void check_local_ready(const YAML::Node& expect) const {
    if (!expect["localReadyEndpoints"]) return;
    std::map<std::string, std::size_t> counts;
    for (const ServiceName& name : cluster_.state().names()) {
      const Slices* slices = cluster_.state().slices_of(name);
      const std::size_t count =
          slices ? local_ready_addresses(*slices, family_at(yaml()), cluster_.state().node().node)
                 : 0;
      if (count != 0) counts[to_text(name)] = count;
    }
    std::map<std::string, std::size_t> expected;
    for (const auto& entry : expect["localReadyEndpoints"]) {
      expected[entry.first.as<std::string>()] = entry.second.as<std::size_t>();
    }
    EXPECT_EQ(counts, expected);
  }
  void check(const YAML::Node& step) {
    const Endpoints before = endpoints();
    const std::set<std::string> changed = take(step);
    const Endpoints after = endpoints();
    const YAML::Node expect = step["expect"];
    EXPECT_EQ(lines_of(after), expected_lines(expect));
    check_local_ready(expect);
    if (expect["changedServices"]) {
      EXPECT_EQ(changed, set_at(expect, "changedServices"));
    }
    if (!expect["conntrackCleanupRequired"]) return;
    bool udp = false;
    for (const Endpoints* all : {&before, &after}) {
      for (const auto& [name, infos] : *all) {
        const bool concerned = changed.contains(to_text(name.service));
        udp = udp || (concerned && name.protocol == Protocol::Udp);
      }
    }
    EXPECT_EQ(udp, expect["conntrackCleanupRequired"].as<bool>());
  }
};

TEST_P(EndpointSlicesCases, GiveTheseEndpoints) {
  set_node(cluster_, yaml()["node"]);
  check(yaml());
  for (const YAML::Node& step : yaml()["steps"]) {
    SCOPED_TRACE(text_at(step, "about"));
    check(step);
  }
}

INSTANTIATE_TEST_SUITE_P(Data, EndpointSlicesCases,
                         testing::ValuesIn(cases_of("endpointslices.yaml")), case_name);

// --- conntrack.yaml: which flows are stale ---

class ConntrackCases : public DataTest {};

TEST_P(ConntrackCases, KeepAndForgetTheseFlows) {
  set_node(cluster_, yaml()["node"]);
  take(yaml());
  const IpFamily family = family_at(yaml());
  NodeModel node;  // every address of the node answers on node ports
  node.node_port_ips = cluster_.state().node().addresses;
  UdpFrontends frontends;
  frontends.apply(udp_changes(family, cluster_.model(family), node, {}));
  for (const YAML::Node& entry : yaml()["entries"]) {
    const bool keep = entry["keep"].as<bool>();
    if (text_at(entry, "proto") != "udp") {
      EXPECT_TRUE(keep);  // others are never looked at: a Conntrack shows UDP flows alone
      continue;
    }
    UdpFlow flow;
    flow.source = {ip("10.64.1.50"), 41000};
    flow.destination = {ip(text_at(entry, "origDst")), entry["origDstPort"].as<std::uint16_t>()};
    flow.reply_source = {ip(text_at(entry, "replySrc")), entry["replySrcPort"].as<std::uint16_t>()};
    flow.reply_destination = flow.source;
    EXPECT_EQ(frontends.is_stale(flow), !keep) << entry;
  }
}

INSTANTIATE_TEST_SUITE_P(Data, ConntrackCases, testing::ValuesIn(cases_of("conntrack.yaml")),
                         case_name);

// --- metrics.yaml: Service ports without a local endpoint ---

class MetricsCases : public DataTest {};

TEST_P(MetricsCases, CountServicePortsWithoutALocalEndpoint) {
  set_node(cluster_, yaml()["node"]);
  take(yaml());
  NoLocalEndpoints counted;
  for (const auto& [name, port] : cluster_.model(IpFamily::Ipv4)) counted.add(port);
  const YAML::Node expect = yaml()["expect"]["sync_proxy_rules_no_local_endpoints_total"];
  EXPECT_EQ(counted.internal, expect["internal"].as<int>());
  EXPECT_EQ(counted.external, expect["external"].as<int>());
}

INSTANTIATE_TEST_SUITE_P(Data, MetricsCases, testing::ValuesIn(cases_of("metrics.yaml")),
                         case_name);

}  // namespace
}  // namespace mkp
