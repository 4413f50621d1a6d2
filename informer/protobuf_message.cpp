#include "informer/protobuf_message.h"

#include <protozero/exception.hpp>

#include "informer/decode_text.h"

namespace mkp {

bool ProtobufMessage::next() {
  try {
    if (unread_) reader_.skip();
    unread_ = reader_.next();
    tag_ = unread_ ? reader_.tag() : 0;
    return unread_;
  } catch (const protozero::exception& error) {
    broken("", error.what());
    return false;
  }
}

std::string_view ProtobufMessage::bytes(std::string_view name) {
  if (!expect(protozero::pbf_wire_type::length_delimited, name)) return {};
  try {
    const protozero::data_view view = reader_.get_view();
    unread_ = false;
    return {view.data(), view.size()};
  } catch (const protozero::exception& error) {
    broken(name, error.what());
    return {};
  }
}

std::string_view ProtobufMessage::text(std::string_view name) {
  const std::string_view text = bytes(name);
  if (is_clean_text(text)) return text;
  problem_.note(name, "is not valid UTF-8");
  return {};
}

std::optional<std::int64_t> ProtobufMessage::number(std::string_view name) {
  if (!expect(protozero::pbf_wire_type::varint, name)) return std::nullopt;
  try {
    const std::int64_t number = reader_.get_int64();
    unread_ = false;
    return number;
  } catch (const protozero::exception& error) {
    broken(name, error.what());
    return std::nullopt;
  }
}

std::optional<bool> ProtobufMessage::truth(std::string_view name) {
  const std::optional<std::int64_t> value = number(name);
  if (!value) return std::nullopt;
  return *value != 0;
}

bool ProtobufMessage::expect(protozero::pbf_wire_type type, std::string_view name) {
  if (unread_ && reader_.has_wire_type(type)) return true;
  if (unread_) problem_.note(name, "has another wire type than expected");
  return false;
}

// Nothing behind this place can be told apart any more.
void ProtobufMessage::broken(std::string_view name, std::string_view what) {
  problem_.note(name, std::string("is no protobuf any more: ") + std::string(what));
  reader_ = protozero::pbf_reader();
  unread_ = false;
}

}  // namespace mkp
