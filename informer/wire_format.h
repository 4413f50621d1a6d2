#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "informer/object_source.h"

namespace mkp {

// meta/v1 Status: how an API server says what went wrong.
struct ApiStatus {
  struct Cause {
    std::string reason;
    std::string message;
    bool operator==(const Cause&) const = default;
  };

  std::string status;  // "Success" or "Failure"
  std::string message;
  std::string reason;  // such as "Expired"; may be empty
  std::int32_t code = 0;
  std::int32_t retry_after_seconds = 0;  // 0: nothing is said about that
  std::vector<Cause> causes;

  bool operator==(const ApiStatus&) const = default;
};

// One event of a watch. A Status is what an ERROR event has instead of an object.
using WireEvent = std::variant<WatchEvent, ApiStatus>;

// One of the encodings that an API server speaks; two constants, below. Only the fields that a
// proxy uses are read, with the values that a manifest of the object gives. No function throws,
// whatever the bytes are; failures are Invalid.
//
// An object that cannot be decoded hurts only itself: it is logged with its key and the field, and
// an UnreadableObject (keys.h) stands for it. An object whose name or namespace cannot be read is
// left out, with a line in the log: of an event, a Bookmark with its version is left.
//
// What only newer servers know hurts as little as it can, and in both encodings alike: fields are
// passed over; a type of Service is as ClusterIP, a traffic policy as Cluster, a session affinity
// as None, an ipMode as Proxy (kube-proxy takes them so); an IP family matches neither IPv4 nor
// IPv6, and a slice's address type is as FQDN, so not used; a port of another protocol is left out,
// which is logged, and the object's other ports are served.
class WireFormat {
 public:
  virtual ~WireFormat() = default;

  // "application/vnd.kubernetes.protobuf", "application/json": the base type, without parameters.
  virtual std::string_view media_type() const = 0;

  // A list's whole body. Fails when it is no list of this kind, does not say its version, or is cut
  // short. JSON needs 64 bytes of spare capacity in `body`, and copies one that lacks them.
  virtual Result<Listing> decode_list(ObjectKind kind, std::string body) const = 0;

  // How many bytes at the beginning of `bytes` are one event's frame, all of it; 0 when more bytes
  // are needed. Fails when it cannot be a frame, such as one of more than 16 MiB. `seen`: how many
  // bytes of `bytes` the last call for this frame had, 0 for its first, so that a long frame in
  // small pieces costs no more than its length.
  //
  // A frame of JSON is found with its last brace, and takes along the white space around it that
  // has come: what is left when a stream ends is half an event unless it is white space.
  virtual Result<std::size_t> frame_size(std::string_view bytes, std::size_t seen) const = 0;

  // A frame as frame_size() has found it. Fails for an event that nobody can go on from: of another
  // kind or type, without a version, or no event at all.
  virtual Result<WireEvent> decode_event(ObjectKind kind, std::string_view frame) const = 0;

  // The body of an answer that is an error, as far as its fields can be read. Fails when it is no
  // Status.
  virtual Result<ApiStatus> decode_status(std::string_view body) const = 0;
};

const WireFormat& protobuf_format();  // decode_protobuf.cpp
const WireFormat& json_format();      // decode_json.cpp

// The format of a Content-Type header such as "application/json;stream=watch"; null for any other.
const WireFormat* wire_format_of(std::string_view content_type);

}  // namespace mkp
