#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "informer/objects.h"
#include "proxy/types.h"

namespace mkp {

// A Service as it was when changes were last taken, and as it is now; null for "did not exist".
struct ServiceChange {
  ServiceName name;
  std::shared_ptr<const Service> previous;
  std::shared_ptr<const Service> current;
};

// The Services that changed since the last take(). However many events one Service had in between,
// it is one change, and none when it ended as it began. Belongs to the loop thread.
class ServiceChanges {
 public:
  // From an informer's handler: null `before` for an addition, null `after` for a deletion. Of a
  // Service that has pending events already, only `after` counts.
  void note(const std::shared_ptr<const Service>& before,
            const std::shared_ptr<const Service>& after);

  bool empty() const { return pending_.empty(); }
  std::size_t size() const { return pending_.size(); }
  // Events noted so far.
  std::uint64_t noted() const { return noted_; }
  // All of them, by name; nothing is pending afterwards.
  std::vector<ServiceChange> take();

 private:
  std::map<ServiceName, ServiceChange> pending_;
  std::uint64_t noted_ = 0;
};

// Whether both mean the same to a proxy: nothing that it reads differs.
bool same_to_proxy(const Service& left, const Service& right);

}  // namespace mkp
