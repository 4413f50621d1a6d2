#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace mkp {

// A program whose standard output is read as it comes. The destructor kills it.
class PipedProgram {
 public:
  explicit PipedProgram(std::vector<std::string> command);
  ~PipedProgram();
  PipedProgram(const PipedProgram&) = delete;
  PipedProgram& operator=(const PipedProgram&) = delete;

  // Everything until it ends.
  std::string read_all() const;
  // How many bytes there are until it ends, or is silent for a second after it has said that.
  std::size_t size_until(const std::string& said) const;
  // What is there to be read, passed over, at most so much. Nothing: it has ended.
  std::size_t pass_over(std::size_t most) const;
  int output() const { return output_; }

 private:
  pid_t pid_ = -1;
  int output_ = -1;
};

// Reads so many bytes of each, side by side; false when one ended before.
bool drain(std::vector<std::pair<PipedProgram*, std::size_t>> programs);

}  // namespace mkp
