#pragma once

#include <simdjson.h>

#include <string>

#include "informer/json_reader.h"

namespace mkp {

// One JSON text and the parser that walks over it. Holds about twice the text's size until it dies.
class JsonDocument {
 public:
  // Invalid UTF-8 within strings counts as U+FFFD, as for Kubernetes' own clients.
  explicit JsonDocument(std::string text);
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  // Calls visit(key, value) for each field of the object that the text is, as JsonReader::fields
  // does. Once. `json` is broken afterwards unless the text is one object and nothing else.
  template <class Visit>
  void fields(JsonReader& json, Visit visit) {
    if (JsonValue root; start(json, root)) json.fields(root, "", visit);
    finish(json);
  }

 private:
  bool start(JsonReader& json, JsonValue& root);
  void finish(JsonReader& json);
  simdjson::error_code parse();

  std::string text_;
  simdjson::ondemand::parser parser_;
  simdjson::ondemand::document document_;
};

}  // namespace mkp
