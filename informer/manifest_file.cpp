#include "informer/manifest_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <functional>

#include "informer/manifest_unique_fd.h"
#include "informer/manifest_yaml.h"

namespace mkp {

namespace {

using Outcome = FileReading::Outcome;

// Several ticks of the slowest kernel (100 Hz).
constexpr std::int64_t kUnsettledNs = 50'000'000;

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

FileIdentity identity_of(const struct stat& status) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const std::int64_t modified = nanoseconds(status.st_mtim);
  return {status.st_dev,
          status.st_ino,
          status.st_size,
          modified,
          nanoseconds(now) - modified > kUnsettledNs,
          0};
}

FileReading unreadable(std::string why) { return {Outcome::Unreadable, {}, {}, std::move(why)}; }

bool is_link(int directory, const std::string& name) {
  struct stat status {};
  return fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISLNK(status.st_mode);
}

// Whether somebody has the file open for writing. A read lease tells, as it is refused then; it is
// given back at once. Where leases cannot be had (another's file, a network file system) the answer
// is no.
bool is_open_for_writing(int file) {
  // Should a writer come in between, the kernel's notice must not be SIGIO, which ends a process.
  if (fcntl(file, F_SETSIG, SIGURG) != 0) return false;
  if (fcntl(file, F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN;
  fcntl(file, F_SETLEASE, F_UNLCK);
  return false;
}

// Whether the descriptor gave as many bytes as it promised, and no more.
bool read_all(int file, std::size_t size, std::string& text) {
  text.resize(size + 1);
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = read(file, text.data() + have, text.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return have == size;
}

FileReading failed_to_open(int directory, const std::string& name, int err) {
  if (err == ENOENT && !is_link(directory, name)) return {};
  if (err == ENOENT) return unreadable("is a link that leads nowhere");
  return unreadable(fmt::format("cannot be opened: {}", std::strerror(err)));
}

}  // namespace

bool FileIdentity::is_same_file_state(const FileIdentity& now) const {
  return device == now.device && inode == now.inode && size == now.size &&
         modified_ns == now.modified_ns;
}

bool is_manifest_name(std::string_view name) {
  if (name.empty() || name.front() == '.') return false;
  return name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json");
}

FileReading read_manifest_file(int directory, const std::string& name,
                               const std::optional<FileIdentity>& known) {
  const UniqueFd file(
      openat(directory, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return failed_to_open(directory, name, errno);
  struct stat before {};
  if (fstat(file.get(), &before) != 0) return unreadable(std::strerror(errno));
  if (S_ISDIR(before.st_mode)) return {};
  if (!S_ISREG(before.st_mode)) return unreadable("is not a regular file");
  const FileIdentity identity = identity_of(before);
  if (known && known->settled && known->is_same_file_state(identity)) {
    return {Outcome::Unchanged, {}, *known, {}};
  }
  const auto size = static_cast<std::size_t>(before.st_size);
  if (size > kMaxYamlBytes) {
    return unreadable(fmt::format("is larger than {} MiB", kMaxYamlBytes >> 20));
  }

  FileReading reading{Outcome::Read, {}, identity, {}};
  struct stat after {};
  const bool whole = !is_open_for_writing(file.get()) && read_all(file.get(), size, reading.text) &&
                     fstat(file.get(), &after) == 0 &&
                     identity.is_same_file_state(identity_of(after)) &&
                     !is_open_for_writing(file.get());
  if (whole) {
    reading.identity.content = std::hash<std::string>{}(reading.text);
    return reading;
  }
  // Writes to what a link leads to are not seen by a watch on the directory.
  if (is_link(directory, name)) return unreadable("is a link to a file that is being written");
  return {Outcome::BeingWritten, {}, {}, {}};
}

}  // namespace mkp
