#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "informer/objects.h"
#include "proxy/types.h"

namespace mkp {

// An EndpointSlice as it was when changes were last taken, and as it is now; null for "did not
// exist". Both name their Service, and not always the same one.
struct EndpointChange {
  std::shared_ptr<const EndpointSlice> previous;
  std::shared_ptr<const EndpointSlice> current;
};

// The EndpointSlices that changed since the last take(), folded as ServiceChanges does. Slices
// without an owner label or with addresses of another kind than IPv4 and IPv6 are no business of a
// proxy; the former are reported in the log. Belongs to the loop thread.
class EndpointChanges {
 public:
  void note(const std::shared_ptr<const EndpointSlice>& before,
            const std::shared_ptr<const EndpointSlice>& after);

  bool empty() const { return pending_.empty(); }
  std::size_t size() const { return pending_.size(); }
  // Events noted so far.
  std::uint64_t noted() const { return noted_; }
  std::vector<EndpointChange> take();

 private:
  std::map<std::pair<std::string, std::string>, EndpointChange> pending_;  // by namespace and name
  std::uint64_t noted_ = 0;
};

bool same_to_proxy(const EndpointSlice& left, const EndpointSlice& right);

}  // namespace mkp
