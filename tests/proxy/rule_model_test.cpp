#include "proxy/rule_model.h"

#include <gtest/gtest.h>

#include "tests/proxy/rule_literals.h"

namespace mkp {
namespace {

ServicePort web(const std::vector<std::string_view>& to) {
  return cluster_port("172.30.0.10:80", to);
}

TEST(RuleModelTest, EqualModelsHaveNoDiff) {
  const RuleModel model{{port_name("web"), web({"10.180.0.2:8080"})}};
  EXPECT_EQ(to_text(diff(model, model)), "");
}

TEST(RuleModelTest, ADiffSaysWhatWasAndWhatShallBeInTheOrderOfNames) {
  const RuleModel applied{{port_name("gone"), web({})},
                          {port_name("web"), web({"10.180.0.2:8080"})}};
  const RuleModel desired{{port_name("api"), web({"10.180.0.9:1"})},
                          {port_name("web"), web({"10.180.0.2:8080", "10.180.0.3:8080"})}};
  EXPECT_EQ(
      to_text(diff(applied, desired)),
      "+ default/api:http TCP: 172.30.0.10:80/TCP -> 10.180.0.9:1; hairpin -\n"
      "- default/gone:http TCP: 172.30.0.10:80/TCP -> -; hairpin -\n"
      "- default/web:http TCP: 172.30.0.10:80/TCP -> 10.180.0.2:8080; hairpin -\n"
      "+ default/web:http TCP: 172.30.0.10:80/TCP -> 10.180.0.2:8080 10.180.0.3:8080; hairpin -\n");
}

TEST(RuleModelTest, NamesReadAsKubernetesWritesThem) {
  EXPECT_EQ(to_text(ServicePortName{{"shop", "web"}, "http", Protocol::Tcp}), "shop/web:http");
  EXPECT_EQ(to_text(ServicePortName{{"shop", "web"}, "", Protocol::Tcp}), "shop/web");
  EXPECT_EQ(to_text(endpoint("[fd00::7]:8080")), "[fd00::7]:8080");
  EXPECT_EQ(to_text(frontend("172.30.0.10:53", Protocol::Udp)), "172.30.0.10:53/UDP");
  EXPECT_EQ(to_text(Frontend{std::nullopt, Protocol::Sctp, 30080}), "node port 30080/SCTP");
}

}  // namespace
}  // namespace mkp
