#pragma once

#include <string>
#include <vector>

#include "informer/keys.h"
#include "informer/queue.h"

namespace mkp {

// The latest object of each key, in first-seen order. A deletion makes the object vanish from the
// queue unseen: this is for those who look only at what is, not for those who must hear of what is
// gone (see DeltaFifo).
class Fifo final : public Queue<ObjectPtr> {
 public:
  explicit Fifo(KeyFunc key = meta_namespace_key) : key_(std::move(key)) {}

  Result<> add(const ObjectPtr& object) override;
  Result<> update(const ObjectPtr& object) override { return add(object); }
  // The key keeps its place in the queue, for the case that it comes back before its turn.
  Result<> remove(const ObjectPtr& object) override;
  Result<> add_if_not_present(const ObjectPtr& object) override;
  // Forgets what was queued. An object without a key leaves the queue as it was.
  Result<> replace(std::vector<ObjectPtr> objects, const std::string& resource_version) override;
  // Queues what is held but not queued, which should be nothing.
  Result<> resync() override;

  std::vector<ObjectPtr> list() const;
  // Null when nothing is queued under the key of `object`.
  Result<ObjectPtr> get(const ObjectPtr& object) const;

 private:
  Result<std::string> key_of(const ObjectPtr& object) const;

  KeyFunc key_;
};

}  // namespace mkp
