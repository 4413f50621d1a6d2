#pragma once

#include <boost/asio/awaitable.hpp>
#include <vector>

#include "runner/ip_address.h"
#include "runner/result.h"

namespace mkp {

namespace asio = boost::asio;

// The addresses of the interfaces of one network namespace: the seam towards the kernel. Belongs to
// the loop thread.
class Addresses {
 public:
  virtual ~Addresses() = default;

  // All of them, loopback's too, in any state and of any scope; sorted and unique.
  virtual Result<std::vector<IpAddress>> list() = 0;

  // Returns once list() may give something else than it last did; until list() is called again, at
  // once. A list() that failed counts as none: who tries again must pause by himself. Events that
  // were lost count as a change. A failure means that changes are no longer told.
  virtual asio::awaitable<Result<>> changed() = 0;
};

}  // namespace mkp
