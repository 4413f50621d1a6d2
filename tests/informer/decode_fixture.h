#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "informer/wire_format.h"

namespace mkp {

// A file of api_answers/: bytes that a real API server sent.
std::string api_answer(std::string_view file);

// One line, with every field that is not as in an object of no content; equal text means equal
// objects.
std::string to_text(const ObjectPtr& object);
std::string to_text(const ApiStatus& status);
std::string to_text(const WireEvent& event);
std::string to_text(const Result<WireEvent>& event);
// "at 68 continue TOKEN" and a line for each object; or the failure.
std::string to_text(const Result<Listing>& listing);

// A line for each event of a stream that comes in pieces of this size; or the failure that ends it.
// What is no whole frame at the end is told as "half an event: N bytes".
std::string events_text(const WireFormat& format, ObjectKind kind, std::string_view stream,
                        std::size_t piece);

// Collects what is logged for as long as it lives: "error Service a/b ...", a line each.
class LoggedLines {
 public:
  LoggedLines();
  ~LoggedLines();
  LoggedLines(const LoggedLines&) = delete;
  LoggedLines& operator=(const LoggedLines&) = delete;

  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mkp
