// What decoding costs: lists and watch streams of Services and slices, in both encodings.
//   decode_bench --benchmark_filter=list

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "informer/wire_format.h"
#include "tests/informer/decode_messages.h"

namespace mkp {
namespace {

constexpr int kObjects = 45'000;

// An object as servers store it: half of it is about who wrote which field.
constexpr std::string_view kWhoWrote =
    R"({"f:spec":{"f:internalTrafficPolicy":{},"f:ports":{".":{},"k:{\"port\":80,\"protocol\":)"
    R"(\"TCP\"}":{".":{},"f:port":{},"f:protocol":{},"f:targetPort":{}}},"f:selector":{},)"
    R"("f:sessionAffinity":{},"f:type":{}}})";

std::string name(int i) { return fmt::format("service-{:05}", i); }
std::string cluster_ip(int i) { return fmt::format("172.30.{}.{}", i / 250, i % 250 + 1); }
std::string pod_ip(int i) { return fmt::format("10.180.{}.{}", i / 250, i % 250 + 1); }
std::string uid(int i) { return fmt::format("67141f42-70fe-487f-9541-fdc8e9{:06}", i); }

Wire protobuf_meta(int i) {
  return Wire()
      .text(1, name(i))
      .text(2, "")
      .text(3, "shop")
      .text(4, "")
      .text(5, uid(i))
      .text(6, std::to_string(100 + i))
      .number(7, 1)
      .message(8, Wire().number(1, 1796064951).number(2, 0))
      .message(11, Wire().text(1, "app").text(2, name(i)))
      .message(11, Wire().text(1, "kubernetes.io/service-name").text(2, name(i)))
      .message(17, Wire()
                       .text(1, "kubectl")
                       .text(2, "Update")
                       .text(3, "v1")
                       .message(4, Wire().number(1, 1796064951).number(2, 0))
                       .text(6, "FieldsV1")
                       .message(7, Wire().text(1, kWhoWrote)));
}

Wire protobuf_service(int i) {
  const Wire port = Wire()
                        .text(1, "http")
                        .text(2, "TCP")
                        .number(3, 80)
                        .message(4, Wire().number(1, 0).number(2, 8080).text(3, ""))
                        .number(5, 0);
  return Wire()
      .message(1, protobuf_meta(i))
      .message(2, Wire()
                      .message(1, port)
                      .message(2, Wire().text(1, "app").text(2, name(i)))
                      .text(3, cluster_ip(i))
                      .text(4, "ClusterIP")
                      .text(7, "None")
                      .text(8, "")
                      .text(10, "")
                      .text(11, "")
                      .number(12, 0)
                      .number(13, 0)
                      .text(17, "SingleStack")
                      .text(18, cluster_ip(i))
                      .text(19, "IPv4")
                      .text(22, "Cluster"))
      .message(3, Wire().message(1, Wire()));
}

Wire protobuf_slice(int i) {
  Wire slice = Wire().message(1, protobuf_meta(i));
  for (int endpoint = 0; endpoint < 3; ++endpoint) {
    slice = std::move(slice).message(
        2, Wire()
               .text(1, pod_ip(i))
               .message(2, Wire().number(1, 1).number(2, 1).number(3, 0))
               .message(4, Wire().text(1, "Pod").text(2, "shop").text(3, name(i)).text(4, uid(i)))
               .text(6, fmt::format("worker-{}", i % 100))
               .text(7, "zone-a"));
  }
  return std::move(slice)
      .message(3, Wire().text(1, "http").text(2, "TCP").number(3, 8080))
      .text(4, "IPv4");
}

std::string json_meta(int i) {
  std::string meta = fmt::format(
      R"("metadata":{{"name":"{}","namespace":"shop","uid":"{}","resourceVersion":"{}",)"
      R"("creationTimestamp":"2026-11-30T18:55:51Z","labels":{{"app":"{}",)"
      R"("kubernetes.io/service-name":"{}"}},"managedFields":[{{"manager":"kubectl","operation":)"
      R"("Update","apiVersion":"v1","time":"2026-11-30T18:55:51Z","fieldsType":"FieldsV1",)"
      R"("fieldsV1":)",
      name(i), uid(i), 100 + i, name(i), name(i));
  meta += kWhoWrote;
  return meta + "}]}";
}

std::string json_service(int i) {
  return json_meta(i) +
         fmt::format(
             R"(,"spec":{{"ports":[{{"name":"http","protocol":"TCP","port":80,"targetPort":8080}}],)"
             R"("selector":{{"app":"{}"}},"clusterIP":"{}","clusterIPs":["{}"],"type":"ClusterIP",)"
             R"("sessionAffinity":"None","ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack",)"
             R"("internalTrafficPolicy":"Cluster"}},"status":{{"loadBalancer":{{}}}})",
             name(i), cluster_ip(i), cluster_ip(i));
}

std::string json_slice(int i) {
  std::string endpoints;
  for (int endpoint = 0; endpoint < 3; ++endpoint) {
    endpoints += fmt::format(
        R"({}{{"addresses":["{}"],"conditions":{{"ready":true,"serving":true,"terminating":false}},)"
        R"("targetRef":{{"kind":"Pod","namespace":"shop","name":"{}","uid":"{}"}},)"
        R"("nodeName":"worker-{}","zone":"zone-a"}})",
        endpoint == 0 ? "" : ",", pod_ip(i), name(i), uid(i), i % 100);
  }
  return json_meta(i) +
         fmt::format(R"(,"addressType":"IPv4","endpoints":[{}],"ports":[{{"name":"http",)"
                     R"("protocol":"TCP","port":8080}}])",
                     endpoints);
}

std::string_view api_version(ObjectKind kind) {
  return kind == ObjectKind::Service ? "v1" : "discovery.k8s.io/v1";
}

std::string list_kind(ObjectKind kind) { return fmt::format("{}List", to_text(kind)); }

std::string protobuf_list(ObjectKind kind) {
  Wire list = Wire().message(1, Wire().text(2, "99999"));
  for (int i = 0; i < kObjects; ++i) {
    list = std::move(list).message(
        2, kind == ObjectKind::Service ? protobuf_service(i) : protobuf_slice(i));
  }
  return enveloped(api_version(kind), list_kind(kind), list);
}

std::string json_list(ObjectKind kind) {
  std::string list = fmt::format(
      R"({{"kind":"{}","apiVersion":"{}","metadata":{{"resourceVersion":"99999"}},"items":[)",
      list_kind(kind), api_version(kind));
  for (int i = 0; i < kObjects; ++i) {
    list += i == 0 ? "{" : ",{";
    list += kind == ObjectKind::Service ? json_service(i) : json_slice(i);
    list += '}';
  }
  return list + "]}\n";
}

std::string protobuf_stream(ObjectKind kind) {
  std::string stream;
  for (int i = 0; i < kObjects; ++i) {
    const Wire object = kind == ObjectKind::Service ? protobuf_service(i) : protobuf_slice(i);
    stream += event_frame("ADDED", enveloped(api_version(kind), to_text(kind), object));
  }
  return stream;
}

std::string json_stream(ObjectKind kind) {
  std::string stream;
  for (int i = 0; i < kObjects; ++i) {
    stream += fmt::format(R"({{"type":"ADDED","object":{{"kind":"{}","apiVersion":"{}",)",
                          to_text(kind), api_version(kind));
    stream += kind == ObjectKind::Service ? json_service(i) : json_slice(i);
    stream += "}}\n";
  }
  return stream;
}

void count(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
  state.counters["MB"] = static_cast<double>(bytes) / 1e6;
}

void decode_list(benchmark::State& state, const WireFormat& format, ObjectKind kind) {
  const std::string list = &format == &json_format() ? json_list(kind) : protobuf_list(kind);
  for ([[maybe_unused]] auto _ : state) {
    state.PauseTiming();
    std::string body;
    body.reserve(list.size() + 64);  // as a reader that knows the size would
    body += list;
    state.ResumeTiming();
    Result<Listing> listing = format.decode_list(kind, std::move(body));
    if (!listing || listing->objects.size() != kObjects) state.SkipWithError("not decoded");
    state.PauseTiming();
    listing->objects.clear();
    state.ResumeTiming();
  }
  count(state, list.size());
}

// A stream that comes in pieces as large as a read from a TLS connection.
void decode_stream(benchmark::State& state, const WireFormat& format, ObjectKind kind) {
  constexpr std::size_t kPiece = 16'384;
  const std::string stream = &format == &json_format() ? json_stream(kind) : protobuf_stream(kind);
  for ([[maybe_unused]] auto _ : state) {
    std::string_view left = std::string_view(stream).substr(0, 0);
    std::size_t seen = 0;
    int events = 0;
    for (std::size_t come = 0; come < stream.size();) {
      const std::size_t size = std::min(kPiece, stream.size() - come);
      come += size;
      left = {left.data(), left.size() + size};
      for (;;) {
        const std::size_t frame = format.frame_size(left, seen).value_or(0);
        seen = frame == 0 ? left.size() : 0;
        if (frame == 0) break;
        if (format.decode_event(kind, left.substr(0, frame))) ++events;
        left.remove_prefix(frame);
      }
    }
    if (events != kObjects) state.SkipWithError("not decoded");
  }
  count(state, stream.size());
}

void register_all() {
  for (const ObjectKind kind : {ObjectKind::Service, ObjectKind::EndpointSlice}) {
    for (const WireFormat* format : {&protobuf_format(), &json_format()}) {
      const std::string of = fmt::format("{} {}", to_text(kind), format->media_type());
      benchmark::RegisterBenchmark(("list of " + of).c_str(), [=](benchmark::State& state) {
        decode_list(state, *format, kind);
      })->Unit(benchmark::kMillisecond);
      benchmark::RegisterBenchmark(("stream of " + of).c_str(), [=](benchmark::State& state) {
        decode_stream(state, *format, kind);
      })->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace
}  // namespace mkp

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  mkp::register_all();
  benchmark::RunSpecifiedBenchmarks();
}
