#include "tests/packets/outcome.h"

#include <fmt/format.h>

namespace mkp::packets {
namespace {

// ICMP code 3 and ICMPv6 code 4: port unreachable, which is what `reject` means by itself.
constexpr std::uint8_t kPortUnreachable = 3;
constexpr std::uint8_t kPortUnreachableV6 = 4;

Outcome unexplained(std::string why) { return {.why = std::move(why)}; }

Outcome judge_arrival(const Packet& sent, const Sighting& arrived) {
  if (!arrived.checksum_ok) return unexplained("it came out with a wrong checksum");
  const bool masqueraded = arrived.packet.source.ip != sent.source.ip;
  if (arrived.packet.destination != sent.destination) {
    return {.kind = Outcome::Kind::Translated,
            .destination = arrived.packet.destination,
            .masqueraded = masqueraded};
  }
  if (arrived.packet.source != sent.source) {
    return unexplained("its source alone was translated, to " + to_text(arrived.packet.source));
  }
  return {.kind = Outcome::Kind::Passed};
}

Outcome judge_refusal(const Packet& sent, const Sighting& refusal) {
  if (!refusal.checksum_ok) return unexplained("it was rejected with a wrong checksum");
  if (refusal.kind == Sighting::Kind::Reset) {
    if (refusal.packet.source == sent.destination && refusal.packet.destination == sent.source) {
      return {.kind = Outcome::Kind::Rejected};
    }
    return unexplained(fmt::format("it was reset by {}, towards {}", to_text(refusal.packet.source),
                                   to_text(refusal.packet.destination)));
  }
  const std::uint8_t expected =
      sent.source.ip.family == IpFamily::Ipv4 ? kPortUnreachable : kPortUnreachableV6;
  if (refusal.error_code != expected) {
    return unexplained(fmt::format("unreachable with ICMP code {}", refusal.error_code));
  }
  if (refusal.error_receiver != sent.source.ip || refusal.packet.source != sent.source ||
      refusal.packet.destination != sent.destination) {
    return unexplained(fmt::format("its error went to {} and quotes {} to {}",
                                   to_text(refusal.error_receiver), to_text(refusal.packet.source),
                                   to_text(refusal.packet.destination)));
  }
  return {.kind = Outcome::Kind::Rejected};
}

}  // namespace

std::string to_text(const Outcome& outcome) {
  switch (outcome.kind) {
    case Outcome::Kind::Translated:
      return to_text(outcome.destination) + (outcome.masqueraded ? " masqueraded" : "");
    case Outcome::Kind::Passed:
      return outcome.refused ? "pass (and refused by the local stack)" : "pass";
    case Outcome::Kind::Rejected:
      return "reject";
    case Outcome::Kind::Dropped:
      return "drop";
    case Outcome::Kind::Unexplained:
      return outcome.why;
  }
  return "";
}

Outcome judge(const Packet& sent, const std::vector<Seen>& seen) {
  std::vector<Seen> arrivals;
  std::vector<Sighting> refusals;
  for (const Seen& one : seen) {
    if (one.sighting.kind == Sighting::Kind::Sentinel) continue;
    if (one.sighting.packet.tag != sent.tag) continue;
    if (one.sighting.kind == Sighting::Kind::Opening) {
      arrivals.push_back(one);
    } else {
      refusals.push_back(one.sighting);
    }
  }
  if (arrivals.size() > 1) return unexplained("it came out more than once");
  if (arrivals.size() == 1) {
    if (arrivals[0].place != Place::Local && !refusals.empty()) {
      return unexplained("it came out, and was rejected too");
    }
    Outcome outcome = judge_arrival(sent, arrivals[0].sighting);
    outcome.refused = outcome.kind == Outcome::Kind::Passed && !refusals.empty();
    return outcome;
  }
  if (refusals.size() > 1) return unexplained("it was rejected more than once");
  if (refusals.size() == 1) return judge_refusal(sent, refusals[0]);
  return {.kind = Outcome::Kind::Dropped};
}

}  // namespace mkp::packets
