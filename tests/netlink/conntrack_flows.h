#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "netlink/conntrack.h"

// UDP flows, to write and to compare.
namespace mkp {

// Of "10.180.0.2:53" or "[fd00::2]:53".
inline FlowEnd flow_end(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  std::string_view ip = text.substr(0, colon);
  if (ip.starts_with('[')) ip = ip.substr(1, ip.size() - 2);
  FlowEnd end;
  const std::string_view port = text.substr(colon + 1);
  std::from_chars(port.data(), port.data() + port.size(), end.port);
  const std::optional<IpAddress> parsed = parse_ip_address(ip);
  if (!parsed || end.port == 0) throw std::invalid_argument(std::string(text));
  end.ip = *parsed;
  return end;
}

// What the client sends to `dialled` is answered by `answering`; nobody has translated the client's
// own address.
inline UdpFlow flow(std::string_view client, std::string_view dialled, std::string_view answering) {
  return {flow_end(client), flow_end(dialled), flow_end(answering), flow_end(client), 0};
}
// That one, which nobody has translated at all.
inline UdpFlow flow(std::string_view client, std::string_view dialled) {
  return flow(client, dialled, dialled);
}

inline std::string to_text(const FlowEnd& end) {
  return end.ip.family == IpFamily::Ipv6 ? fmt::format("[{}]:{}", to_text(end.ip), end.port)
                                         : fmt::format("{}:{}", to_text(end.ip), end.port);
}
// "203.0.113.9:41001 to 172.30.0.10:53, answered by 10.180.0.2:5353"; who gets the answers is named
// when it is not the client.
inline std::string to_text(const UdpFlow& flow) {
  std::string text = fmt::format("{} to {}, answered by {}", to_text(flow.source),
                                 to_text(flow.destination), to_text(flow.reply_source));
  if (flow.reply_destination != flow.source) text += " at " + to_text(flow.reply_destination);
  return text;
}
// One a line, in an order of their own.
inline std::string to_text(const std::vector<UdpFlow>& flows) {
  std::vector<std::string> lines;
  lines.reserve(flows.size());
  for (const UdpFlow& each : flows) lines.push_back(to_text(each) + '\n');
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

}  // namespace mkp
