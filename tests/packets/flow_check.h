#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "runner/result.h"
#include "tests/packets/conformance_case.h"
#include "tests/packets/simulated_node.h"

namespace mkp::packets {

// Sends packets of a flow until what is expected is proved or refuted. Keeps what the flows of one
// case have in common: which source ports were used, and which client a Service port has sent
// where.
class FlowCheck {
 public:
  explicit FlowCheck(SimulatedNode& node, Mode mode) : node_(node), mode_(mode) {}

  // Nothing when the flow is as expected; otherwise what happened instead. `service_port` names the
  // Service port that the flow goes to: what affinity is remembered for. A failure is the harness'
  // own.
  Result<std::optional<std::string>> mismatch(const Flow& flow, const std::string& service_port);

 private:
  using Mismatch = Result<std::optional<std::string>>;
  Result<Outcome> probe(const Flow& flow, const IpAddress& from);
  IpAddress source_of(const Flow& flow) const;
  // What has no affinity any more.
  void forget(const std::string& service_port);
  Mismatch translated(const Flow& flow);
  Mismatch sticky(const Flow& flow, const std::string& service_port);
  // The further clients that show that each expected endpoint can be chosen.
  Mismatch other_clients(const Flow& flow, const IpAddress& first, std::set<AddressPort> missing);
  Mismatch untranslated(const Flow& flow, Outcome::Kind expected);
  Mismatch refused(const Flow& flow);
  Mismatch accepted(const Flow& flow);

  SimulatedNode& node_;
  Mode mode_;
  std::uint16_t next_port_ = 20'000;
  std::uint32_t next_tag_ = 0x5a000001;
  std::map<std::pair<IpAddress, std::string>, AddressPort> affinity_;
};

}  // namespace mkp::packets
