#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "informer/delta_fifo.h"
#include "tests/informer/known_objects.h"
#include "tests/informer/queue_driver.h"

namespace mkp {

// A DeltaFifo that says Sync for what is listed and knows nothing, unless told otherwise first.
class DeltaFifoTest : public testing::Test {
 protected:
  void known(std::map<std::string, int> values) {
    known_ = FixedKnownObjects(std::move(values));
    options_.known_objects = &known_;
    queue_.emplace(options_);
  }
  void emit_replaced() {
    options_.emit_replaced = true;
    queue_.emplace(options_);
  }
  void transform(Transformer transformer) {
    options_.transformer = std::move(transformer);
    queue_.emplace(options_);
  }

  void add(const std::string& key, int value) { ASSERT_TRUE(queue_->add(test_object(key, value))); }
  void update(const std::string& key, int value) {
    ASSERT_TRUE(queue_->update(test_object(key, value)));
  }
  void remove(const std::string& key, int value) {
    ASSERT_TRUE(queue_->remove(test_object(key, value)));
  }
  void remove_object(const ObjectPtr& object) { ASSERT_TRUE(queue_->remove(object)); }
  void replace(std::vector<ObjectPtr> objects) {
    ASSERT_TRUE(queue_->replace(std::move(objects), "0"));
  }

  bool has_synced() const { return queue_->has_synced(); }
  std::string pop() { return pop_text(*queue_); }

  // All that is queued, an item a line.
  std::string pop_all() {
    std::string all;
    while (!queue_->empty()) all += pop() + '\n';
    return all;
  }

  FixedKnownObjects known_;
  DeltaFifo::Options options_;
  std::optional<DeltaFifo> queue_{std::in_place};
};

}  // namespace mkp
