#pragma once

#include <string>
#include <utility>

#include "informer/event_handler.h"
#include "tests/fakes/test_object.h"

namespace mkp {

// Writes down what it is told: "add a 1 initial, update a 1 -> a 2, delete a 2".
class RecordingHandler final : public ResourceEventHandler {
 public:
  void on_add(const ObjectPtr& object, bool is_in_initial_list) override {
    write("add " + text(object) + (is_in_initial_list ? " initial" : ""));
  }
  void on_update(const ObjectPtr& old, const ObjectPtr& object) override {
    write("update " + text(old) + " -> " + text(object));
  }
  void on_delete(const ObjectPtr& object) override { write("delete " + text(object)); }

  // What it was told since the last call.
  std::string heard() { return std::exchange(heard_, {}); }

 private:
  void write(const std::string& line) { heard_ += (heard_.empty() ? "" : ", ") + line; }

  std::string heard_;
};

}  // namespace mkp
