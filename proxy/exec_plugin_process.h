#pragma once

#include <sys/types.h>

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "runner/result.h"

namespace mkp {

namespace asio = boost::asio;

// A program to run: its standard input is empty, its standard error is ours.
struct ProcessCommand {
  std::string program;                           // with a slash a path, else looked up in PATH
  std::vector<std::string> args;                 // without the program
  std::map<std::string, std::string> variables;  // in addition to ours, or instead of them
};

struct ProcessResult {
  std::string output;  // standard output
  int exit_code = 0;   // -1: a signal ended it
};

// Runs one program after the other without keeping the loop waiting. Belongs to the loop thread.
class ProcessRunner {
 public:
  ProcessRunner() = default;
  ~ProcessRunner();
  ProcessRunner(const ProcessRunner&) = delete;
  ProcessRunner& operator=(const ProcessRunner&) = delete;

  // Until it has ended. One whose output exceeds `largest_output` is killed, with its children, as
  // is one whose task is cancelled. NotFound: there is no such program. `command` outlives the
  // task.
  asio::awaitable<Result<ProcessResult>> run(const ProcessCommand& command,
                                             std::size_t largest_output);

 private:
  class Child;

  // Lets go of what was killed and has ended since.
  void reap();

  std::vector<pid_t> killed_;
};

}  // namespace mkp
