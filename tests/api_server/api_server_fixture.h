#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/api_server/loop_client.h"
#include "tests/api_server/test_api_server.h"
#include "tests/fakes/fake_clock.h"

namespace mkp::api {

// The test API server and its clients on one loop, on fake time.
class ApiServerFixture : public testing::Test {
 protected:
  ApiServerFixture() { server_.start(loop_.get_executor()); }

  static Service service(const std::string& name, const std::string& cluster_ip = "172.30.0.1") {
    Service made;
    made.metadata.name_space = "default";
    made.metadata.name = name;
    made.cluster_ip = cluster_ip;
    return made;
  }
  std::uint64_t put(const std::string& name, const Extras& extras = {}) {
    return server_.store().put(draft(service(name), extras));
  }

  LoopClient connect() { return {loop_, server_.port()}; }
  // A client that has asked for that.
  std::unique_ptr<LoopClient> ask(const std::string& target, const std::string& headers = "") {
    auto client = std::make_unique<LoopClient>(loop_, server_.port());
    client->get(target, headers);
    return client;
  }
  std::string body_of(const std::string& target) { return ask(target)->body(); }

  void settle() {
    loop_.restart();
    loop_.poll();
  }
  void pass(Duration time) {
    clock_.advance(time);
    settle();
  }

  FakeClock clock_;
  TestApiServer server_{clock_};
  asio::io_context loop_;  // last: dies first
};

}  // namespace mkp::api
