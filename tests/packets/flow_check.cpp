#include "tests/packets/flow_check.h"

#include <fmt/format.h>

#include <set>

#include "tests/packets/program.h"

namespace mkp::packets {
namespace {

// Enough to meet an endpoint that is chosen once in 24 times, but for one run in 100,000 millions.
constexpr int kMostTries = 600;
// Tries after which a wrong endpoint that is as likely as the right one has shown itself.
constexpr int kLeastTries = 16;
constexpr int kTriesWithoutChoice = 3;

// Nothing when the outcome is one of those expected.
std::optional<std::string> compare(const Flow& flow, const Outcome& outcome) {
  if (outcome.kind == Outcome::Kind::Translated) {
    const auto expected = flow.masquerade.find(outcome.destination);
    if (expected != flow.masquerade.end() && expected->second == outcome.masqueraded) {
      return std::nullopt;
    }
  }
  return to_text(outcome);
}

// Other software on the node: puts a mark on every packet that comes or is sent, and drops what
// leaves with another one.
class ForeignMark {
 public:
  static Result<std::unique_ptr<ForeignMark>> set(std::uint32_t mark) {
    const Result<std::string> loaded = run_program(
        {"nft", "-f", "-"},
        fmt::format(
            "table inet foreign-mark {{\n"
            "chain in {{\ntype filter hook prerouting priority -300\nmeta mark set {0}\n}}\n"
            "chain out {{\ntype filter hook output priority -300\nmeta mark set {0}\n}}\n"
            "chain end {{\ntype filter hook postrouting priority 300\nmeta mark != {0} "
            "drop\n}}\n}}\n",
            mark));
    if (!loaded) return tl::unexpected(loaded.error());
    return std::make_unique<ForeignMark>();
  }
  ~ForeignMark() {
    // A failure shows in the next flow that brings a mark.
    [[maybe_unused]] const Result<std::string> removed =
        run_program({"nft", "delete table inet foreign-mark"});
  }
  ForeignMark() = default;
  ForeignMark(const ForeignMark&) = delete;
  ForeignMark& operator=(const ForeignMark&) = delete;
};

}  // namespace

IpAddress FlowCheck::source_of(const Flow& flow) const {
  return flow.from.value_or(node_.primary_address(flow.to.ip.family));
}

Result<Outcome> FlowCheck::probe(const Flow& flow, const IpAddress& from) {
  const std::uint16_t port = flow.source_port ? *flow.source_port : next_port_++;
  return node_.probe({flow.transport, {from, port}, flow.to, next_tag_++, flow.invalid_state});
}

FlowCheck::Mismatch FlowCheck::mismatch(const Flow& flow, const std::string& service_port) {
  std::unique_ptr<SimulatedNode::ExtraAddress> own_address;
  if (flow.from == flow.to.ip) {
    Result<std::unique_ptr<SimulatedNode::ExtraAddress>> added = node_.add_address(flow.to.ip);
    if (!added) return tl::unexpected(added.error());
    own_address = std::move(*added);
  }
  std::unique_ptr<ForeignMark> foreign;
  if (flow.mark) {
    Result<std::unique_ptr<ForeignMark>> set = ForeignMark::set(*flow.mark);
    if (!set) return tl::unexpected(set.error());
    foreign = std::move(*set);
  }
  switch (flow.expect.kind) {
    case Expectation::Kind::Translated:
      if (!flow.sticky) forget(service_port);
      return flow.sticky ? sticky(flow, service_port) : translated(flow);
    case Expectation::Kind::Reject:
      return service_port.empty() ? refused(flow) : untranslated(flow, Outcome::Kind::Rejected);
    case Expectation::Kind::Drop:
      return untranslated(flow, Outcome::Kind::Dropped);
    case Expectation::Kind::Pass:
      return untranslated(flow, Outcome::Kind::Passed);
    case Expectation::Kind::Accept:
      return accepted(flow);
  }
  return fail(Errc::Invalid, "no such expectation");
}

void FlowCheck::forget(const std::string& service_port) {
  std::erase_if(affinity_, [&](const auto& pin) { return pin.first.second == service_port; });
}

FlowCheck::Mismatch FlowCheck::translated(const Flow& flow) {
  std::set<AddressPort> missing = flow.expect.endpoints;
  // Packets of one flow all meet the choice that the first one met.
  const int most = flow.source_port ? 1 : kMostTries;
  for (int tries = 0; tries < most && (tries < kLeastTries || !missing.empty()); ++tries) {
    const Result<Outcome> outcome = probe(flow, source_of(flow));
    if (!outcome) return tl::unexpected(outcome.error());
    if (std::optional<std::string> wrong = compare(flow, *outcome)) return wrong;
    missing.erase(outcome->destination);
  }
  if (missing.empty() || flow.source_port) return std::nullopt;
  return fmt::format("never {} in {} tries", to_text(*missing.begin()), most);
}

FlowCheck::Mismatch FlowCheck::sticky(const Flow& flow, const std::string& service_port) {
  const IpAddress from = source_of(flow);
  const std::pair client(from, service_port);
  std::set<AddressPort> missing = flow.expect.endpoints;
  for (int tries = 0; tries < kLeastTries; ++tries) {
    const Result<Outcome> outcome = probe(flow, from);
    if (!outcome) return tl::unexpected(outcome.error());
    if (std::optional<std::string> wrong = compare(flow, *outcome)) return wrong;
    const auto known = affinity_.find(client);
    const bool still_there =
        known != affinity_.end() && flow.expect.endpoints.contains(known->second);
    if (still_there && known->second != outcome->destination) {
      return fmt::format("{} after {}: no affinity", to_text(outcome->destination),
                         to_text(known->second));
    }
    affinity_[client] = outcome->destination;
    missing.erase(outcome->destination);
  }
  return flow.from ? other_clients(flow, from, missing) : std::nullopt;
}

FlowCheck::Mismatch FlowCheck::other_clients(const Flow& flow, const IpAddress& first,
                                             std::set<AddressPort> missing) {
  for (int other = 1; other < 64 && !missing.empty(); ++other) {
    IpAddress from = first;
    std::uint8_t& last = from.bytes[from.size() - 1];
    last = static_cast<std::uint8_t>(last ^ other);
    // An endpoint that meets itself is masqueraded, which the flow's expectation does not speak of.
    if (flow.expect.endpoints.lower_bound({from, 0}) !=
        flow.expect.endpoints.upper_bound({from, 65535})) {
      continue;
    }
    const Result<Outcome> outcome = probe(flow, from);
    if (!outcome) return tl::unexpected(outcome.error());
    if (std::optional<std::string> wrong = compare(flow, *outcome)) return wrong;
    missing.erase(outcome->destination);
  }
  if (missing.empty()) return std::nullopt;
  return fmt::format("never {} for any client", to_text(*missing.begin()));
}

FlowCheck::Mismatch FlowCheck::untranslated(const Flow& flow, Outcome::Kind expected) {
  const int tries = flow.source_port ? 1 : kTriesWithoutChoice;
  for (int done = 0; done < tries; ++done) {
    const Result<Outcome> outcome = probe(flow, source_of(flow));
    if (!outcome) return tl::unexpected(outcome.error());
    if (outcome->kind != expected) return to_text(*outcome);
  }
  return std::nullopt;
}

// Where no Service port can be meant, it need not be our rules that refuse.
FlowCheck::Mismatch FlowCheck::refused(const Flow& flow) {
  const Result<Outcome> outcome = probe(flow, source_of(flow));
  if (!outcome) return tl::unexpected(outcome.error());
  if (outcome->kind == Outcome::Kind::Rejected || outcome->refused) return std::nullopt;
  return to_text(*outcome);
}

// An explicit accept shows when the same chain goes on to drop the packet, and it passes all the
// same.
FlowCheck::Mismatch FlowCheck::accepted(const Flow& flow) {
  if (mode_ != Mode::Iptables) return "only iptables mode can accept ahead of later drops";
  const auto later_drop = [&flow](const std::string& verb) {
    return run_program({flow.to.ip.family == IpFamily::Ipv4 ? "iptables" : "ip6tables", "-w", verb,
                        "INPUT", "-p", std::string(to_text(flow.transport)), "--dport",
                        std::to_string(flow.to.port), "-j", "DROP"});
  };
  if (const Result<std::string> added = later_drop("-A"); !added) {
    return tl::unexpected(added.error());
  }
  Mismatch found = untranslated(flow, Outcome::Kind::Passed);
  if (const Result<std::string> removed = later_drop("-D"); !removed) {
    return tl::unexpected(removed.error());
  }
  return found;
}

}  // namespace mkp::packets
