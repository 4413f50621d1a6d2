#include <fmt/format.h>

#include <algorithm>

#include <utility>

#include "informer/decode_object.h"
#include "informer/protobuf_message.h"
#include "informer/protobuf_objects.h"

namespace mkp {

namespace {

using Within = DecodeProblem::Within;

constexpr std::string_view kMagic("k8s\0", 4);
constexpr std::size_t kLengthSize = 4;
constexpr std::size_t kLargestFrame = std::size_t{16} << 20;

// What stands around every list, object and Status: runtime.Unknown behind the magic.
struct Envelope {
  WireType type;
  std::string_view raw;
};

// The type of runtime.Unknown, whose fields are numbered the other way round than meta's own.
WireType read_type(std::string_view bytes, DecodeProblem& problem) {
  const Within within(problem, "typeMeta");
  WireType type;
  ProtobufMessage message(bytes, problem);
  while (message.next()) {
    if (message.tag() == 1) type.api_version = message.text("apiVersion");
    if (message.tag() == 2) type.kind = message.text("kind");
  }
  return type;
}

Result<Envelope> read_envelope(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) {
    return fail(Errc::Invalid, "it does not begin as Kubernetes' protobuf does");
  }
  Envelope envelope;
  DecodeProblem problem;
  ProtobufMessage message(bytes.substr(kMagic.size()), problem);
  while (message.next()) {
    if (message.tag() == 1) envelope.type = read_type(message.bytes("typeMeta"), problem);
    if (message.tag() == 2) envelope.raw = message.bytes("raw");
    if (message.tag() == 3 && !message.text("contentEncoding").empty()) {
      problem.note("contentEncoding", "is not known");
    }
  }
  if (problem.found()) return fail(Errc::Invalid, problem.text());
  return envelope;
}

std::shared_ptr<const Object> read_object(ObjectKind kind, std::string_view bytes,
                                          DecodeProblem& problem) {
  return with_type_of(kind, [&]<class Type>(Type*) -> std::shared_ptr<const Object> {
    auto object = std::make_shared<Type>();
    read_protobuf(bytes, *object, problem);
    return object;
  });
}

void read_list_meta(std::string_view bytes, Listing& listing, DecodeProblem& problem) {
  const Within within(problem, "metadata");
  ProtobufMessage message(bytes, problem);
  while (message.next()) {
    if (message.tag() == 2) listing.resource_version = message.text("resourceVersion");
    if (message.tag() == 3) listing.continue_token = message.text("continue");
  }
}

ApiStatus::Cause read_cause(std::string_view bytes, DecodeProblem& problem) {
  ApiStatus::Cause cause;
  ProtobufMessage message(bytes, problem);
  while (message.next()) {
    if (message.tag() == 1) cause.reason = message.text("reason");
    if (message.tag() == 2) cause.message = message.text("message");
  }
  return cause;
}

void read_details(std::string_view bytes, ApiStatus& status, DecodeProblem& problem) {
  ProtobufMessage message(bytes, problem);
  while (message.next()) {
    if (message.tag() == 4) status.causes.push_back(read_cause(message.bytes("causes"), problem));
    if (message.tag() == 5) {
      status.retry_after_seconds =
          static_cast<std::int32_t>(message.number("retryAfterSeconds").value_or(0));
    }
  }
}

// A Status is told as far as it can be read: any of it is better than none.
Result<ApiStatus> read_status(const Envelope& envelope) {
  if (Result<> expected = expect_status(envelope.type); !expected) {
    return tl::unexpected<Error>(expected.error());
  }
  ApiStatus status;
  DecodeProblem problem;
  ProtobufMessage message(envelope.raw, problem);
  while (message.next()) {
    switch (message.tag()) {
      case 2:
        status.status = message.text("status");
        break;
      case 3:
        status.message = message.text("message");
        break;
      case 4:
        status.reason = message.text("reason");
        break;
      case 5:
        read_details(message.bytes("details"), status, problem);
        break;
      case 6:
        status.code = static_cast<std::int32_t>(message.number("code").value_or(0));
        break;
      default:
        break;
    }
  }
  return status;
}

Result<WireEvent> read_bookmark(std::string_view object) {
  ObjectMeta meta;
  std::string initial_events_end;
  DecodeProblem problem;
  ProtobufMessage message(object, problem);
  while (message.next()) {
    if (message.tag() != 1) continue;
    read_protobuf_meta(message.bytes("metadata"), meta, wanted_meta_of_bookmark(initial_events_end),
                       problem);
  }
  return bookmark_event(std::move(meta.resource_version), initial_events_end, problem);
}

// meta/v1 WatchEvent, whose object is a RawExtension: the encoded object, envelope and all.
struct Shell {
  std::string_view type;
  std::string_view object;
};

Result<Shell> read_shell(std::string_view frame) {
  Shell shell;
  DecodeProblem problem;
  ProtobufMessage message(frame, problem);
  while (message.next()) {
    if (message.tag() == 1) shell.type = message.text("type");
    if (message.tag() != 2) continue;
    const Within within(problem, "object");
    ProtobufMessage extension(message.bytes(""), problem);
    while (extension.next()) {
      if (extension.tag() == 1) shell.object = extension.bytes("raw");
    }
  }
  if (problem.found()) return fail(Errc::Invalid, problem.text());
  return shell;
}

Result<WireEvent> read_event(ObjectKind kind, std::string_view frame) {
  const Result<Shell> shell = read_shell(frame);
  if (!shell) return tl::unexpected<Error>(shell.error());
  const Result<EventType> type = event_type_of(shell->type);
  if (!type) return tl::unexpected<Error>(type.error());
  const Result<Envelope> envelope = read_envelope(shell->object);
  if (!envelope) return tl::unexpected<Error>(envelope.error());
  if (*type == EventType::Error) {
    Result<ApiStatus> status = read_status(*envelope);
    if (!status) return tl::unexpected<Error>(std::move(status.error()));
    return std::move(*status);
  }
  if (Result<> expected = expect_object(kind, envelope->type); !expected) {
    return tl::unexpected<Error>(expected.error());
  }
  if (*type == EventType::Bookmark) return read_bookmark(envelope->raw);
  DecodeProblem problem;
  std::shared_ptr<const Object> object = read_object(kind, envelope->raw, problem);
  return object_event(*type, kind, std::move(object), problem);
}

Result<Listing> read_list(ObjectKind kind, std::string_view body) {
  const Result<Envelope> envelope = read_envelope(body);
  if (!envelope) return tl::unexpected<Error>(envelope.error());
  if (Result<> expected = expect_list(kind, envelope->type); !expected) {
    return tl::unexpected<Error>(expected.error());
  }
  Listing listing;
  DecodeProblem problem;
  ProtobufMessage list(envelope->raw, problem);
  while (list.next()) {
    if (list.tag() == 1) read_list_meta(list.bytes("metadata"), listing, problem);
    if (list.tag() != 2) continue;
    const std::string_view item = list.bytes("items");
    if (problem.found()) break;
    DecodeProblem of_item;
    std::shared_ptr<const Object> object = read_object(kind, item, of_item);
    if (ObjectPtr given = publish(kind, Fate::Stays, std::move(object), of_item)) {
      listing.objects.push_back(std::move(given));
    }
  }
  return finished(std::move(listing), problem);
}

std::size_t length_of(std::string_view frame) {
  std::size_t length = 0;
  for (const char byte : frame.substr(0, kLengthSize)) {
    length = length << 8 | static_cast<unsigned char>(byte);
  }
  return length;
}

class ProtobufFormat final : public WireFormat {
 public:
  std::string_view media_type() const override { return "application/vnd.kubernetes.protobuf"; }

  Result<Listing> decode_list(ObjectKind kind, std::string body) const override {
    Result<Listing> listing = read_list(kind, body);
    if (listing) return listing;
    return fail(std::move(listing.error()), fmt::format("list of {} in protobuf", to_text(kind)));
  }

  Result<std::size_t> frame_size(std::string_view bytes, std::size_t) const override {
    if (bytes.size() < kLengthSize) return 0;
    const std::size_t length = length_of(bytes);
    if (length > kLargestFrame) {
      return fail(Errc::Invalid, fmt::format("an event of {} bytes, over {}, is no protobuf frame",
                                             length, kLargestFrame));
    }
    return bytes.size() - kLengthSize < length ? 0 : kLengthSize + length;
  }

  Result<WireEvent> decode_event(ObjectKind kind, std::string_view frame) const override {
    const std::string_view bytes = frame.substr(std::min(frame.size(), kLengthSize));
    Result<WireEvent> event = read_event(kind, bytes);
    if (event) return event;
    return fail(std::move(event.error()), fmt::format("event of a {} in protobuf", to_text(kind)));
  }

  Result<ApiStatus> decode_status(std::string_view body) const override {
    const Result<Envelope> envelope = read_envelope(body);
    if (!envelope) return tl::unexpected<Error>(envelope.error());
    return read_status(*envelope);
  }
};

}  // namespace

const WireFormat& protobuf_format() {
  static const ProtobufFormat format;
  return format;
}

}  // namespace mkp
