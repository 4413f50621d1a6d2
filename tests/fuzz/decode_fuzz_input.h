#pragma once

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

#include "informer/wire_format.h"

namespace mkp {

// Whatever is given out has a key, so that no store trips over it.
inline void expect_useful(const ObjectPtr& object) {
  if (object == nullptr) std::abort();
  if (object->meta() != nullptr && object->meta()->name.empty()) std::abort();
}

// A stream in pieces of this size, until it fails.
inline void decode_stream(const WireFormat& format, ObjectKind kind, std::string_view bytes,
                          std::size_t piece) {
  std::string_view left = bytes.substr(0, 0);
  std::size_t seen = 0;
  while (left.data() + left.size() < bytes.data() + bytes.size()) {
    const std::size_t come = static_cast<std::size_t>(left.data() - bytes.data()) + left.size();
    left = {left.data(), left.size() + std::min(piece, bytes.size() - come)};
    for (;;) {
      const Result<std::size_t> frame = format.frame_size(left, seen);
      if (!frame) return;
      seen = *frame == 0 ? left.size() : 0;
      if (*frame == 0) break;
      if (*frame > left.size()) std::abort();
      const Result<WireEvent> event = format.decode_event(kind, left.substr(0, *frame));
      const auto* watched = event ? std::get_if<WatchEvent>(&*event) : nullptr;
      if (watched != nullptr) {
        if (watched->resource_version.empty()) std::abort();
        if (watched->type != WatchEvent::Type::Bookmark) expect_useful(watched->object);
      }
      left.remove_prefix(*frame);
    }
  }
}

// The first byte says what the rest is to be taken for: a list, a stream or a Status, and of which
// kind; the second one, how long a stream's pieces are.
inline int decode_fuzz_input(const WireFormat& format, const std::uint8_t* data, std::size_t size) {
  spdlog::set_level(spdlog::level::off);
  if (size < 2) return 0;
  const auto kind = static_cast<ObjectKind>(data[0] & 3);
  const std::string_view bytes(reinterpret_cast<const char*>(data + 2), size - 2);
  switch (data[0] >> 2 & 3) {
    case 0: {
      const Result<Listing> listing = format.decode_list(kind, std::string(bytes));
      if (!listing) break;
      for (const ObjectPtr& object : listing->objects) expect_useful(object);
      break;
    }
    case 1:
      (void)format.decode_status(bytes);
      break;
    default:
      decode_stream(format, kind, bytes, std::size_t{1} + data[1]);
      break;
  }
  return 0;
}

}  // namespace mkp
