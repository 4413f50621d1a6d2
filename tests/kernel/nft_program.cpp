#include "tests/kernel/nft_program.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>

namespace mkp::nft {

NftOutcome run_nft(const std::string& arguments, const std::string& input) {
  std::string path = "/tmp/mkp-nft-XXXXXX";
  const int fd = ::mkstemp(path.data());
  if (fd < 0) return {-1, "mkstemp"};
  ::close(fd);
  std::ofstream(path) << input;

  FILE* const pipe = ::popen(("nft " + arguments + " < " + path + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {-1, "popen"};
  NftOutcome run;
  std::array<char, 4096> buffer{};
  while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    run.output.append(buffer.data(), size);
  }
  run.status = ::pclose(pipe);
  ::unlink(path.c_str());
  return run;
}

void enter_new_network_namespace() {
  if (::unshare(CLONE_NEWNET) != 0) {
    std::perror("unshare");
    std::abort();
  }
}

}  // namespace mkp::nft
