#pragma once

#include <sys/types.h>

#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runner/result.h"
#include "tests/packets/descriptor.h"

namespace mkp::packets {

// Runs a program, found through PATH, in the calling thread's namespaces and waits until it ends,
// for 20 seconds at most. Yields what it wrote to stdout and stderr. A failure carries that too,
// and is Errc::Invalid when the program ended with a status that is not accepted.
Result<std::string> run_program(const std::vector<std::string>& command,
                                std::string_view input = "",
                                const std::set<int>& accepted_statuses = {0});

// A program that goes on, in the calling thread's namespaces. The destructor kills it.
class RunningProgram {
 public:
  static Result<RunningProgram> start(const std::vector<std::string>& command);
  ~RunningProgram();
  RunningProgram(RunningProgram&&) = default;
  RunningProgram& operator=(RunningProgram&&) = delete;

  // Whether it ends by itself before that time is over.
  bool ends_within(std::chrono::milliseconds time) const;
  void signal(int number) const;
  // Sends the signal and waits for the end.
  Result<> stop(int number);
  // What it has written to stdout and stderr so far.
  std::string said() const;

 private:
  RunningProgram(pid_t pid, Descriptor process, Descriptor output)
      : pid_(pid), process_(std::move(process)), output_(std::move(output)) {}

  pid_t pid_;
  Descriptor process_;  // false once it has ended and was waited for
  Descriptor output_;
};

}  // namespace mkp::packets
