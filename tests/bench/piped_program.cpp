#include "tests/bench/piped_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace mkp {

PipedProgram::PipedProgram(std::vector<std::string> command) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
  ::fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);  // so that the reader does not hold it up
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  output_ = ends[0];
}

PipedProgram::~PipedProgram() {
  if (output_ >= 0) ::close(output_);
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::string PipedProgram::read_all() const {
  std::string text;
  std::array<char, 4096> space{};
  for (;;) {
    const ssize_t got = ::read(output_, space.data(), space.size());
    if (got <= 0) return text;
    text.append(space.data(), static_cast<std::size_t>(got));
  }
}

std::size_t PipedProgram::pass_over(std::size_t most) const {
  static const int kNowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  const ssize_t got = ::splice(output_, nullptr, kNowhere, nullptr, most, SPLICE_F_MOVE);
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

std::size_t PipedProgram::size_until(const std::string& said) const {
  constexpr int kQuietMs = 1000;
  std::size_t total = 0;
  std::string end;  // the latest bytes
  bool found = false;
  std::vector<char> space(1 << 16);
  pollfd ready{.fd = output_, .events = POLLIN, .revents = 0};
  while (::poll(&ready, 1, found ? kQuietMs : -1) > 0) {
    const ssize_t got = ::read(output_, space.data(), space.size());
    if (got <= 0) break;
    total += static_cast<std::size_t>(got);
    end.append(space.data(), static_cast<std::size_t>(got));
    found = found || end.find(said) != std::string::npos;
    end.erase(0, end.size() - std::min(end.size(), said.size()));
  }
  return total;
}

bool drain(std::vector<std::pair<PipedProgram*, std::size_t>> programs) {
  while (!programs.empty()) {
    std::vector<pollfd> ready;
    for (const auto& [program, left] : programs) {
      ready.push_back({.fd = program->output(), .events = POLLIN, .revents = 0});
    }
    if (::poll(ready.data(), ready.size(), -1) <= 0) return false;
    for (std::size_t i = 0; i < ready.size(); ++i) {
      if (ready[i].revents == 0) continue;
      const std::size_t got = programs[i].first->pass_over(programs[i].second);
      if (got == 0) return false;
      programs[i].second -= got;
    }
    std::erase_if(programs, [](const auto& program) { return program.second == 0; });
  }
  return true;
}

}  // namespace mkp
