#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "informer/keys.h"
#include "informer/queue.h"

namespace mkp {

enum class DeltaType : std::uint8_t {
  Added,
  Updated,
  Deleted,   // the object is the last known one, or a tombstone when nobody saw it go
  Replaced,  // was in a list; whether it changed is unknown
  Sync,      // nothing is known to have changed
};
std::string_view to_text(DeltaType type);

struct Delta {
  DeltaType type = DeltaType::Added;
  ObjectPtr object;
  bool operator==(const Delta&) const = default;
};

// All that happened to one object since it was last popped, oldest first. An object itself, so that
// it can be given to add_if_not_present().
struct Deltas final : Object {
  std::vector<Delta> deltas;

  // Null when there are none.
  const Delta* oldest() const { return deltas.empty() ? nullptr : &deltas.front(); }
  const Delta* newest() const { return deltas.empty() ? nullptr : &deltas.back(); }
};

// Every change of each object, in first-seen order of their keys, so that a consumer sees
// everything that happened to an object, deletions included, and handles each object once a turn.
// Between pops the deltas of a key pile up; only of two deletions in a row one is dropped: the
// observed one stays rather than the inferred one, else the older.
class DeltaFifo final : public Queue<Deltas> {
 public:
  struct Options {
    KeyFunc key = meta_namespace_key;
    // What the consumer has already, usually the indexer that it fills from this queue. It tells
    // which deletions are news, what a list no longer has, and what to resync. Borrowed, may be
    // null; called under the queue's lock.
    const KnownObjects* known_objects = nullptr;
    // Off, replace() says Sync where it could say Replaced, as older consumers expect.
    bool emit_replaced = false;
    // Sees every object that comes in, but for tombstones and what resync() takes from the known
    // objects.
    Transformer transformer{};
  };
  DeltaFifo();
  explicit DeltaFifo(Options options) : options_(std::move(options)) {}

  Result<> add(const ObjectPtr& object) override;
  Result<> update(const ObjectPtr& object) override;
  // Ignored when neither the queue nor the known objects have it: a list may have told already. In
  // place of an UnreadableObject comes a tombstone with the last known state.
  Result<> remove(const ObjectPtr& object) override;
  // Queues the objects, then tombstones for all that was queued or known and is not among them.
  // An UnreadableObject is among them, and not queued. When it fails, the objects before the one
  // that failed stay queued.
  Result<> replace(std::vector<ObjectPtr> objects, const std::string& resource_version) override;
  // Queues Sync for each known object with nothing queued, by key, so that its handlers see it
  // again.
  Result<> resync() override;
  // `object` must be Deltas.
  Result<> add_if_not_present(const ObjectPtr& object) override;

  Transformer transformer() const override { return options_.transformer; }

  // The newest object of each key; may be a tombstone.
  std::vector<ObjectPtr> list() const;
  std::optional<Deltas> get(const ObjectPtr& object) const;

  // The key of an object, of a tombstone, or of the newest of some Deltas.
  Result<std::string> key_of(const ObjectPtr& object) const;

 private:
  enum class Source : std::uint8_t { Feed, KnownObjects };
  // What a replace() finds out as it goes through its list.
  struct Replacement {
    std::unordered_set<std::string_view> unlisted;  // of what was queued before; keys in queue_
    std::size_t listed_again = 0;                   // of that, and readable
    std::unordered_set<std::string> unreadable;
  };

  Result<> feed(DeltaType type, const ObjectPtr& object);
  Result<> enqueue(DeltaType type, const ObjectPtr& object, Source source);
  Result<> enqueue(DeltaType type, const std::string& key, const ObjectPtr& object, Source source);
  Result<> enqueue_listed(const std::vector<ObjectPtr>& objects, Replacement& found);
  Result<std::size_t> infer_deletions(std::size_t queued_before, const Replacement& found);
  Result<> resync_one(const std::string& key);
  bool is_deletion_news(const std::string& key) const;
  ObjectPtr last_known(const std::string& key) const;

  Options options_;
};

// Drops one of the last two when both are deletions: see DeltaFifo.
void drop_duplicate_deletion(Deltas& deltas);

}  // namespace mkp
