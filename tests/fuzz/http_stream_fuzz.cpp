// An API server's answer as a watch reads it: HTTP in pieces, chunks, gzip, frames, events.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "informer/api_errors.h"
#include "informer/http_response.h"
#include "informer/wire_format.h"

namespace {

// Decodes all the frames that are complete, and leaves the rest in `bytes`.
bool read_frames(const mkp::WireFormat& format, std::string& bytes) {
  for (;;) {
    const mkp::Result<std::size_t> size = format.frame_size(bytes, 0);
    if (!size) return false;
    if (*size == 0) return true;
    const auto event =
        format.decode_event(mkp::ObjectKind::Service, std::string_view(bytes).substr(0, *size));
    if (event && std::holds_alternative<mkp::ApiStatus>(*event)) {
      (void)mkp::to_error(std::get<mkp::ApiStatus>(*event));
    }
    bytes.erase(0, *size);
  }
}

}  // namespace

// The first byte says how long the pieces are.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = 1 + data[0];
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  mkp::HttpResponse response;
  std::string body;
  for (std::size_t at = 0; at < bytes.size() && !response.has_ended(); at += piece) {
    if (!response.put(bytes.substr(at, piece))) return 0;
    if (!response.head()) continue;
    body += response.take_body();
    const mkp::WireFormat* format = mkp::wire_format_of(response.head()->content_type);
    if (format != nullptr && !read_frames(*format, body)) return 0;
  }
  const bool whole = response.put_end().has_value();
  if (response.head()) (void)mkp::to_error(mkp::status_of(*response.head(), body));
  (void)whole;
  return 0;
}
