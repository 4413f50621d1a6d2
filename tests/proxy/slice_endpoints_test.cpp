// What the EndpointSlices of a Service say of one of its ports.
#include "proxy/slice_endpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/proxy/rule_literals.h"

namespace mkp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Ports = std::vector<EndpointSlice::Port>;

EndpointSlice::Endpoint pod(const std::string& address, const std::string& node = "n2") {
  EndpointSlice::Endpoint made;
  made.address = address;
  made.node_name = node;
  return made;
}
EndpointSlice::Endpoint terminating(const std::string& address, const std::string& node = "n2") {
  EndpointSlice::Endpoint made = pod(address, node);
  made.ready = false;
  made.terminating = true;
  return made;
}

EndpointSlice::Port http(std::uint16_t port = 8080) {
  return {.name = "http", .port = port, .protocol = Protocol::Tcp};
}

EndpointSlice slice(std::vector<EndpointSlice::Endpoint> endpoints, Ports ports = {http()}) {
  EndpointSlice made;
  made.metadata.name_space = "shop";
  made.service_name = "web";
  made.ports = std::move(ports);
  made.endpoints = std::move(endpoints);
  return made;
}

class SliceEndpointsTest : public testing::Test {
 protected:
  void put(const std::string& name, EndpointSlice made) {
    made.metadata.name = name;
    slices_[name] = std::make_shared<const EndpointSlice>(std::move(made));
  }

  // "10.180.0.2:8080 on n2", with what is not as for a pod that runs.
  static std::string text(const EndpointInfo& info) {
    return to_text(info.endpoint) + " on " + info.node_name + (info.ready ? "" : " unready") +
           (info.serving ? "" : " not serving") + (info.terminating ? " terminating" : "");
  }
  std::vector<std::string> endpoints(const std::string& port = "http",
                                     Protocol protocol = Protocol::Tcp,
                                     IpFamily family = IpFamily::Ipv4) const {
    std::vector<std::string> texts;
    for (const EndpointInfo& info : slice_endpoints(slices_, port, protocol, family)) {
      texts.push_back(text(info));
    }
    return texts;
  }
  std::vector<std::string> problems(IpFamily family = IpFamily::Ipv4) const {
    return slice_problems(slices_, family);
  }

  Slices slices_;
};

// --- ports ---

TEST_F(SliceEndpointsTest, APortIsFoundByNameAndProtocolAndNeverByNumber) {
  put("web-1",
      slice({pod("10.180.0.2")}, {http(), {.name = "dns", .port = 53, .protocol = Protocol::Udp}}));
  EXPECT_THAT(endpoints(), ElementsAre("10.180.0.2:8080 on n2"));
  EXPECT_THAT(endpoints("dns", Protocol::Udp), ElementsAre("10.180.0.2:53 on n2"));
  EXPECT_THAT(endpoints("dns"), IsEmpty());
  EXPECT_THAT(endpoints("8080"), IsEmpty());
  EXPECT_THAT(endpoints(""), IsEmpty());
}

TEST_F(SliceEndpointsTest, AnEmptyPortNameIsAName) {
  put("web-1", slice({pod("10.180.0.2")}, {{.name = "", .port = 8080, .protocol = Protocol::Tcp}}));
  EXPECT_THAT(endpoints(""), ElementsAre("10.180.0.2:8080 on n2"));
  EXPECT_THAT(endpoints(), IsEmpty());
}

TEST_F(SliceEndpointsTest, SlicesMayOfferOnePortUnderDifferentNumbers) {
  put("web-1", slice({pod("10.180.0.2")}, {http(8080)}));
  put("web-2", slice({pod("10.180.0.2"), pod("10.180.0.3")}, {http(9090)}));
  EXPECT_THAT(endpoints(), ElementsAre("10.180.0.2:8080 on n2", "10.180.0.2:9090 on n2",
                                       "10.180.0.3:9090 on n2"));
}

TEST_F(SliceEndpointsTest, PortsWithoutANameOrANumberAreReportedAndNotUsed) {
  put("web-1", slice({pod("10.180.0.2")}, {{.name = std::nullopt, .port = 8080},
                                           {.name = "http", .port = std::nullopt},
                                           {.name = "odd", .port = 0},
                                           {.name = "good", .port = 7}}));
  EXPECT_THAT(endpoints(), IsEmpty());
  EXPECT_THAT(endpoints("odd"), IsEmpty());
  EXPECT_THAT(endpoints("good"), ElementsAre("10.180.0.2:7 on n2"));
  EXPECT_THAT(all_slice_endpoints({"shop", "web"}, slices_, IpFamily::Ipv4), testing::SizeIs(1));
  EXPECT_THAT(problems(),
              ElementsAre("EndpointSlice shop/web-1: ports[0].name is missing, so this port of the "
                          "endpoints gets no traffic",
                          "EndpointSlice shop/web-1: ports[1].port is missing or 0, so this port "
                          "of the endpoints gets no traffic",
                          "EndpointSlice shop/web-1: ports[2].port is missing or 0, so this port "
                          "of the endpoints gets no traffic"));
}

// --- addresses ---

TEST_F(SliceEndpointsTest, AddressesAreReadLenientlyAndSortedAsNumbers) {
  put("web-1", slice({pod("10.180.0.10"), pod("010.180.000.002"), pod("::ffff:10.180.0.3")}));
  EXPECT_THAT(endpoints(), ElementsAre("10.180.0.2:8080 on n2", "10.180.0.3:8080 on n2",
                                       "10.180.0.10:8080 on n2"));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(SliceEndpointsTest, OneAddressInTwoSpellingsIsOneEndpoint) {
  put("web-1", slice({pod("10.180.0.2"), pod("::ffff:10.180.0.2"), pod("10.180.0.02")}));
  EXPECT_THAT(endpoints(), ElementsAre("10.180.0.2:8080 on n2"));
}

TEST_F(SliceEndpointsTest, AnAddressThatNoPodCanHaveIsReportedAndTheOthersAreUsed) {
  put("web-1", slice({pod("10.180.0"), pod(""), pod("fd00::2"), pod("127.0.0.1"), pod("0.0.0.0"),
                      pod("224.0.0.1"), pod("10.180.0.2")}));
  EXPECT_THAT(endpoints(), ElementsAre("10.180.0.2:8080 on n2"));
  const auto sentence = [](int index, const std::string& address) {
    return "EndpointSlice shop/web-1: endpoints[" + std::to_string(index) + "].addresses[0]: \"" +
           address + "\" is no IPv4 address that a pod could have; this endpoint gets no traffic";
  };
  EXPECT_THAT(problems(), ElementsAre(sentence(0, "10.180.0"), sentence(1, ""),
                                      sentence(2, "fd00::2"), sentence(3, "127.0.0.1"),
                                      sentence(4, "0.0.0.0"), sentence(5, "224.0.0.1")));
}

TEST_F(SliceEndpointsTest, TheTypeOfTheSliceTellsTheFamily) {
  EndpointSlice six = slice({pod("fd00:180::2"), pod("10.180.0.9")});
  six.address_type = AddressType::Ipv6;
  put("web-6", six);
  put("web-4", slice({pod("10.180.0.2")}));
  EXPECT_THAT(endpoints(), ElementsAre("10.180.0.2:8080 on n2"));
  EXPECT_THAT(endpoints("http", Protocol::Tcp, IpFamily::Ipv6),
              ElementsAre("[fd00:180::2]:8080 on n2"));
  EXPECT_THAT(problems(IpFamily::Ipv4), IsEmpty());
  EXPECT_THAT(problems(IpFamily::Ipv6), testing::SizeIs(1));
}

// --- two entries for one endpoint ---

TEST_F(SliceEndpointsTest, OfTwoTheOneThatRunsCountsWhicheverSliceComesFirst) {
  put("web-1", slice({pod("10.180.0.2", "n1"), terminating("10.180.0.3", "n2")}));
  put("web-2", slice({terminating("10.180.0.2", "n2"), pod("10.180.0.3", "n1")}));
  EXPECT_THAT(endpoints(), ElementsAre("10.180.0.2:8080 on n1", "10.180.0.3:8080 on n1"));
}

TEST_F(SliceEndpointsTest, OfTwoThatRunTheOneInTheLaterSliceByNameCounts) {
  put("web-b", slice({pod("10.180.0.2", "n2")}));
  put("web-a", slice({pod("10.180.0.2", "n1")}));
  EXPECT_THAT(endpoints(), ElementsAre("10.180.0.2:8080 on n2"));
}

TEST_F(SliceEndpointsTest, OfTwoThatTerminateTheFirstByNameOfItsSliceCounts) {
  put("web-b", slice({terminating("10.180.0.2", "n2")}));
  put("web-a", slice({terminating("10.180.0.2", "n1")}));
  EXPECT_THAT(endpoints(), ElementsAre("10.180.0.2:8080 on n1 unready terminating"));
}

TEST_F(SliceEndpointsTest, OfTwoInOneSliceTheLaterCounts) {
  EndpointSlice::Endpoint unready = pod("10.180.0.2", "n1");
  unready.ready = false;
  put("web-1", slice({pod("10.180.0.2"), unready}));
  EXPECT_THAT(endpoints(), ElementsAre("10.180.0.2:8080 on n1 unready"));
}

TEST_F(SliceEndpointsTest, AnEndpointThatMovesToAnotherSliceStaysOne) {
  put("web-1", slice({pod("10.180.0.2")}));
  const std::vector<std::string> before = endpoints();
  put("web-2", slice({pod("10.180.0.2")}));
  EXPECT_EQ(endpoints(), before);
  slices_.erase("web-1");
  EXPECT_EQ(endpoints(), before);
}

// --- what else an entry says ---

TEST_F(SliceEndpointsTest, ConditionsNodeAndHintsAreTakenOver) {
  EndpointSlice::Endpoint full = terminating("10.180.0.2", "n1");
  full.serving = false;
  full.zone_hints = {"za", "zb"};
  full.node_hints = {"n1"};
  put("web-1", slice({full}));
  EndpointInfo expected;
  expected.endpoint = endpoint("10.180.0.2:8080");
  expected.ready = false;
  expected.serving = false;
  expected.terminating = true;
  expected.node_name = "n1";
  expected.zone_hints = {"za", "zb"};
  expected.node_hints = {"n1"};
  EXPECT_THAT(slice_endpoints(slices_, "http", Protocol::Tcp, IpFamily::Ipv4),
              ElementsAre(expected));
}

// --- of all ports together ---

TEST_F(SliceEndpointsTest, AllPortsAreThoseWithAnEndpoint) {
  put("web-1",
      slice({pod("10.180.0.2")}, {http(), {.name = "dns", .port = 53, .protocol = Protocol::Udp}}));
  put("web-2", slice({}, {{.name = "empty", .port = 1}}));
  std::vector<std::string> names;
  for (const auto& [name, infos] : all_slice_endpoints({"shop", "web"}, slices_, IpFamily::Ipv4)) {
    names.push_back(to_text(name) + "/" + std::string(to_text(name.protocol)));
  }
  EXPECT_THAT(names, ElementsAre("shop/web:dns/UDP", "shop/web:http/TCP"));
}

TEST_F(SliceEndpointsTest, LocalReadyAddressesAreCountedOnceOverAllPorts) {
  NodeInfo node;
  node.name = "n1";
  put("web-1", slice({pod("10.180.0.2", "n1"), pod("10.180.0.3", "n2"),
                      terminating("10.180.0.4", "n1"), pod("10.180.0.5", "")},
                     {http(), {.name = "dns", .port = 53, .protocol = Protocol::Udp}}));
  put("web-2", slice({pod("10.180.0.2", "n1"), pod("10.180.0.6", "n1")}, {http(9090)}));
  EXPECT_EQ(local_ready_addresses(slices_, IpFamily::Ipv4, node), 2U);
  EXPECT_EQ(local_ready_addresses(slices_, IpFamily::Ipv6, node), 0U);
  EXPECT_EQ(local_ready_addresses(slices_, IpFamily::Ipv4, NodeInfo{}), 0U);
}

}  // namespace
}  // namespace mkp
