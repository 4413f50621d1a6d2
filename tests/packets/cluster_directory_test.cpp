#include "tests/packets/cluster_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace mkp::packets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kWeb = R"(kind: Service
metadata: {namespace: shop, name: web}
spec:
  clusterIP: 172.30.0.10
  clusterIPs: [172.30.0.10, "fd30::10"]
  externalIPs: [203.0.113.33]
  internalTrafficPolicy: Local
  ports:
  - {name: http, port: 80, nodePort: 30080}
  - {name: dns, protocol: UDP, port: 53}
status: {loadBalancer: {ingress: [{ip: 203.0.113.44}]}}
)";

constexpr const char* kApi = R"(kind: Service
metadata: {namespace: shop, name: api}
spec: {clusterIP: 172.30.0.11, ports: [{name: http, port: 80}]}
)";

class ClusterDirectoryTest : public testing::Test {
 protected:
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(cluster_->manifests())) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  static std::string text_of(const std::filesystem::path& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  std::string manifest(const std::string& name) const {
    return text_of(cluster_->manifests() / name);
  }

  std::string found(std::string_view destination, Transport transport = Transport::Tcp) const {
    return cluster_->find(parse_address_port(destination).value_or(AddressPort{}), transport)
        .value_or("");
  }

  std::unique_ptr<ClusterDirectory> cluster_ = ClusterDirectory::create().value();
};

TEST_F(ClusterDirectoryTest, KeepsEachObjectInAFileAsItWasWritten) {
  ASSERT_TRUE(cluster_->apply(std::string(kWeb) + "---\n" + kApi));
  EXPECT_THAT(files(), ElementsAre("Service_shop_api.yaml", "Service_shop_web.yaml"));
  EXPECT_EQ(manifest("Service_shop_web.yaml"), kWeb);
}

TEST_F(ClusterDirectoryTest, DeletesByKindAndName) {
  ASSERT_TRUE(cluster_->apply(std::string(kWeb) + "---\n" + kApi));
  ASSERT_TRUE(cluster_->remove("kind: Service\nmetadata: {namespace: shop, name: web}\n"));
  EXPECT_THAT(files(), ElementsAre("Service_shop_api.yaml"));
}

TEST_F(ClusterDirectoryTest, DoesNotDeleteWhatIsNotThere) { EXPECT_FALSE(cluster_->remove(kWeb)); }

TEST_F(ClusterDirectoryTest, PutsOneServiceCidrOfEachFamilyInAnObject) {
  ASSERT_TRUE(cluster_->set_service_cidrs({"172.30.0.0/16", "172.31.0.0/16", "fd30::/112"}));
  EXPECT_THAT(files(), ElementsAre("ServiceCIDR__range-0.yaml", "ServiceCIDR__range-1.yaml"));
  EXPECT_THAT(manifest("ServiceCIDR__range-0.yaml"),
              HasSubstr("cidrs: [\"172.30.0.0/16\", \"fd30::/112\"]"));
  EXPECT_THAT(manifest("ServiceCIDR__range-1.yaml"), HasSubstr("cidrs: [\"172.31.0.0/16\"]"));
}

TEST_F(ClusterDirectoryTest, ReplacesAllServiceCidrs) {
  ASSERT_TRUE(cluster_->set_service_cidrs({"172.30.0.0/16"}));
  ASSERT_TRUE(cluster_->set_service_cidrs({}));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(ClusterDirectoryTest, GivesTheNodeItsAddressesInOrderAndItsZoneAndPodRanges) {
  NodeUnderTest node{"worker-1", {}, "east", {"10.180.1.0/24", "fd18::/80"}};
  for (const char* ip : {"fd00::1", "192.168.0.1", "192.168.1.1"}) {
    node.ips.push_back(parse_ip_address(ip).value_or(IpAddress{}));
  }
  ASSERT_TRUE(cluster_->write_node(node));
  const std::string text = manifest("Node__worker-1.yaml");
  EXPECT_THAT(text, HasSubstr("topology.kubernetes.io/zone: \"east\""));
  EXPECT_THAT(text, HasSubstr("podCIDRs: [\"10.180.1.0/24\", \"fd18::/80\"]"));
  EXPECT_THAT(text, HasSubstr("  - {type: InternalIP, address: \"fd00::1\"}\n"
                              "  - {type: InternalIP, address: \"192.168.0.1\"}\n"
                              "  - {type: InternalIP, address: \"192.168.1.1\"}\n"));
}

TEST_F(ClusterDirectoryTest, WritesTheSettingsAsAConfiguration) {
  const ProxySettings settings{.cluster_cidr = "10.180.0.0/16",
                               .detect_local_mode = "InterfaceNamePrefix",
                               .interface_name_prefix = "veth",
                               .masquerade_bit = 15,
                               .node_port_addresses = std::vector<std::string>{"192.168.0.0/24"},
                               .localhost_node_ports = false,
                               .masquerade_all = true,
                               .conntrack_tcp_be_liberal = true};
  ASSERT_TRUE(cluster_->write_config(settings, Mode::Nftables, "worker-1"));
  EXPECT_EQ(text_of(cluster_->config()),
            "apiVersion: kubeproxy.config.k8s.io/v1alpha1\n"
            "kind: KubeProxyConfiguration\n"
            "mode: nftables\n"
            "hostnameOverride: worker-1\n"
            "detectLocalMode: InterfaceNamePrefix\n"
            "clusterCIDR: \"10.180.0.0/16\"\n"
            "detectLocal: {bridgeInterface: \"\", interfaceNamePrefix: \"veth\"}\n"
            "nftables: {masqueradeAll: true, masqueradeBit: 15, minSyncPeriod: 0s}\n"
            "iptables: {masqueradeAll: true, masqueradeBit: 15, localhostNodePorts: false}\n"
            "conntrack: {maxPerCore: 0, tcpBeLiberal: true}\n"
            "nodePortAddresses: [\"192.168.0.0/24\"]\n");
}

TEST_F(ClusterDirectoryTest, FindsTheServicePortBehindEachOfItsAddresses) {
  ASSERT_TRUE(cluster_->apply(std::string(kWeb) + "---\n" + kApi));
  EXPECT_EQ(found("172.30.0.10:80"), "Service_shop_web.yaml:http/tcp");
  EXPECT_EQ(found("[fd30::10]:80"), "Service_shop_web.yaml:http/tcp");
  EXPECT_EQ(found("203.0.113.33:80"), "Service_shop_web.yaml:http/tcp");
  EXPECT_EQ(found("203.0.113.44:80"), "Service_shop_web.yaml:http/tcp");
  EXPECT_EQ(found("192.168.0.1:30080"), "Service_shop_web.yaml:http/tcp");
  EXPECT_EQ(found("172.30.0.11:80"), "Service_shop_api.yaml:http/tcp");
}

TEST_F(ClusterDirectoryTest, FindsNoServicePortForAnotherPortOrProtocol) {
  ASSERT_TRUE(cluster_->apply(kWeb));
  EXPECT_EQ(found("172.30.0.10:81"), "");
  EXPECT_EQ(found("172.30.0.10:80", Transport::Udp), "");
  EXPECT_EQ(found("172.30.0.10:53", Transport::Udp), "Service_shop_web.yaml:dns/udp");
}

}  // namespace
}  // namespace mkp::packets
