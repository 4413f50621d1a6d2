#include "proxy/frontend_claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/proxy/rule_literals.h"

namespace mkp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class FrontendClaimsTest : public testing::Test {
 protected:
  static RuleModel ports(std::string_view service) {
    return {{port_name(service), cluster_port("172.30.0.10:80", {})}};
  }
  std::set<ServiceName> claim(std::string_view service, std::int64_t created) {
    return claims_.claim({"default", std::string(service)}, created, ports(service));
  }
  std::set<ServiceName> withdraw(std::string_view service) {
    return claims_.claim({"default", std::string(service)}, 0, {});
  }
  bool owns(std::string_view service) {
    RuleModel mine = ports(service);
    const std::vector<std::string> lost = claims_.keep_owned(mine);
    EXPECT_EQ(lost.empty(), !mine.begin()->second.frontends.empty());
    return lost.empty();
  }

  FrontendClaims claims_;
};

TEST_F(FrontendClaimsTest, TheOlderServiceOwnsAFrontendWhicheverCameFirst) {
  claim("young", 200);
  EXPECT_TRUE(owns("young"));
  EXPECT_THAT(claim("old", 100), ElementsAre(ServiceName{"default", "young"}));
  EXPECT_TRUE(owns("old"));
  EXPECT_FALSE(owns("young"));
}

TEST_F(FrontendClaimsTest, OfTwoThatAreEquallyOldTheFirstNameOwns) {
  claim("b", 100);
  claim("a", 100);
  EXPECT_TRUE(owns("a"));
  EXPECT_FALSE(owns("b"));
}

TEST_F(FrontendClaimsTest, TheOtherTakesOverWhenTheOwnerGoes) {
  claim("old", 100);
  claim("young", 200);
  EXPECT_THAT(withdraw("old"), ElementsAre(ServiceName{"default", "young"}));
  EXPECT_TRUE(owns("young"));
}

TEST_F(FrontendClaimsTest, AFrontendOfOneServiceTouchesNobodyElse) {
  EXPECT_THAT(claim("web", 100), IsEmpty());
  EXPECT_THAT(claim("web", 100), IsEmpty());
  EXPECT_THAT(withdraw("web"), IsEmpty());
}

TEST_F(FrontendClaimsTest, WhoLosesIsToldToWhom) {
  claim("old", 100);
  claim("young", 200);
  RuleModel mine = ports("young");
  EXPECT_THAT(claims_.keep_owned(mine),
              ElementsAre("Service default/young:http: 172.30.0.10:80/TCP belongs to Service "
                          "default/old:http, which is older or, of the same age, comes first by "
                          "name; this one gets no traffic there"));
}

}  // namespace
}  // namespace mkp
