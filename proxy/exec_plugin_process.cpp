#include "proxy/exec_plugin_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio.hpp>
#include <cerrno>
#include <csignal>
#include <utility>

namespace mkp {
namespace {

using Stream = asio::posix::stream_descriptor;

class UniqueFd {
 public:
  explicit UniqueFd(int fd) : fd_(fd) {}
  ~UniqueFd() {
    if (fd_ >= 0) close(fd_);
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;

  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// Texts as exec() takes them.
class Words {
 public:
  explicit Words(std::vector<std::string> texts) : texts_(std::move(texts)) {
    for (std::string& text : texts_) pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
  }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  char** get() { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

std::vector<std::string> words_of(const ProcessCommand& command) {
  std::vector<std::string> words{command.program};
  words.insert(words.end(), command.args.begin(), command.args.end());
  return words;
}

std::vector<std::string> environment_of(const ProcessCommand& command) {
  std::vector<std::string> texts;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!command.variables.contains(text.substr(0, text.find('=')))) texts.push_back(text);
  }
  for (const auto& [name, value] : command.variables)
    texts.push_back(fmt::format("{}={}", name, value));
  return texts;
}

// What posix_spawn() is to do besides: nothing of ours stays open in the child, it leads a group
// of its own, which can be killed as a whole, and its signals are as those of a fresh process.
class SpawnSettings {
 public:
  explicit SpawnSettings(int output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

// A process of ours; dies with this object unless it has ended before.
class ProcessRunner::Child {
 public:
  Child(pid_t pid, std::vector<pid_t>& killed) : pid_(pid), killed_(killed) {}
  ~Child() {
    if (pid_ < 0) return;
    kill(-pid_, SIGKILL);
    killed_.push_back(pid_);  // it may take the kernel a while
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }

  // Once it has ended.
  Result<int> exit_code() {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) != pid_) return fail_errno(errno, "waitpid");
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_;
  std::vector<pid_t>& killed_;
};

ProcessRunner::~ProcessRunner() { reap(); }

void ProcessRunner::reap() {
  std::erase_if(killed_, [](pid_t pid) { return waitpid(pid, nullptr, WNOHANG) != 0; });
}

asio::awaitable<Result<ProcessResult>> ProcessRunner::run(const ProcessCommand& command,
                                                          std::size_t largest_output) {
  reap();
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) co_return fail_errno(errno, "pipe");
  UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  pid_t pid = -1;
  {
    const SpawnSettings settings(writing.get());
    Words words(words_of(command));
    Words variables(environment_of(command));
    const int err = posix_spawnp(&pid, command.program.c_str(), settings.actions(),
                                 settings.attributes(), words.get(), variables.get());
    if (err != 0) co_return fail_errno(err, "start it");
  }
  Child child(pid, killed_);
  { const UniqueFd ours(writing.release()); }  // the child's alone, or its end would not be seen
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, child.pid(), 0));
  if (handle < 0) co_return fail_errno(errno, "pidfd_open");
  const auto executor = co_await asio::this_coro::executor;
  Stream ended(executor, handle);
  Stream output(executor, reading.release());
  ProcessResult result;
  std::array<char, 4096> buffer{};
  for (;;) {
    const auto [error, size] =
        co_await output.async_read_some(asio::buffer(buffer), asio::as_tuple(asio::use_awaitable));
    result.output.append(buffer.data(), size);
    if (result.output.size() > largest_output) {
      co_return fail(Errc::Invalid, fmt::format("prints more than {} bytes", largest_output));
    }
    if (error) break;
  }
  const auto [error] =
      co_await ended.async_wait(Stream::wait_read, asio::as_tuple(asio::use_awaitable));
  if (error) co_return fail(Errc::Internal, error.message());
  const Result<int> exit_code = child.exit_code();
  if (!exit_code) co_return tl::unexpected<Error>(exit_code.error());
  result.exit_code = *exit_code;
  co_return result;
}

}  // namespace mkp
