#pragma once

#include <cstdint>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>

#include "informer/decode_problem.h"

namespace mkp {

// One protobuf message, read field by field; alone in knowing protozero, whose exceptions end here.
// What is wrong is noted in `problem`. Bytes that are no field end the message; a field of another
// wire type than expected reads as absent. Fields that nobody reads are passed over.
//
// All views point into the bytes given.
class ProtobufMessage {
 public:
  ProtobufMessage(std::string_view bytes, DecodeProblem& problem)
      : reader_(bytes.data(), bytes.size()), problem_(problem) {}

  // Goes to the next field; false at the end.
  bool next();
  std::uint32_t tag() const { return tag_; }

  // The field that next() has gone to, each at most once. `name` is for the notes.
  std::string_view bytes(std::string_view name);  // of a message, too
  std::string_view text(std::string_view name);
  std::optional<std::int64_t> number(std::string_view name);
  std::optional<bool> truth(std::string_view name);

 private:
  bool expect(protozero::pbf_wire_type type, std::string_view name);
  void broken(std::string_view name, std::string_view what);

  protozero::pbf_reader reader_;
  DecodeProblem& problem_;
  std::uint32_t tag_ = 0;
  bool unread_ = false;  // the reader stands before the field's value
};

}  // namespace mkp
