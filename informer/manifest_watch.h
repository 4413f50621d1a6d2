#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "informer/manifest_unique_fd.h"
#include "runner/result.h"

namespace mkp {

// What has happened to a directory of manifests.
struct DirectoryChanges {
  std::set<std::string> written;  // closed by a writer, moved here or linked here: to be read
  std::set<std::string> touched;  // gone, or with other permissions: to be looked at
  bool everything =
      false;  // events were lost, or ..data leads elsewhere: all files are to be looked at
  bool directory = false;  // it may have gone, come or been replaced

  bool any() const { return everything || directory || !written.empty() || !touched.empty(); }
};

// inotify on one directory, by its path: follows the path to whatever directory it leads to next,
// by watching the nearest directory above it that exists.
class DirectoryWatch {
 public:
  explicit DirectoryWatch(const std::string& path);

  // Opens and watches what the path leads to now. On failure the way there is watched, so that wait
  // and try again.
  Result<> open();
  // Whether the path still leads to the directory that is open.
  bool is_current() const;
  const std::string& path() const { return path_; }
  int directory() const { return directory_.get(); }
  // To wait on until it can be read; the same for life, and -1 before open().
  int events() const { return inotify_.get(); }

  // What has happened since the last call, without waiting.
  DirectoryChanges take();

 private:
  Result<> watch_above();
  void note(int watch, std::uint32_t mask, const std::string& name, DirectoryChanges& changes);
  void note_file(const std::string& name, std::uint32_t mask, DirectoryChanges& changes) const;
  // A plain file that has just been created is still empty, and will be closed by whoever fills it.
  bool is_complete_at_creation(const std::string& name) const;

  std::string path_;  // absolute
  UniqueFd inotify_;
  UniqueFd directory_;
  int watch_ = -1;
  int above_ = -1;          // the watch on a directory above
  std::string above_name_;  // the entry of it that leads to ours
};

}  // namespace mkp
