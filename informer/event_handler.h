#pragma once

#include <functional>
#include <utility>

#include "informer/objects.h"

namespace mkp {

// Who wants to hear of the cluster's objects. Called on the loop thread, one call at a time and in
// order; must be quick.
class ResourceEventHandler {
 public:
  virtual ~ResourceEventHandler() = default;
  // `is_in_initial_list`: it was there when this handler came, or when the informer first listed.
  virtual void on_add(const ObjectPtr& object, bool is_in_initial_list) = 0;
  virtual void on_update(const ObjectPtr& old, const ObjectPtr& object) = 0;
  // The last known state, or a DeletedFinalStateUnknown when nobody saw the object go.
  virtual void on_delete(const ObjectPtr& object) = 0;
};

// A handler out of functions; what is missing is passed over.
class ResourceEventHandlerFuncs final : public ResourceEventHandler {
 public:
  struct Functions {
    std::function<void(const ObjectPtr& object, bool is_in_initial_list)> add{};
    std::function<void(const ObjectPtr& old, const ObjectPtr& object)> update{};
    std::function<void(const ObjectPtr& object)> remove{};
  };
  explicit ResourceEventHandlerFuncs(Functions functions) : functions_(std::move(functions)) {}

  void on_add(const ObjectPtr& object, bool is_in_initial_list) override {
    if (functions_.add) functions_.add(object, is_in_initial_list);
  }
  void on_update(const ObjectPtr& old, const ObjectPtr& object) override {
    if (functions_.update) functions_.update(old, object);
  }
  void on_delete(const ObjectPtr& object) override {
    if (functions_.remove) functions_.remove(object);
  }

 private:
  Functions functions_;
};

}  // namespace mkp
