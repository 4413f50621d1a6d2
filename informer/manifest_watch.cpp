#include "informer/manifest_watch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "informer/manifest_file.h"

namespace mkp {

namespace {

constexpr std::uint32_t kSelf = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED;
constexpr std::uint32_t kInDirectory = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE |
                                       IN_DELETE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF |
                                       IN_ONLYDIR;
constexpr std::uint32_t kAbove = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE |
                                 IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

// The link that the kubelet swaps to replace all files of a mounted ConfigMap at once.
constexpr std::string_view kDataLink = "..data";

bool is_same_directory(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

std::string normal_path(const std::string& path) {
  std::error_code failed;
  std::filesystem::path normal = std::filesystem::absolute(path, failed).lexically_normal();
  if (failed) return path;
  if (!normal.has_filename()) normal = normal.parent_path();
  return normal.string();
}

}  // namespace

DirectoryWatch::DirectoryWatch(const std::string& path) : path_(normal_path(path)) {}

Result<> DirectoryWatch::open() {
  if (!inotify_) {
    inotify_ = UniqueFd(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    if (!inotify_) return fail_errno(errno, "watch " + path_ + ": inotify_init1");
  }
  // First the way there: what appears after that is heard of.
  if (Result<> watched = watch_above(); !watched) return watched;

  constexpr int kAttempts = 8;  // the directory may be replaced between our two looks at it
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    UniqueFd opened(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened) return fail_errno(errno, "open " + path_);
    const int watch = inotify_add_watch(inotify_.get(), path_.c_str(), kInDirectory);
    if (watch < 0) return fail_errno(errno, "watch " + path_);
    if (watch_ >= 0 && watch_ != watch) inotify_rm_watch(inotify_.get(), watch_);
    watch_ = watch;
    directory_ = std::move(opened);
    if (is_current()) return {};
  }
  return fail(Errc::Unavailable, "watch " + path_ + ": it is being replaced all the time");
}

bool DirectoryWatch::is_current() const {
  struct stat opened {};
  struct stat named {};
  return directory_ && watch_ >= 0 && fstat(directory_.get(), &opened) == 0 &&
         stat(path_.c_str(), &named) == 0 && is_same_directory(opened, named);
}

Result<> DirectoryWatch::watch_above() {
  std::filesystem::path below = path_;
  while (below.has_relative_path()) {
    const std::filesystem::path above = below.parent_path();
    const int watch = inotify_add_watch(inotify_.get(), above.c_str(), kAbove);
    if (watch >= 0) {
      if (above_ >= 0 && above_ != watch) inotify_rm_watch(inotify_.get(), above_);
      above_ = watch;
      above_name_ = below.filename().string();
      return {};
    }
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) {
      return fail_errno(errno, "watch " + above.string());
    }
    below = above;
  }
  return {};
}

DirectoryChanges DirectoryWatch::take() {
  DirectoryChanges changes;
  alignas(inotify_event) std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t got = read(inotify_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return changes;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const char* name = event.len > 0 ? buffer.data() + at + sizeof event : "";
      at += sizeof event + event.len;
      note(event.wd, event.mask, name, changes);
    }
  }
}

void DirectoryWatch::note(int watch, std::uint32_t mask, const std::string& name,
                          DirectoryChanges& changes) {
  if ((mask & IN_Q_OVERFLOW) != 0) {
    changes.everything = true;
    changes.directory = true;
  } else if (watch == watch_) {
    if ((mask & kSelf) != 0 || name.empty()) changes.directory = true;
    if ((mask & IN_IGNORED) != 0) watch_ = -1;
    if (name == kDataLink) changes.everything = true;
    if (is_manifest_name(name)) note_file(name, mask, changes);
  } else if (watch == above_) {
    if ((mask & kSelf) != 0 || name == above_name_) changes.directory = true;
    if ((mask & IN_IGNORED) != 0) above_ = -1;
  }
}

void DirectoryWatch::note_file(const std::string& name, std::uint32_t mask,
                               DirectoryChanges& changes) const {
  if ((mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) != 0 ||
      ((mask & IN_CREATE) != 0 && is_complete_at_creation(name))) {
    changes.written.insert(name);
  } else if ((mask & IN_CREATE) == 0) {
    changes.touched.insert(name);
  }
}

bool DirectoryWatch::is_complete_at_creation(const std::string& name) const {
  struct stat status {};
  if (fstatat(directory_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return false;
  return S_ISLNK(status.st_mode) || status.st_nlink > 1;
}

}  // namespace mkp
