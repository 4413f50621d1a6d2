#include "tests/end_to_end/forwarding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <regex>
#include <sstream>
#include <utility>
#include <vector>

#include "proxy/nft_adoption.h"
#include "tests/proxy/live_text.h"

namespace mkp {
namespace {

// Sets, maps and chains of a listing, with their lines as they stand there.
class KubeProxyTable {
 public:
  explicit KubeProxyTable(const std::string& listing) {
    static const std::regex kBegin(R"(^\t(?:set|map|chain) (\S+) \{$)");
    std::istringstream lines(listing);
    std::vector<std::string>* inside = nullptr;
    for (std::string line; std::getline(lines, line);) {
      std::smatch match;
      if (std::regex_match(line, match, kBegin)) {
        inside = &objects_[match[1]];
      } else if (line == "\t}") {
        inside = nullptr;
      } else if (inside != nullptr) {
        inside->push_back(line);
      }
    }
  }

  Forwarding forwarding() const {
    Forwarding all;
    for (const auto& [key, chain] : elements("service-ips")) lead(all[key], chain);
    for (const auto& [key, chain] : elements("service-nodeports")) {
      lead(all["node port " + key], chain);
    }
    for (const auto& [key, verdict] : elements("no-endpoint-services")) {
      all[key].refusal = verdict == "drop" ? "drop" : "reject";
    }
    for (const auto& [key, verdict] : elements("no-endpoint-nodeports")) {
      all["node port " + key].refusal = verdict == "drop" ? "drop" : "reject";
    }
    for (const auto& [key, chain] : elements("firewall-ips")) all[key].sources = sources(chain);
    return all;
  }

 private:
  using Texts = std::vector<std::string>;

  const Texts& lines(const std::string& name) const {
    static const Texts kNone;
    const auto found = objects_.find(name);
    return found == objects_.end() ? kNone : found->second;
  }

  // Of a verdict map: "10.96.0.1 tcp 443" and the chain, or "drop".
  std::map<std::string, std::string> elements(const std::string& map) const {
    static const std::regex kElement(R"(([^{},"=]+?)(?: comment "[^"]*")? : (?:goto )?([^\s,}]+))");
    std::string text;
    for (const std::string& line : lines(map)) {
      if (line.find("type ") == std::string::npos) text += line + " ";
    }
    std::map<std::string, std::string> found;
    for (std::sregex_iterator at(text.begin(), text.end(), kElement), end; at != end; ++at) {
      std::string key = (*at)[1];
      key.erase(0, key.find_first_not_of(" \t"));
      found[spaced(key)] = (*at)[2];
    }
    return found;
  }
  static std::string spaced(const std::string& key) {
    return std::regex_replace(key, std::regex(R"( \. )"), " ");
  }

  void lead(Destination& to, const std::string& chain) const {
    to.affinity = affinity(chain);
    if (!chain.starts_with("external-")) {
      to.pods = to.others = endpoints(chain);
      return;
    }
    static const std::regex kOn(R"(^\t\tgoto (\S+)$)");
    static const std::regex kPods(R"(goto (\S+) comment "short-circuit pod traffic")");
    for (const std::string& line : lines(chain)) {
      std::smatch match;
      if (std::regex_search(line, match, kPods)) to.pods = endpoints(match[1]);
      if (!std::regex_match(line, match, kOn)) continue;
      to.others = endpoints(match[1]);
      if (match[1].str().starts_with("service-")) to.pods = to.others;
    }
  }

  std::set<std::string> endpoints(const std::string& chain) const {
    static const std::regex kOne(R"(dnat (?:ip6? )?to (\S+):(\d+)$)");
    static const std::regex kMany(R"(\d+ : (\S+) \. (\d+))");
    static const std::regex kChain(R"(goto (endpoint-[^\s,}]+))");
    std::set<std::string> all;
    for (const std::string& line : lines(chain)) {
      for (const std::regex& pattern : {kOne, kMany}) {
        for (std::sregex_iterator at(line.begin(), line.end(), pattern), end; at != end; ++at) {
          all.insert(endpoint((*at)[1], (*at)[2]));
        }
      }
      for (std::sregex_iterator at(line.begin(), line.end(), kChain), end; at != end; ++at) {
        all.merge(endpoints((*at)[1]));
      }
    }
    return all;
  }
  static std::string endpoint(std::string ip, const std::string& port) {
    if (ip.starts_with("[")) ip = ip.substr(1, ip.size() - 2);
    return mkp::to_text(
        Endpoint{parse_ip_address(ip).value(), static_cast<std::uint16_t>(std::stoi(port))});
  }

  // In the chain of either list, or behind it.
  std::uint32_t affinity(const std::string& chain) const {
    static const std::regex kSet(R"(@(affinity-\S+) goto)");
    static const std::regex kNext(R"(goto ((?:service|local)-\S+))");
    std::uint32_t seconds = 0;
    for (const std::string& line : lines(chain)) {
      std::smatch match;
      if (std::regex_search(line, match, kSet)) seconds = std::max(seconds, timeout(match[1]));
      if (std::regex_search(line, match, kNext)) seconds = std::max(seconds, affinity(match[1]));
    }
    return seconds;
  }
  std::uint32_t timeout(const std::string& set) const {
    static const std::regex kPart(R"((\d+)([dhms]))");
    for (const std::string& line : lines(set)) {
      if (!line.starts_with("\t\ttimeout ")) continue;
      std::uint32_t seconds = 0;
      for (std::sregex_iterator at(line.begin(), line.end(), kPart), end; at != end; ++at) {
        const std::map<char, std::uint32_t> units = {
            {'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};
        seconds += static_cast<std::uint32_t>(std::stoul((*at)[1])) * units.at((*at)[2].str()[0]);
      }
      return seconds;
    }
    return 0;
  }

  std::set<std::string> sources(const std::string& chain) const {
    static const std::regex kPrefix(R"([0-9a-f.:]+/\d+)");
    std::set<std::string> all;
    for (const std::string& line : lines(chain)) {
      for (std::sregex_iterator at(line.begin(), line.end(), kPrefix), end; at != end; ++at) {
        all.insert(at->str());
      }
    }
    return all;
  }

  std::map<std::string, Texts> objects_;
};

std::set<std::string> texts(const std::vector<Endpoint>& endpoints) {
  std::set<std::string> all;
  for (const Endpoint& endpoint : endpoints) all.insert(to_text(endpoint));
  return all;
}

std::string name_of(const Frontend& frontend) {
  static const std::map<Protocol, const char*> kProtocols = {
      {Protocol::Tcp, "tcp"}, {Protocol::Udp, "udp"}, {Protocol::Sctp, "sctp"}};
  return fmt::format("{} {} {}", frontend.ip ? to_text(*frontend.ip) : "node port",
                     kProtocols.at(frontend.protocol), frontend.port);
}

Destination destination(const LiveFrontend& state, const LiveTable& live) {
  Destination to;
  std::set<std::string> cluster = texts(state.cluster.endpoints());
  std::set<std::string> local = texts(state.local.endpoints());
  bool internal_local = state.route == LiveFrontend::Route::InternalLocal;
  if (!state.affinity.empty()) {
    const AffinityRules& rules = live.affinity.at(state.affinity);
    to.affinity = rules.seconds;
    cluster = texts(rules.cluster);
    local = texts(rules.local);
    internal_local = state.route == LiveFrontend::Route::InternalAffinity &&
                     rules.internal == TrafficPolicy::Local;
  }
  if (state.route == LiveFrontend::Route::ExternalLocal) {
    if (state.short_circuit) to.pods = cluster;
    if (state.local_service) to.others = local;
  } else if (state.route != LiveFrontend::Route::Nowhere) {
    to.pods = to.others = internal_local ? local : cluster;
  }
  if (state.refusal != Refusal::None)
    to.refusal = state.refusal == Refusal::Drop ? "drop" : "reject";
  for (const IpPrefix& source : state.allowed_sources) to.sources.insert(to_text(source));
  return to;
}

}  // namespace

Forwarding forwarding_of_kube_proxy(const std::string& listing) {
  return KubeProxyTable(listing).forwarding();
}

Forwarding forwarding_of_ours(const std::optional<nft::Ruleset>& dump, const Config& config,
                              IpFamily family) {
  const Adoption adoption = adopt(dump, live_settings(config, {}, family));
  Forwarding all;
  for (const auto& [frontend, state] : adoption.live.frontends) {
    all[name_of(frontend)] = destination(state, adoption.live);
  }
  return all;
}

std::string to_text(const Forwarding& forwarding) {
  std::string text;
  for (const auto& [frontend, to] : forwarding) {
    text += fmt::format("{}: pods {{{}}}, others {{{}}} {}, affinity {}, from {{{}}}\n", frontend,
                        fmt::join(to.pods, " "), fmt::join(to.others, " "), to.refusal, to.affinity,
                        fmt::join(to.sources, " "));
  }
  return text;
}

}  // namespace mkp
