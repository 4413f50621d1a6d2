#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "tests/api_server/test_api_server.h"

namespace mkp::api {

// A TestApiServer on a loop and a thread of its own, on the machine's clock, in the network of the
// thread that makes it. For clients that block, or are programs.
class ServerThread {
 public:
  ServerThread() : thread_([this] { loop_.run(); }) {}
  ~ServerThread() {
    loop_.stop();
    thread_.join();
  }
  ServerThread(const ServerThread&) = delete;
  ServerThread& operator=(const ServerThread&) = delete;

  // Runs on the server's thread what is to be done with it, and yields what that returns.
  template <class Act>
  auto with(Act act) {
    using Result = std::invoke_result_t<Act, TestApiServer&>;
    std::packaged_task<Result()> task([this, &act] { return act(server_); });
    std::future<Result> done = task.get_future();
    asio::post(loop_, [&task] { task(); });
    return done.get();
  }

  void start(const std::string& address = "127.0.0.1") {
    with([this, &address](TestApiServer& server) { server.start(loop_.get_executor(), address); });
  }
  void stop(Ending ending = Ending::Reset) {
    with([ending](TestApiServer& server) { server.stop(ending); });
  }

 private:
  SteadyClock clock_;
  TestApiServer server_{clock_};
  asio::io_context loop_;  // after what its tasks refer to
  asio::executor_work_guard<asio::io_context::executor_type> work_{loop_.get_executor()};
  std::thread thread_;
};

}  // namespace mkp::api
