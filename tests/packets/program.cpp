#include "tests/packets/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "tests/packets/descriptor.h"

namespace mkp::packets {
namespace {

constexpr int kPatienceMs = 20'000;

// Leaves the file's offset alone, which its writer shares.
std::string contents(int fd) {
  std::string text;
  std::array<char, 4096> chunk{};
  for (;;) {
    const ssize_t got = ::pread(fd, chunk.data(), chunk.size(), static_cast<off_t>(text.size()));
    if (got <= 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

// glibc 2.36 declares pidfd_open() for C alone.
Descriptor open_process(pid_t pid) {
  return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

bool ends_within(const Descriptor& process, int milliseconds) {
  pollfd end{process.get(), POLLIN, 0};
  return ::poll(&end, 1, milliseconds) == 1;
}

Result<pid_t> spawn(const std::vector<std::string>& command, int input, int output) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return fail_errno(error, "start " + command[0]);
  return pid;
}

}  // namespace

Result<std::string> run_program(const std::vector<std::string>& command, std::string_view input,
                                const std::set<int>& accepted_statuses) {
  const Descriptor in(::memfd_create("input", MFD_CLOEXEC));
  const Descriptor out(::memfd_create("output", MFD_CLOEXEC));
  if (!in || !out) return fail_errno(errno, "make files for input and output");
  if (::write(in.get(), input.data(), input.size()) != static_cast<ssize_t>(input.size())) {
    return fail_errno(errno, "write the input of " + command[0]);
  }
  ::lseek(in.get(), 0, SEEK_SET);
  const Result<pid_t> pid = spawn(command, in.get(), out.get());
  if (!pid) return tl::unexpected(pid.error());

  const Descriptor process = open_process(*pid);
  const bool ended = ends_within(process, kPatienceMs);
  if (!ended) ::kill(*pid, SIGKILL);
  int status = 0;
  ::waitpid(*pid, &status, 0);
  std::string said = contents(out.get());
  if (!ended) return fail(Errc::Unavailable, command[0] + " did not end: " + said);
  if (!WIFEXITED(status) || !accepted_statuses.contains(WEXITSTATUS(status))) {
    return fail(Errc::Invalid,
                fmt::format("{} failed (wait status {}): {}", command[0], status, said));
  }
  return said;
}

Result<RunningProgram> RunningProgram::start(const std::vector<std::string>& command) {
  const Descriptor in(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Descriptor out(::memfd_create("output", MFD_CLOEXEC));
  if (!in || !out) return fail_errno(errno, "make files for input and output");
  const Result<pid_t> pid = spawn(command, in.get(), out.get());
  if (!pid) return tl::unexpected(pid.error());
  return RunningProgram(*pid, open_process(*pid), std::move(out));
}

RunningProgram::~RunningProgram() {
  if (process_) [[maybe_unused]]
    const Result<> stopped = stop(SIGKILL);
}

bool RunningProgram::ends_within(std::chrono::milliseconds time) const {
  return packets::ends_within(process_, static_cast<int>(time.count()));
}

void RunningProgram::signal(int number) const { ::kill(pid_, number); }

Result<> RunningProgram::stop(int number) {
  signal(number);
  const bool ended = packets::ends_within(process_, kPatienceMs);
  if (!ended) ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  process_ = Descriptor();
  if (!ended) return fail(Errc::Unavailable, fmt::format("did not end at signal {}", number));
  return {};
}

std::string RunningProgram::said() const { return contents(output_.get()); }

}  // namespace mkp::packets
