#pragma once

#include <optional>
#include <string>

#include "runner/result.h"
#include "tests/packets/cluster_directory.h"
#include "tests/packets/program.h"

namespace mkp::packets {

// How the program under test follows the steps of a case.
enum class Following {
  RunOnce,     // with --once at each step: it remembers nothing but what the kernel holds
  KeptRunning  // one process for all steps
};

// The program under test, called with --config and --manifests.
class ProxyUnderTest {
 public:
  struct Expected {
    bool ipv6 = true;       // the node speaks it, so that rules of that family are to be waited for
    bool unserved = false;  // a run with --once may tell, by exit status 1, of objects not served
  };
  ProxyUnderTest(std::string program, Following following, ClusterDirectory& cluster,
                 const Expected& expected)
      : program_(std::move(program)),
        following_(following),
        cluster_(cluster),
        expected_(expected) {}

  // Returns when what the cluster directory holds by now is in the kernel.
  Result<> sync();
  // Sends a signal to a process that is kept running.
  void signal(int number) const;
  // Ends a process that is kept running; the next sync() starts another.
  Result<> stop(int signal);

 private:
  Result<> run_once() const;
  Result<> start();
  // A process that is kept running takes changes in the order in which they were written. So the
  // last one is a Service of our own, whose cluster IP is another each time.
  Result<> write_sentinel();
  Result<> await_sentinel();

  std::string program_;
  Following following_;
  ClusterDirectory& cluster_;
  Expected expected_;
  std::optional<RunningProgram> process_;
  int syncs_ = 0;
};

}  // namespace mkp::packets
