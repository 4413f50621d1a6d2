#include "tests/packets/simulated_node.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "tests/packets/program.h"

namespace mkp::packets {
namespace {

constexpr std::string_view kPodRange = "10.64.0.0/12";
constexpr std::string_view kPodRangeV6 = "fd64::/64";
// The node's end of the pods' link.
constexpr std::string_view kPodGateway = "10.64.1.1";
constexpr std::string_view kPodGatewayV6 = "fd64::1:1";
constexpr int kSentinelPatienceMs = 2'000;
// A packet on the loopback device may cause another, which is queued behind whatever was sent
// meanwhile. Each round of sentinels waits for one more such step; a rejection takes two.
constexpr int kSettlingRounds = 3;
// Packets that a device holds until they are read, at the least: its queue has 500.
constexpr std::size_t kBurst = 100;

IpAddress ip(std::string_view text) { return parse_ip_address(text).value_or(IpAddress{}); }

std::string whole(const IpAddress& address) {
  return fmt::format("{}/{}", mkp::to_text(address), address.size() * 8);
}

Result<> write_sysctl(const std::string& name, std::string_view value) {
  std::ofstream file("/proc/sys/net/" + name);
  file << value << std::endl;
  if (!file) return fail(Errc::Denied, "set net/" + name);
  return {};
}

// Forwarding as a node does it; every source address may come from anywhere; errors are never held
// back; and the kernel sends nothing on its own account.
Result<> write_sysctls(SimulatedNode::Ipv6 ipv6) {
  const std::string_view no_ipv6 = ipv6 == SimulatedNode::Ipv6::Off ? "1" : "0";
  const std::array<std::pair<std::string_view, std::string_view>, 14> kSettings{{
      {"ipv4/ip_forward", "1"},
      {"ipv4/conf/all/rp_filter", "0"},
      {"ipv4/conf/default/rp_filter", "0"},
      {"ipv4/conf/all/accept_local", "1"},
      {"ipv4/conf/all/send_redirects", "0"},
      {"ipv4/conf/default/send_redirects", "0"},
      {"ipv4/icmp_ratemask", "0"},
      {"ipv6/conf/all/disable_ipv6", no_ipv6},
      {"ipv6/conf/default/disable_ipv6", no_ipv6},
      {"ipv6/conf/default/addr_gen_mode", "1"},
      {"ipv6/conf/default/accept_ra", "0"},
      {"ipv6/conf/all/forwarding", "1"},
      {"ipv6/icmp/ratelimit", "0"},
      {"ipv6/icmp/ratemask", ""},
  }};
  for (const auto& [name, value] : kSettings) {
    Result<> written = write_sysctl(std::string(name), value);
    if (!written) return written;
  }
  return {};
}

// Sentinels overtake nothing only while one CPU's queue holds everything.
void stay_on_one_cpu() {
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(static_cast<unsigned>(::sched_getcpu()), &here);
  ::sched_setaffinity(0, sizeof here, &here);
}

}  // namespace

bool is_pod_address(const IpAddress& address) {
  static const IpPrefix pods = parse_ip_prefix(kPodRange).value_or(IpPrefix{});
  static const IpPrefix pods_v6 = parse_ip_prefix(kPodRangeV6).value_or(IpPrefix{});
  return contains(pods, address) || contains(pods_v6, address);
}

SimulatedNode::SimulatedNode(NetworkNamespace space, TunDevice pods, TunDevice outside,
                             LocalSockets local, std::vector<IpAddress> addresses)
    : space_(std::move(space)),
      pods_(std::move(pods)),
      outside_(std::move(outside)),
      local_(std::move(local)),
      addresses_(std::move(addresses)) {}

Result<std::unique_ptr<SimulatedNode>> SimulatedNode::create(
    const std::vector<IpAddress>& addresses, Ipv6 ipv6) {
  stay_on_one_cpu();
  Result<NetworkNamespace> space = NetworkNamespace::enter();
  if (!space) return tl::unexpected(space.error());
  Result<> settings = write_sysctls(ipv6);
  if (!settings) return tl::unexpected(settings.error());
  Result<TunDevice> pods = TunDevice::create("pods");
  if (!pods) return tl::unexpected(pods.error());
  Result<TunDevice> outside = TunDevice::create("outside");
  if (!outside) return tl::unexpected(outside.error());
  Result<LocalSockets> local = LocalSockets::open();
  if (!local) return tl::unexpected(local.error());
  std::unique_ptr<SimulatedNode> node(new SimulatedNode(
      std::move(*space), std::move(*pods), std::move(*outside), std::move(*local), addresses));
  Result<> configured = node->configure(ipv6);
  if (!configured) return tl::unexpected(configured.error());
  Result<> answers = node->await_answers(ipv6);
  if (!answers) return tl::unexpected(answers.error());
  return node;
}

Result<> SimulatedNode::await_answers(Ipv6 ipv6) {
  std::vector<std::pair<IpAddress, IpAddress>> paths{{ip("10.64.1.2"), ip(kPodGateway)},
                                                     {ip("192.0.2.1"), ip(kPodGateway)}};
  if (ipv6 == Ipv6::On) {
    paths.emplace_back(ip("fd64::1:2"), ip(kPodGatewayV6));
    paths.emplace_back(ip("2001:db8:77::1"), ip(kPodGatewayV6));
  }
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(kSentinelPatienceMs);
  for (const auto& [from, to] : paths) {
    for (;;) {
      const Result<Outcome> outcome = probe({Transport::Tcp, {from, 1}, {to, 1}, 1, false});
      if (!outcome) return tl::unexpected(outcome.error());
      if (outcome->refused) break;
      if (std::chrono::steady_clock::now() > deadline) {
        return fail(Errc::Unavailable, "the node does not answer " + mkp::to_text(from));
      }
    }
  }
  return {};
}

Result<> SimulatedNode::configure(Ipv6 ipv6) const {
  std::string commands = "link set lo up\nlink set pods up\nlink set outside up\n";
  std::vector<std::pair<IpAddress, std::string_view>> given;
  given.reserve(addresses_.size() + 2);
  for (const IpAddress& address : addresses_) given.emplace_back(address, "outside");
  given.emplace_back(ip(kPodGateway), "pods");
  if (ipv6 == Ipv6::On) given.emplace_back(ip(kPodGatewayV6), "pods");
  for (const auto& [address, device] : given) {
    commands += fmt::format("addr add {} dev {}{}\n", whole(address), device,
                            address.family == IpFamily::Ipv6 ? " nodad" : "");
  }
  commands += fmt::format("route add {} dev pods\nroute add default dev outside\n", kPodRange);
  if (ipv6 == Ipv6::On) {
    commands += fmt::format("route add {} dev pods\nroute add ::/0 dev outside\n", kPodRangeV6);
  }
  const Result<std::string> done = run_program({"ip", "-batch", "-"}, commands);
  if (!done) return tl::unexpected(done.error());
  return {};
}

IpAddress SimulatedNode::primary_address(IpFamily family) const {
  const auto found = std::find_if(addresses_.begin(), addresses_.end(),
                                  [&](const IpAddress& one) { return one.family == family; });
  if (found != addresses_.end()) return *found;
  return ip(family == IpFamily::Ipv4 ? "127.0.0.1" : "::1");
}

bool SimulatedNode::is_local(const IpAddress& address) const {
  return address == ip("127.0.0.1") || address == ip("::1") ||
         std::find(addresses_.begin(), addresses_.end(), address) != addresses_.end();
}

Result<std::unique_ptr<SimulatedNode::ExtraAddress>> SimulatedNode::add_address(
    const IpAddress& address) const {
  if (is_local(address)) return std::unique_ptr<ExtraAddress>();
  const std::string text = whole(address);
  const Result<std::string> added = run_program({"ip", "addr", "add", text, "dev", "lo", "nodad"});
  if (!added) return tl::unexpected(added.error());
  return std::make_unique<ExtraAddress>(text);
}

Result<> SimulatedNode::add_node_address(const IpAddress& address) {
  const Result<std::string> added =
      run_program({"ip", "addr", "add", whole(address), "dev", "outside", "nodad"});
  if (!added) return tl::unexpected(added.error());
  addresses_.push_back(address);
  return {};
}

Result<> SimulatedNode::remove_node_address(const IpAddress& address) {
  const Result<std::string> removed =
      run_program({"ip", "addr", "del", whole(address), "dev", "outside"});
  if (!removed) return tl::unexpected(removed.error());
  std::erase(addresses_, address);
  return {};
}

Result<Outcome> SimulatedNode::probe(const Packet& packet) {
  const IpAddress& from = packet.source.ip;
  const bool from_node = is_local(from) || from == packet.destination.ip;
  const std::vector<std::uint8_t> bytes = encode(packet);
  const Result<> sent = from_node ? LocalSockets::send(from, packet.destination.ip, bytes)
                        : is_pod_address(from) ? pods_.write(bytes)
                                               : outside_.write(bytes);
  if (!sent) return tl::unexpected(sent.error());
  const Result<std::vector<Seen>> seen = settle(from.family);
  if (!seen) return tl::unexpected(seen.error());
  return judge(packet, *seen);
}

Result<std::vector<Seen>> SimulatedNode::send_from_pods(std::span<const Packet> packets) {
  std::vector<Seen> seen;
  seen.reserve(packets.size());
  const auto keep = [&seen](std::vector<Seen> more) {
    seen.insert(seen.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
  };
  for (std::size_t at = 0; at < packets.size(); ++at) {
    Result<> sent = pods_.write(encode(packets[at]));
    if (!sent) return tl::unexpected(sent.error());
    if (at % kBurst == kBurst - 1) keep(read_all());
  }
  if (packets.empty()) return seen;
  Result<std::vector<Seen>> rest = settle(packets.front().source.ip.family);
  if (!rest) return tl::unexpected(rest.error());
  keep(std::move(*rest));
  return seen;
}

Result<std::vector<Seen>> SimulatedNode::settle(IpFamily family) {
  std::vector<Seen> seen;
  for (int round = 0; round < kSettlingRounds; ++round) {
    const std::uint32_t tag = next_sentinel_++;
    const Result<> sent = send_sentinels(family, tag);
    if (!sent) return tl::unexpected(sent.error());
    const Result<> arrived = await_sentinels(tag, seen);
    if (!arrived) return tl::unexpected(arrived.error());
  }
  // What was put on one path while another one was being read.
  for (const Seen& one : read_all()) seen.push_back(one);
  return seen;
}

// One takes the way through the node, the other that over the loopback device.
Result<> SimulatedNode::send_sentinels(IpFamily family, std::uint32_t tag) const {
  const bool v4 = family == IpFamily::Ipv4;
  const IpAddress self = ip(v4 ? "127.0.0.1" : "::1");
  Result<> looped = LocalSockets::send(self, self, encode_sentinel(self, self, tag));
  if (!looped) return looped;
  return pods_.write(encode_sentinel(ip(v4 ? "203.0.113.1" : "2001:db8:fe::1"),
                                     ip(v4 ? "203.0.113.2" : "2001:db8:fe::2"), tag));
}

Result<> SimulatedNode::await_sentinels(std::uint32_t tag, std::vector<Seen>& seen) const {
  int missing = 2;
  for (;;) {
    for (const Seen& one : read_all()) {
      const bool awaited =
          one.sighting.kind == Sighting::Kind::Sentinel && one.sighting.packet.tag == tag;
      if (awaited) --missing;
      seen.push_back(one);
    }
    if (missing <= 0) return {};
    Result<> more = wait_for_packets();
    if (!more) return more;
  }
}

std::vector<Seen> SimulatedNode::read_all() const {
  std::vector<Seen> seen;
  const auto read_device = [&seen](const TunDevice& device, Place place) {
    while (const std::optional<std::vector<std::uint8_t>> packet = device.read()) {
      const std::optional<Sighting> sighting = decode(*packet);
      if (sighting) seen.push_back({place, *sighting});
    }
  };
  read_device(pods_, Place::Pods);
  read_device(outside_, Place::Outside);
  for (const Sighting& sighting : local_.read_all()) seen.push_back({Place::Local, sighting});
  return seen;
}

Result<> SimulatedNode::wait_for_packets() const {
  std::vector<pollfd> watched{{pods_.descriptor(), POLLIN, 0}, {outside_.descriptor(), POLLIN, 0}};
  for (const int socket : local_.descriptors()) watched.push_back({socket, POLLIN, 0});
  if (::poll(watched.data(), watched.size(), kSentinelPatienceMs) <= 0) {
    return fail(Errc::Unavailable, "a sentinel, which must pass, did not come out");
  }
  return {};
}

SimulatedNode::ExtraAddress::~ExtraAddress() {
  // A failure shows in the next flow that meets the address.
  [[maybe_unused]] const Result<std::string> removed =
      run_program({"ip", "addr", "del", address_, "dev", "lo"});
}

}  // namespace mkp::packets
