#include "tests/packets/outcome.h"

#include <gtest/gtest.h>

namespace mkp::packets {
namespace {

AddressPort at(std::string_view text) { return parse_address_port(text).value_or(AddressPort{}); }

const Packet kSent{Transport::Tcp, at("203.0.113.7:40000"), at("172.30.0.10:80"), 5};

Seen arrival(Place place, std::string_view source, std::string_view destination) {
  return {place, {.packet = {Transport::Tcp, at(source), at(destination), kSent.tag}}};
}

Seen unreachable(std::uint8_t code) {
  return {Place::Outside,
          {.kind = Sighting::Kind::Unreachable,
           .packet = kSent,
           .error_receiver = kSent.source.ip,
           .error_code = code}};
}

Seen reset() {
  return {Place::Outside,
          {.kind = Sighting::Kind::Reset,
           .packet = {Transport::Tcp, kSent.destination, kSent.source, kSent.tag}}};
}

std::string judged(const std::vector<Seen>& seen) { return to_text(judge(kSent, seen)); }

TEST(Outcome, IsDropWhenNothingIsSeen) { EXPECT_EQ(judged({}), "drop"); }

TEST(Outcome, IsPassWhenNothingIsChanged) {
  EXPECT_EQ(judged({arrival(Place::Outside, "203.0.113.7:40000", "172.30.0.10:80")}), "pass");
}

TEST(Outcome, IsTheNewDestinationOfATranslatedPacket) {
  EXPECT_EQ(judged({arrival(Place::Pods, "203.0.113.7:40000", "10.180.1.5:8080")}),
            "10.180.1.5:8080");
}

TEST(Outcome, IsMasqueradedWhenTheSourceAddressIsAnother) {
  EXPECT_EQ(judged({arrival(Place::Pods, "10.180.1.1:1234", "10.180.1.5:8080")}),
            "10.180.1.5:8080 masqueraded");
}

TEST(Outcome, IsNoPassWhenTheSourceAloneIsChanged) {
  EXPECT_EQ(judged({arrival(Place::Outside, "192.168.0.1:40000", "172.30.0.10:80")}),
            "its source alone was translated, to 192.168.0.1:40000");
}

TEST(Outcome, IsRejectWhenThePortIsUnreachable) { EXPECT_EQ(judged({unreachable(3)}), "reject"); }

TEST(Outcome, IsRejectWhenTheConnectionIsReset) { EXPECT_EQ(judged({reset()}), "reject"); }

TEST(Outcome, IsNoRejectWhenARouterKnowsNoWay) {
  EXPECT_EQ(judged({unreachable(1)}), "unreachable with ICMP code 1");
}

TEST(Outcome, IsNoRejectWhenTheErrorGoesToSomebodyElse) {
  Seen astray = unreachable(3);
  astray.sighting.error_receiver = at("192.168.0.1:1").ip;
  EXPECT_EQ(judged({astray}),
            "its error went to 192.168.0.1 and quotes 203.0.113.7:40000 to 172.30.0.10:80");
}

TEST(Outcome, IsPassWhenTheLocalStackRefusesWhatReachedIt) {
  EXPECT_EQ(judged({arrival(Place::Local, "203.0.113.7:40000", "172.30.0.10:80"), reset()}),
            "pass (and refused by the local stack)");
}

TEST(Outcome, IsUnexplainedWhenAForwardedPacketIsRejectedToo) {
  EXPECT_EQ(judged({arrival(Place::Pods, "203.0.113.7:40000", "10.180.1.5:8080"), reset()}),
            "it came out, and was rejected too");
}

TEST(Outcome, IsUnexplainedWhenThePacketComesOutTwice) {
  const Seen once = arrival(Place::Pods, "203.0.113.7:40000", "10.180.1.5:8080");
  EXPECT_EQ(judged({once, once}), "it came out more than once");
}

TEST(Outcome, IsUnexplainedWhenTheChecksumIsWrong) {
  Seen spoiled = arrival(Place::Pods, "203.0.113.7:40000", "10.180.1.5:8080");
  spoiled.sighting.checksum_ok = false;
  EXPECT_EQ(judged({spoiled}), "it came out with a wrong checksum");
}

TEST(Outcome, IgnoresOtherPackets) {
  Seen other = arrival(Place::Pods, "203.0.113.7:40000", "10.180.1.5:8080");
  other.sighting.packet.tag = kSent.tag + 1;
  const Seen sentinel{Place::Pods,
                      {.kind = Sighting::Kind::Sentinel, .packet = {.tag = kSent.tag}}};
  EXPECT_EQ(judged({other, sentinel}), "drop");
}

}  // namespace
}  // namespace mkp::packets
