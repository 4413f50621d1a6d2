#include "tests/informer/decode_fixture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "informer/keys.h"

namespace mkp {

namespace {

std::string_view to_word(AddressType type) {
  if (type == AddressType::Fqdn) return "FQDN";
  return type == AddressType::Ipv4 ? "IPv4" : "IPv6";
}

std::string_view to_word(Service::Type type) {
  constexpr std::string_view kWords[] = {"ClusterIP", "NodePort", "LoadBalancer", "ExternalName"};
  return kWords[static_cast<std::size_t>(type)];
}

// " name a,b" unless there is none.
std::string listed(std::string_view name, const std::vector<std::string>& texts) {
  return texts.empty() ? std::string() : fmt::format(" {} {}", name, fmt::join(texts, ","));
}

std::string optional_part(std::string_view name, std::string_view text) {
  return text.empty() ? std::string() : fmt::format(" {} {}", name, text);
}

std::string to_text(const ObjectMeta& meta) {
  std::string text =
      fmt::format("{}@{}", to_text(ObjectName{meta.name_space, meta.name}), meta.resource_version);
  text += optional_part("uid", meta.uid);
  if (meta.creation_timestamp != 0) text += fmt::format(" created {}", meta.creation_timestamp);
  return text;
}

std::string to_text(const Service& service) {
  std::string text =
      fmt::format("Service {} {} {}", to_text(service.metadata), to_word(service.type),
                  service.cluster_ip.empty() ? "-" : service.cluster_ip);
  text += listed("ips", service.cluster_ips);
  for (const AddressType family : service.ip_families) text += fmt::format(" {}", to_word(family));
  for (const Service::Port& port : service.ports) {
    text += fmt::format(" {}:{}/{}", port.name, port.port, to_text(port.protocol));
    if (port.node_port != 0) text += fmt::format("/{}", port.node_port);
  }
  text += listed("external", service.external_ips);
  for (const Service::Ingress& ingress : service.load_balancer_ingress) {
    text += fmt::format(" ingress {}{}", ingress.ip, ingress.proxy_mode ? "(proxy)" : "");
  }
  text += listed("sources", service.load_balancer_source_ranges);
  if (service.internal_traffic_policy == TrafficPolicy::Local) text += " internal-local";
  if (service.external_traffic_policy == TrafficPolicy::Local) text += " external-local";
  if (service.client_ip_affinity_seconds) {
    text += fmt::format(" affinity {}", *service.client_ip_affinity_seconds);
  }
  if (service.health_check_node_port != 0) {
    text += fmt::format(" health {}", service.health_check_node_port);
  }
  return text;
}

std::string to_text(const EndpointSlice& slice) {
  std::string text = fmt::format("EndpointSlice {} of {} {}", to_text(slice.metadata),
                                 slice.service_name, to_word(slice.address_type));
  for (const EndpointSlice::Port& port : slice.ports) {
    text += fmt::format(" {}:{}/{}", port.name.value_or("?"),
                        port.port ? std::to_string(*port.port) : "?", to_text(port.protocol));
  }
  for (const EndpointSlice::Endpoint& endpoint : slice.endpoints) {
    text += fmt::format(" [{}", endpoint.address);
    text += optional_part("on", endpoint.node_name);
    if (!endpoint.ready) text += " not-ready";
    if (!endpoint.serving) text += " not-serving";
    if (endpoint.terminating) text += " terminating";
    text += listed("zones", endpoint.zone_hints) + listed("nodes", endpoint.node_hints) + "]";
  }
  return text + optional_part("triggered", slice.last_change_trigger_time);
}

std::string to_text(const Node& node) {
  return fmt::format("Node {}", to_text(node.metadata)) + optional_part("zone", node.zone) +
         listed("pods", node.pod_cidrs) + listed("internal", node.internal_ips) +
         listed("external", node.external_ips) + listed("taints", node.taint_keys) +
         (node.deleting ? " deleting" : "");
}

std::string to_text(const ServiceCidr& cidr) {
  return fmt::format("ServiceCIDR {}", to_text(cidr.metadata)) + listed("cidrs", cidr.cidrs);
}

std::string to_text(const WatchEvent& event) {
  constexpr std::string_view kWords[] = {"Added", "Modified", "Deleted", "Bookmark"};
  std::string text =
      fmt::format("{} {}", kWords[static_cast<std::size_t>(event.type)], event.resource_version);
  if (event.ends_initial_events) text += " ends initial events";
  return event.object ? text + ": " + to_text(event.object) : text;
}

}  // namespace

std::string api_answer(std::string_view file) {
  std::ifstream stream(fmt::format("{}/{}", MKP_API_ANSWERS, file), std::ios::binary);
  EXPECT_TRUE(stream.good()) << file;
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string to_text(const ObjectPtr& object) {
  const Object* given = object.get();
  if (const auto* service = dynamic_cast<const Service*>(given)) return to_text(*service);
  if (const auto* slice = dynamic_cast<const EndpointSlice*>(given)) return to_text(*slice);
  if (const auto* node = dynamic_cast<const Node*>(given)) return to_text(*node);
  if (const auto* cidr = dynamic_cast<const ServiceCidr*>(given)) return to_text(*cidr);
  const auto* unreadable = dynamic_cast<const UnreadableObject*>(given);
  return unreadable == nullptr ? "null" : "unreadable " + unreadable->key;
}

std::string to_text(const ApiStatus& status) {
  std::string text =
      fmt::format("{} {} {}: {}", status.status, status.code, status.reason, status.message);
  if (status.retry_after_seconds != 0) {
    text += fmt::format(" (retry after {})", status.retry_after_seconds);
  }
  for (const ApiStatus::Cause& cause : status.causes) {
    text += fmt::format(" [{}: {}]", cause.reason, cause.message);
  }
  return text;
}

std::string to_text(const WireEvent& event) {
  if (const auto* status = std::get_if<ApiStatus>(&event)) return "Error " + to_text(*status);
  return to_text(std::get<WatchEvent>(event));
}

std::string to_text(const Result<WireEvent>& event) {
  return event ? to_text(*event) : "fails: " + event.error().what;
}

std::string to_text(const Result<Listing>& listing) {
  if (!listing) return "fails: " + listing.error().what;
  std::string text =
      "at " + listing->resource_version + optional_part("continue", listing->continue_token) + "\n";
  for (const ObjectPtr& object : listing->objects) text += to_text(object) + "\n";
  return text;
}

std::string events_text(const WireFormat& format, ObjectKind kind, std::string_view stream,
                        std::size_t piece) {
  std::string text;
  std::string_view left = stream.substr(0, 0);  // what has come and is not decoded yet
  std::size_t seen = 0;
  for (std::size_t come = 0; come < stream.size();) {
    const std::size_t size = std::min(piece, stream.size() - come);
    come += size;
    left = {left.data(), left.size() + size};
    for (;;) {
      const Result<std::size_t> frame = format.frame_size(left, seen);
      if (!frame) return text + "fails: " + frame.error().what + "\n";
      seen = *frame == 0 ? left.size() : 0;
      if (*frame == 0) break;
      text += to_text(format.decode_event(kind, left.substr(0, *frame))) + "\n";
      left.remove_prefix(*frame);
    }
  }
  const std::size_t rest = left.size();
  return left.find_first_not_of(" \t\r\n") == std::string_view::npos
             ? text
             : text + fmt::format("half an event: {} bytes\n", rest);
}

struct LoggedLines::State {
  std::ostringstream lines;
  std::shared_ptr<spdlog::logger> before = spdlog::default_logger();
};

LoggedLines::LoggedLines() : state_(std::make_unique<State>()) {
  auto sink = std::make_shared<spdlog::sinks::ostream_sink_st>(state_->lines);
  auto logger = std::make_shared<spdlog::logger>("decode", std::move(sink));
  logger->set_pattern("%l %v");
  spdlog::set_default_logger(std::move(logger));
}

LoggedLines::~LoggedLines() { spdlog::set_default_logger(state_->before); }

std::string LoggedLines::text() const { return state_->lines.str(); }

}  // namespace mkp
