#pragma once

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "informer/manifest_catalog.h"
#include "informer/manifest_feed.h"
#include "informer/manifest_file.h"
#include "informer/manifest_problem.h"
#include "informer/manifest_watch.h"
#include "informer/signal.h"
#include "runner/clock.h"

namespace mkp {

// A directory of *.yaml, *.yml and *.json with Services, EndpointSlices, Nodes and ServiceCIDRs, as
// the cluster: one feed for each kind, with an API server's defaults filled in and kube-proxy's
// selectors applied.
//
// Files are read when a change of them is complete (closed, moved, linked), one by one; what cannot
// be read, and a directory that is not there, leaves everything as it was. Belongs to the loop
// thread, and outlives run() and all streams.
class ManifestSource {
 public:
  explicit ManifestSource(const std::string& directory);
  ManifestSource(const ManifestSource&) = delete;
  ManifestSource& operator=(const ManifestSource&) = delete;

  ObjectSource& source(ObjectKind kind);

  // Reads the directory and begins to watch it; when that is done already, reads what has changed.
  // Fails when the directory is not there or cannot be read; run() may then be started all the
  // same, and waits for it.
  Result<> read_now();

  // Reads what changes, for ever. Returns only when watching is impossible on this machine, which
  // it logs.
  asio::awaitable<void> run();

  // Called by run() after each reading, once every open stream has taken what the reading brought.
  void on_reading(std::function<void()> call) { on_reading_ = std::move(call); }

  // All that is wrong now: the directory first, then by file, then duplicates.
  std::vector<ManifestProblem> problems() const;
  // "v1 ConfigMap": how many documents.
  const std::map<std::string, std::size_t>& passed_over() const { return catalog_.passed_over(); }

  // No file in it at all, or out of reach from the start.
  bool empty() const { return files_.empty(); }

  // Of the whole process: how often files were read, and the whole directory listed.
  std::uint64_t files_read() const { return files_read_; }
  std::uint64_t directory_scans() const { return directory_scans_; }

 private:
  using Ends = std::array<std::uint64_t, 4>;

  asio::awaitable<void> read_changes(asio::posix::stream_descriptor& events);
  asio::awaitable<void> until_there_is_something_to_read(asio::posix::stream_descriptor& events);
  asio::awaitable<void> announce_readings();

  Result<> read(DirectoryChanges changes);
  // Whether the path leads to a directory that is open and watched; `replaced` if it is another
  // than before.
  Result<> follow_path(bool& replaced);
  Result<bool> scan(bool replaced);
  Result<std::set<std::string>> list_directory();
  // Reads one file if need be, and tells whether that changed anything.
  enum class Occasion : std::uint8_t { Scan, Touched, Written };
  bool look_at(const std::string& name, const std::optional<FileIdentity>& known,
               Occasion occasion);
  std::optional<FileIdentity> known(const std::string& name) const;
  tl::unexpected<Error> lose_directory(Error why);
  void complete_reading();
  std::vector<ManifestCatalog::Report> reports() const;
  void log_news();

  DirectoryWatch watch_;
  ManifestCatalog catalog_;
  std::map<std::string, FileIdentity> files_;
  std::set<std::string> still_open_;   // closed by a writer, and yet open for writing
  int looks_ = 0;                      // at those, since the last event
  SteadyClock clock_;                  // real in tests too: the wait is for the kernel
  std::optional<std::string> outage_;  // why the directory is out of reach
  std::uint64_t reading_ = 0;
  std::uint64_t files_read_ = 0;
  std::uint64_t directory_scans_ = 0;
  std::set<std::string> logged_;  // problems that hold, without their lines
  std::set<std::string> named_;   // kinds that have been named as passed over

  Signal progress_;
  std::array<ManifestFeed, 4> feeds_;
  std::deque<Ends> untold_;  // readings that on_reading_ has yet to be called for
  std::function<void()> on_reading_;
};

}  // namespace mkp
