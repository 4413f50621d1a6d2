#pragma once

#include <boost/asio.hpp>
#include <memory>
#include <set>

namespace mkp {

namespace asio = boost::asio;

// Lets coroutines of the loop thread wait until other code of that thread says that something
// changed. A waiter looks again by itself: `while (!changed()) co_await signal.wait();`
class Signal {
 public:
  void notify() {
    for (asio::steady_timer* waiter : waiters_) waiter->cancel();
  }

  asio::awaitable<void> wait() {
    asio::steady_timer alarm(co_await asio::this_coro::executor,
                             asio::steady_timer::time_point::max());
    const auto forget = [this](asio::steady_timer* woken) { waiters_.erase(woken); };
    const std::unique_ptr<asio::steady_timer, decltype(forget)> waiting(&alarm, forget);
    waiters_.insert(&alarm);
    co_await alarm.async_wait(asio::as_tuple(asio::use_awaitable));
  }

 private:
  std::set<asio::steady_timer*> waiters_;
};

}  // namespace mkp
