#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "informer/store.h"
#include "tests/fakes/test_object.h"

namespace mkp {

// What a consumer is said to know already, whatever goes through the queue.
class FixedKnownObjects final : public KnownObjects {
 public:
  FixedKnownObjects() = default;
  explicit FixedKnownObjects(std::map<std::string, int> values) {
    for (const auto& [key, value] : values) answers_[key] = test_object(key, value);
  }

  // Listed, yet not found, or not to be looked up at all.
  void deny(const std::string& key) { answers_[key] = nullptr; }
  void fail_on(const std::string& key) {
    answers_[key] = fail(Errc::Unavailable, "store out of order");
  }

  std::vector<std::string> list_keys() const override {
    std::vector<std::string> keys;
    for (const auto& [key, answer] : answers_) keys.push_back(key);
    return keys;
  }
  Result<ObjectPtr> get_by_key(const std::string& key) const override {
    const auto found = answers_.find(key);
    return found == answers_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::string, Result<ObjectPtr>> answers_;
};

}  // namespace mkp
