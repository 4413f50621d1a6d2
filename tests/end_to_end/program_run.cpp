#include "tests/end_to_end/program_run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace mkp {
namespace {

std::string new_directory() {
  std::string path = (std::filesystem::temp_directory_path() / "mkp-run-XXXXXX").string();
  return ::mkdtemp(path.data()) ? path : std::string();
}

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void redirect(const std::string& path, int descriptor) {
  const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0666);
  ::dup2(file, descriptor);
}

}  // namespace

ProgramRun::ProgramRun(std::vector<std::string> arguments, const std::function<void()>& before_exec)
    : directory_(new_directory()) {
  arguments.insert(arguments.begin(), MKP_PROXY_PROGRAM);
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ != 0) return;
  redirect(directory_ + "/stdout", STDOUT_FILENO);
  redirect(directory_ + "/stderr", STDERR_FILENO);
  if (before_exec) before_exec();
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

ProgramRun::~ProgramRun() {
  if (running()) {
    ::kill(pid_, SIGKILL);
    reap(0);
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void ProgramRun::signal(int number) const { ::kill(pid_, number); }

bool ProgramRun::reap(int options) {
  if (ended_) return true;
  int status = 0;
  rusage usage{};
  if (::wait4(pid_, &status, options, &usage) != pid_) return false;
  ended_ = true;
  peak_memory_ = usage.ru_maxrss;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return true;
}

int ProgramRun::wait() {
  eventually([this] { return reap(WNOHANG); }, std::chrono::minutes(1));
  return status_;
}

bool ProgramRun::running() { return !reap(WNOHANG); }

std::string ProgramRun::standard_output() const { return text_of(directory_ + "/stdout"); }

std::string ProgramRun::standard_error() const { return text_of(directory_ + "/stderr"); }

bool ProgramRun::says(const std::string& text, std::chrono::seconds timeout) {
  const auto said = [&] { return standard_error().find(text) != std::string::npos; };
  eventually([&] { return said() || !running(); }, timeout);
  return said();
}

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

}  // namespace mkp
