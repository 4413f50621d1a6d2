#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <string_view>
#include <utility>
#include <variant>

#include "runner/clock.h"
#include "runner/result.h"

namespace mkp {

// Waits for `task` until `deadline`; then it is cancelled, and the outcome is Unreachable with
// "`what`: timed out". For what a peer is waited for.
template <class T>
asio::awaitable<Result<T>> within(TimePoint deadline, Clock& clock, std::string_view what,
                                  asio::awaitable<Result<T>> task) {
  using namespace asio::experimental::awaitable_operators;
  auto ended = co_await (std::move(task) || clock.sleep_until(deadline));
  if (auto* outcome = std::get_if<0>(&ended)) co_return std::move(*outcome);
  co_return fail(Errc::Unreachable, std::string(what) + ": timed out");
}

}  // namespace mkp
