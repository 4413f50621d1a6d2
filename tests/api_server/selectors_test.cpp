#include "tests/api_server/selectors.h"

#include <gtest/gtest.h>

#include <string>

namespace mkp::api {
namespace {

// The numbers of the label sets that are selected.
std::string selected(const std::string& selector) {
  static const std::vector<Labels> kSets{
      {}, {{"app", "web"}}, {{"app", "api"}, {"size", "7"}}, {{"tier", ""}}};
  const Result<LabelSelector> parsed = LabelSelector::parse(selector);
  if (!parsed) return parsed.error().what;
  std::string numbers;
  for (std::size_t i = 0; i < kSets.size(); ++i) {
    if (parsed->matches(kSets[i])) numbers += std::to_string(i);
  }
  return numbers;
}

TEST(LabelSelectorTest, SelectsWhatMeetsEveryRequirement) {
  EXPECT_EQ(selected(""), "0123");
  EXPECT_EQ(selected("app"), "12");
  EXPECT_EQ(selected("!app"), "03");
  EXPECT_EQ(selected("app=web"), "1");
  EXPECT_EQ(selected("app == web"), "1");
  EXPECT_EQ(selected("app!=web"), "023");
  EXPECT_EQ(selected("app in (web, api)"), "12");
  EXPECT_EQ(selected("app notin (web,api)"), "03");
  EXPECT_EQ(selected("size>6"), "2");
  EXPECT_EQ(selected("size<7"), "");
  EXPECT_EQ(selected("tier="), "3");
  EXPECT_EQ(selected("app,!size"), "1");
}

TEST(LabelSelectorTest, RefusesWhatIsNone) {
  EXPECT_EQ(selected("app="), "");
  EXPECT_EQ(selected("a b"), "unable to parse requirement: found 'a b'");
  EXPECT_EQ(selected("=web"), "unable to parse requirement: found '=web'");
  EXPECT_EQ(selected("size>big"), "unable to parse requirement: found 'size>big'");
  EXPECT_EQ(selected("app in web"), "unable to parse requirement: found 'app in web'");
  EXPECT_EQ(selected("app,"), "unable to parse requirement: found ''");
}

std::string field_selected(ObjectKind kind, const std::string& selector) {
  const Result<FieldSelector> parsed = FieldSelector::parse(kind, selector);
  if (!parsed) return parsed.error().what;
  return parsed->matches({{"metadata.name", "a,b"}, {"spec.clusterIP", "None"}}) ? "yes" : "no";
}

TEST(FieldSelectorTest, ComparesFieldsAndTakesMissingOnesForEmpty) {
  EXPECT_EQ(field_selected(ObjectKind::Service, ""), "yes");
  EXPECT_EQ(field_selected(ObjectKind::Service, "spec.clusterIP!=None"), "no");
  EXPECT_EQ(field_selected(ObjectKind::Service, "spec.clusterIP==None"), "yes");
  EXPECT_EQ(field_selected(ObjectKind::Service, R"(metadata.name=a\,b,spec.type=)"), "yes");
  EXPECT_EQ(field_selected(ObjectKind::Service, "spec.type!="), "no");
}

TEST(FieldSelectorTest, KnowsWhichFieldsAKindHas) {
  EXPECT_EQ(field_selected(ObjectKind::Service, "spec.ports=80"),
            "field label not supported: spec.ports");
  EXPECT_EQ(field_selected(ObjectKind::EndpointSlice, "addressType=IPv4"),
            R"("addressType" is not a known field selector: only "metadata.name", )"
            R"("metadata.namespace")");
  EXPECT_EQ(field_selected(ObjectKind::Node, "name"),
            "invalid selector: 'name'; can't understand 'name'");
}

}  // namespace
}  // namespace mkp::api
