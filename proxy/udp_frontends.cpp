#include "proxy/udp_frontends.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

namespace mkp {
namespace {

bool has(const std::vector<Endpoint>& sorted, const Endpoint& endpoint) {
  return std::ranges::binary_search(sorted, endpoint);
}

// Those of `before` that are not in `after`.
std::vector<Endpoint> without(const std::vector<Endpoint>& before,
                              const std::vector<Endpoint>& after) {
  std::vector<Endpoint> gone;
  std::ranges::set_difference(before, after, std::back_inserter(gone));
  return gone;
}

}  // namespace

void UdpFrontends::apply(const UdpChanges& changes) {
  ++revision_;
  if (changes.complete) end_unnamed(changes.frontends);
  for (const UdpChanges::Change& change : changes.frontends) {
    if (change.frontend.protocol == Protocol::Udp) apply(change);
  }
  if (changes.node_port_ips) apply_node_port_ips(*changes.node_port_ips);
  if (changes.complete && !(serving_.empty() && former_.empty())) due_ = revision_;
}

void UdpFrontends::end_unnamed(const std::vector<UdpChanges::Change>& named) {
  std::unordered_map<Frontend, Endpoints> kept;
  for (const UdpChanges::Change& change : named) {
    if (auto known = serving_.extract(change.frontend)) kept.insert(std::move(known));
  }
  for (const auto& [frontend, endpoints] : serving_) remember_former(frontend, endpoints);
  serving_ = std::move(kept);
}

void UdpFrontends::apply(const UdpChanges::Change& change) {
  if (!change.after) {
    // Those that served may have kept flows that new ones were not led to any more.
    const auto known = serving_.extract(change.frontend);
    if (known) remember_former(change.frontend, known.mapped());
    remember_former(change.frontend, change.before);
    // Without endpoints nothing was led anywhere.
    if (!change.before.empty() || (known && !known.mapped().empty())) due_ = revision_;
    return;
  }
  const auto [known, is_new] = serving_.try_emplace(change.frontend);
  const Endpoints old = std::exchange(known->second, *change.after);
  remember_former(change.frontend, without(change.before, *change.after));
  const bool lost_some =
      !without(old, *change.after).empty() || !without(change.before, *change.after).empty();
  const bool got_first = old.empty() && !change.after->empty();
  if (is_new || lost_some || got_first) due_ = revision_;
}

void UdpFrontends::apply_node_port_ips(const std::vector<IpAddress>& ips) {
  std::set<IpAddress> now(ips.begin(), ips.end());
  if (now == node_port_ips_) return;
  for (const IpAddress& ip : node_port_ips_) {
    if (!now.contains(ip)) former_node_port_ips_[ip] = revision_;
  }
  node_port_ips_ = std::move(now);
  if (has_node_ports()) due_ = revision_;
}

void UdpFrontends::remember_former(const Frontend& frontend, const Endpoints& endpoints) {
  for (const Endpoint& endpoint : endpoints) {
    const Led led(frontend, endpoint);
    if (former_.size() < kMostFormer || former_.contains(led)) former_[led] = revision_;
  }
}

bool UdpFrontends::is_stale(const UdpFlow& flow) const {
  const FlowEnd& dialled = flow.destination;
  const Endpoint answering{flow.reply_source.ip, flow.reply_source.port};
  // An address and port of its own goes before a node port, as in the rules.
  const Frontend own{dialled.ip, Protocol::Udp, dialled.port};
  if (const Endpoints* serving = find(own)) return !has(*serving, answering);

  const Frontend node_port{std::nullopt, Protocol::Udp, dialled.port};
  const Endpoints* serving = find(node_port);
  const bool answers = node_port_ips_.contains(dialled.ip);
  if (serving != nullptr && answers) return !has(*serving, answering);

  if (former_.contains({own, answering})) return true;
  if (!answers && !former_node_port_ips_.contains(dialled.ip)) return false;
  return former_.contains({node_port, answering}) ||
         (serving != nullptr && has(*serving, answering));
}

void UdpFrontends::visited(std::uint64_t revision) {
  visited_ = std::max(visited_, revision);
  const auto is_over = [this](const auto& former) { return former.second <= visited_; };
  std::erase_if(former_, is_over);
  std::erase_if(former_node_port_ips_, is_over);
}

const UdpFrontends::Endpoints* UdpFrontends::find(const Frontend& frontend) const {
  const auto found = serving_.find(frontend);
  return found == serving_.end() ? nullptr : &found->second;
}

bool UdpFrontends::has_node_ports() const {
  return std::ranges::any_of(serving_, [](const auto& known) { return !known.first.ip; });
}

}  // namespace mkp
