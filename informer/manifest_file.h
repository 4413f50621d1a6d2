#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mkp {

// What tells one state of a file from the next without reading it.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  std::int64_t modified_ns = 0;  // since 1970
  // Whether the file was old enough when it was looked at that another write would have shown in
  // modified_ns, which moves on with the kernel's tick only.
  bool settled = false;
  // A hash of the text that was read: a mounted ConfigMap is replaced as a whole, by files most of
  // which say what they said before.
  std::uint64_t content = 0;

  bool is_same_file_state(const FileIdentity& now) const;
};

struct FileReading {
  enum class Outcome : std::uint8_t {
    Read,
    Unchanged,     // is as `known`
    Gone,          // there is no such file (a directory of that name is none)
    BeingWritten,  // its writer is not finished; IN_CLOSE_WRITE will tell
    Unreadable,    // `why`
  };
  Outcome outcome = Outcome::Gone;
  std::string text;
  FileIdentity identity;
  std::string why;
};

// *.yaml, *.yml, *.json, not hidden.
bool is_manifest_name(std::string_view name);

// Reads one file of an open directory, all of it or nothing. With `known`, not if it is still the
// same.
FileReading read_manifest_file(int directory, const std::string& name,
                               const std::optional<FileIdentity>& known);

}  // namespace mkp
