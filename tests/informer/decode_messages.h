#pragma once

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace mkp {

// A protobuf message written field by field, in the order of the calls:
//   Wire().text(1, "web").number(3, 80)
class Wire {
 public:
  Wire text(std::uint32_t tag, std::string_view value) && {
    writer().add_bytes(tag, value.data(), value.size());
    return std::move(*this);
  }
  Wire message(std::uint32_t tag, const Wire& value) && {
    return std::move(*this).text(tag, value.bytes);
  }
  Wire number(std::uint32_t tag, std::int64_t value) && {
    writer().add_int64(tag, value);
    return std::move(*this);
  }
  // Eight bytes, which none of our fields are.
  Wire fixed(std::uint32_t tag) && {
    writer().add_fixed64(tag, 7);
    return std::move(*this);
  }
  Wire raw(std::string_view value) && {
    bytes += value;
    return std::move(*this);
  }

  std::string bytes;

 private:
  protozero::pbf_writer writer() { return protozero::pbf_writer(bytes); }
};

// What stands around an object, a list or a Status.
inline std::string enveloped(std::string_view api_version, std::string_view kind, const Wire& raw) {
  return "k8s" + std::string(1, '\0') +
         Wire()
             .message(1, Wire().text(1, api_version).text(2, kind))
             .message(2, raw)
             .text(3, "")
             .text(4, "")
             .bytes;
}

// One event of a watch with its length in front; `object` is enveloped.
inline std::string event_frame(std::string_view type, std::string_view object) {
  const std::string event = Wire().text(1, type).message(2, Wire().text(1, object)).bytes;
  std::string frame;
  for (int shift = 24; shift >= 0; shift -= 8) {
    frame += static_cast<char>(event.size() >> shift & 0xff);
  }
  return frame + event;
}

// ObjectMeta of shop/web at version 7.
inline Wire web_meta() { return Wire().text(1, "web").text(3, "shop").text(6, "7"); }

}  // namespace mkp
