#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace mkp {

// The built mini-kube-proxy as a process of its own, in the network namespace of the calling
// thread.
class ProgramRun {
 public:
  // Starts it; `before_exec` runs in the child, to drop privileges for example.
  explicit ProgramRun(std::vector<std::string> arguments,
                      const std::function<void()>& before_exec = {});
  // Kills what is still running.
  ~ProgramRun();
  ProgramRun(const ProgramRun&) = delete;
  ProgramRun& operator=(const ProgramRun&) = delete;

  void signal(int number) const;
  // Its exit status; -1 when it was killed or did not end within a minute.
  int wait();
  bool running();
  std::string standard_output() const;
  std::string standard_error() const;
  // Whether standard error said that before `timeout` was over.
  bool says(const std::string& text, std::chrono::seconds timeout = std::chrono::seconds(30));
  pid_t pid() const { return pid_; }
  // The most memory that it ever had, in KiB; known once it has ended.
  long peak_memory() const { return peak_memory_; }

 private:
  bool reap(int options);

  std::string directory_;  // holds what it writes
  pid_t pid_ = -1;
  bool ended_ = false;
  int status_ = -1;
  long peak_memory_ = 0;
};

// Looks again and again, without sleeping longer than a millisecond, until `condition` holds; false
// when it did not within `timeout`.
bool eventually(const std::function<bool()>& condition,
                std::chrono::milliseconds timeout = std::chrono::seconds(10));

}  // namespace mkp
