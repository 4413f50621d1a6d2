#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "configs/api_server_config.h"
#include "runner/clock.h"
#include "runner/result.h"

namespace mkp {

// PEM texts that belong together, such as a certificate and its key, and are used together or not
// at all: those that lie in files are followed. Belongs to one thread.
class PemFiles {
 public:
  // Whether the texts, in the order of the sources, can be used.
  using Check = Result<> (*)(const std::vector<std::string>& texts);

  // `what` they are, for messages: "client certificate and key".
  PemFiles(std::vector<PemSource> sources, std::string what, Check check);

  // Looks at the files at most every second, and takes over what can be used. What cannot, such as
  // files that are written just now, is logged once and leaves the texts as they were. Fails when
  // there were none yet; until there are, each look reads.
  Result<> refresh(TimePoint now);

  // Empty before refresh() was successful.
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  // Tells one state of a file from another.
  struct Stamp {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = -1;  // the file is not there
    timespec modified{};

    bool operator==(const Stamp& other) const;
  };

  std::vector<Stamp> stamps() const;
  Result<std::vector<std::string>> read() const;
  std::string names() const;
  void take_over(std::vector<std::string> texts);
  Result<> keep(const Error& why);

  const std::vector<PemSource> sources_;
  const std::string what_;
  const Check check_;
  std::vector<std::string> texts_;
  std::vector<Stamp> stamps_;  // of the last reading
  std::optional<TimePoint> next_look_;
  // Read again although nothing changed: what was written in the same tick of the file system's
  // clock has the same time.
  bool unsettled_ = true;
  std::string complaint_;  // that was logged last, and stands
};

// A token in a file, which is replaced before it expires.
class TokenFile {
 public:
  // `token` is used until the file can be read; empty: there is none.
  TokenFile(std::string path, std::string token);

  // Reads the file when the last reading is 50 s old or more. When that fails, which is logged
  // once, the token stays as it is; without one it is an error.
  Result<std::string> current(TimePoint now);

  // It is read before the next use.
  void expire() { next_read_.reset(); }

 private:
  Result<std::string> read() const;

  const std::string path_;
  std::string token_;
  std::optional<TimePoint> next_read_;
  bool complained_ = false;
};

}  // namespace mkp
