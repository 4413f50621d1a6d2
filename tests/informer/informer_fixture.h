#pragma once

#include <gtest/gtest.h>

#include "informer/shared_informer.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/in_memory_cluster.h"
#include "tests/fakes/test_loop.h"
#include "tests/informer/recording_handler.h"

namespace mkp {

// A shared informer over a cluster in memory, on fake time.
class InformerTest : public testing::Test {
 protected:
  using Heard = InMemoryCluster::Heard;

  void start() { loop_.start(informer_.run()); }
  // Longer than any delay before the next list.
  void pass_backoff() { loop_.pass(std::chrono::minutes(1)); }

  FakeClock clock_;
  InMemoryCluster cluster_;
  RecordingHandler handler_;
  RecordingHandler other_handler_;
  SharedInformer informer_{cluster_, clock_, SharedInformer::Options{}};
  TestLoop loop_{clock_};
};

}  // namespace mkp
