#pragma once

#include <boost/asio.hpp>
#include <type_traits>
#include <utility>

namespace mkp {

namespace asio = boost::asio;

// The thread that owns model, diff and kernel, so that a long commit never stalls the watch. One
// job at a time; the loop thread goes on meanwhile.
class SyncThread {
 public:
  // Runs `job` on this thread and resumes the caller on its own executor with the result. Cannot be
  // cancelled: a transaction under way is finished.
  template <class Job>
  asio::awaitable<std::invoke_result_t<Job>> run(Job job) {
    using Answer = std::invoke_result_t<Job>;
    const auto initiate = [this](auto handler, Job todo) {
      const auto caller = asio::get_associated_executor(handler);
      asio::post(pool_, [handler = std::move(handler), todo = std::move(todo), caller,
                         alive = asio::make_work_guard(caller)]() mutable {
        asio::post(caller, [handler = std::move(handler), answer = todo()]() mutable {
          std::move(handler)(std::move(answer));
        });
      });
    };
    return asio::async_initiate<const asio::use_awaitable_t<>, void(Answer)>(
        initiate, asio::use_awaitable, std::move(job));
  }

 private:
  asio::thread_pool pool_{1};
};

}  // namespace mkp
