#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "informer/store.h"

namespace mkp {

// Hands on the whole content of a store, in no particular order, after each change of it. Reads
// hand on nothing, nor does a change that failed. The store is borrowed.
class UndeltaStore final : public Store {
 public:
  using Push = std::function<void(std::vector<ObjectPtr>)>;

  UndeltaStore(Store& store, Push push) : store_(store), push_(std::move(push)) {}

  Result<> add(const ObjectPtr& object) override { return pushed(store_.add(object)); }
  Result<> update(const ObjectPtr& object) override { return pushed(store_.update(object)); }
  Result<> remove(const ObjectPtr& object) override { return pushed(store_.remove(object)); }
  Result<> replace(std::vector<ObjectPtr> objects, const std::string& resource_version) override {
    return pushed(store_.replace(std::move(objects), resource_version));
  }
  Result<> resync() override { return store_.resync(); }

  std::vector<ObjectPtr> list() const override { return store_.list(); }
  std::vector<std::string> list_keys() const override { return store_.list_keys(); }
  Result<ObjectPtr> get(const ObjectPtr& object) const override { return store_.get(object); }
  Result<ObjectPtr> get_by_key(const std::string& key) const override {
    return store_.get_by_key(key);
  }

 private:
  Result<> pushed(Result<> outcome) {
    if (outcome) push_(store_.list());
    return outcome;
  }

  Store& store_;
  Push push_;
};

}  // namespace mkp
