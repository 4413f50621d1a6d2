#include "informer/json_document.h"

#include <utility>

#include "informer/decode_text.h"

namespace mkp {

JsonDocument::JsonDocument(std::string text) : text_(std::move(text)) {}

simdjson::error_code JsonDocument::parse() {
  text_.reserve(text_.size() + simdjson::SIMDJSON_PADDING);
  return parser_.iterate(text_.data(), text_.size(), text_.capacity() + 1).get(document_);
}

bool JsonDocument::start(JsonReader& json, JsonValue& root) {
  simdjson::error_code error = parse();
  if (error == simdjson::UTF8_ERROR) {
    text_ = with_valid_utf8(text_);
    error = parse();
  }
  if (!json.take(error)) return false;
  simdjson::ondemand::json_type type = simdjson::ondemand::json_type::null;
  if (!json.take(document_.type().get(type))) return false;
  if (type != simdjson::ondemand::json_type::object) return json.take(simdjson::INCORRECT_TYPE);
  return json.take(document_.get_value().get(root));
}

void JsonDocument::finish(JsonReader& json) {
  if (json.broken()) return;
  // Out of bounds is where a parser stands that has read everything.
  if (document_.current_location().error() != simdjson::OUT_OF_BOUNDS) {
    json.take(simdjson::TRAILING_CONTENT);
  }
}

}  // namespace mkp
