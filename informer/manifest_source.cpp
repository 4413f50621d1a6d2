#include "informer/manifest_source.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "informer/manifest_decode.h"

namespace mkp {

namespace {

// A file that was closed but looks open is looked at again after 1, 2, 4, ... 512 ms.
constexpr Duration kFirstLook = std::chrono::milliseconds(1);
constexpr int kLooks = 10;

// Readings that a slow stream may hold up before they are told together.
constexpr std::size_t kMaxUntold = 256;

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { closedir(directory); }
};

}  // namespace

ManifestSource::ManifestSource(const std::string& directory)
    : watch_(directory),
      feeds_{ManifestFeed([this] { return catalog_.objects(ObjectKind::Service); },
                          [this] { progress_.notify(); }),
             ManifestFeed([this] { return catalog_.objects(ObjectKind::EndpointSlice); },
                          [this] { progress_.notify(); }),
             ManifestFeed([this] { return catalog_.objects(ObjectKind::Node); },
                          [this] { progress_.notify(); }),
             ManifestFeed([this] { return catalog_.objects(ObjectKind::ServiceCidr); },
                          [this] { progress_.notify(); })} {}

ObjectSource& ManifestSource::source(ObjectKind kind) {
  return feeds_[static_cast<std::size_t>(kind)];
}

Result<> ManifestSource::read_now() {
  DirectoryChanges changes;
  if (watch_.events() >= 0) changes = watch_.take();
  changes.everything = changes.everything || reading_ == 0;
  return read(std::move(changes));
}

asio::awaitable<void> ManifestSource::run() {
  using namespace asio::experimental::awaitable_operators;
  if (reading_ == 0) {
    // A failure is a problem by now, and the way to the directory is watched.
    (void)read_now().has_value();
  }
  asio::posix::stream_descriptor events(co_await asio::this_coro::executor);
  boost::system::error_code failed;
  events.assign(fcntl(watch_.events(), F_DUPFD_CLOEXEC, 0), failed);
  if (failed) {
    spdlog::error(
        "manifests: {} cannot be watched ({}); its changes will not be served until a restart",
        watch_.path(), failed.message());
    co_return;
  }
  co_await (read_changes(events) || announce_readings());
}

asio::awaitable<void> ManifestSource::read_changes(asio::posix::stream_descriptor& events) {
  for (;;) {
    co_await until_there_is_something_to_read(events);
    DirectoryChanges changes = watch_.take();
    if (changes.any()) looks_ = 0;
    changes.written.merge(std::exchange(still_open_, {}));
    if (changes.any()) (void)read(std::move(changes)).has_value();
    // Somebody has opened it anew, and will close it.
    if (looks_ >= kLooks) still_open_.clear();
  }
}

// For an event; or, where a file was closed but looked open, for the moment that the kernel takes
// from telling of the close to counting the writer out.
asio::awaitable<void> ManifestSource::until_there_is_something_to_read(
    asio::posix::stream_descriptor& events) {
  using namespace asio::experimental::awaitable_operators;
  auto event = events.async_wait(asio::posix::stream_descriptor::wait_read,
                                 asio::as_tuple(asio::use_awaitable));
  if (still_open_.empty()) {
    co_await std::move(event);
    co_return;
  }
  asio::awaitable<void> pause = clock_.sleep_until(later(clock_.now(), kFirstLook * (1 << looks_)));
  const auto first = co_await (std::move(event) || std::move(pause));
  if (first.index() == 1) ++looks_;
}

asio::awaitable<void> ManifestSource::announce_readings() {
  for (;;) {
    while (!untold_.empty()) {
      bool taken = true;
      for (std::size_t kind = 0; kind < feeds_.size(); ++kind) {
        taken = taken && feeds_[kind].is_taken(untold_.front()[kind]);
      }
      if (!taken) break;
      untold_.pop_front();
      if (on_reading_) on_reading_();
    }
    co_await progress_.wait();
  }
}

Result<> ManifestSource::read(DirectoryChanges changes) {
  bool replaced = false;
  if (Result<> followed = follow_path(replaced); !followed) {
    return lose_directory(std::move(followed.error()));
  }
  bool changed = false;
  if (changes.everything || replaced || outage_) {
    Result<bool> scanned = scan(replaced && reading_ != 0);
    if (!scanned) return lose_directory(std::move(scanned.error()));
    changed = *scanned;
  }
  for (const std::string& name : changes.written) {
    changed = look_at(name, std::nullopt, Occasion::Written) || changed;
    changes.touched.erase(name);
  }
  for (const std::string& name : changes.touched) {
    changed = look_at(name, known(name), Occasion::Touched) || changed;
  }
  if (changed || reading_ == 0) complete_reading();
  log_news();
  return {};
}

Result<> ManifestSource::follow_path(bool& replaced) {
  if (watch_.is_current()) return {};
  replaced = true;
  return watch_.open();
}

Result<bool> ManifestSource::scan(bool replaced) {
  Result<std::set<std::string>> names = list_directory();
  if (!names) return tl::unexpected<Error>(std::move(names.error()));
  if (names->empty() && !files_.empty() && (replaced || outage_)) {
    // Somebody is about to fill it again, or a mount is gone: no reason to take down a whole
    // cluster.
    return fail(Errc::Unavailable, watch_.path() + " has come back empty");
  }
  if (outage_ && reading_ != 0) spdlog::info("manifests: {} is there again", watch_.path());
  outage_.reset();
  bool changed = false;
  for (const std::string& name : *names)
    changed = look_at(name, known(name), Occasion::Scan) || changed;
  std::vector<std::string> gone;
  for (const auto& [name, identity] : files_) {
    if (!names->contains(name)) gone.push_back(name);
  }
  for (const std::string& name : gone)
    changed = look_at(name, std::nullopt, Occasion::Scan) || changed;
  return changed;
}

Result<std::set<std::string>> ManifestSource::list_directory() {
  ++directory_scans_;
  // A descriptor of its own: a directory stream moves the offset that duplicates share.
  const int own = openat(watch_.directory(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) return fail_errno(errno, "open " + watch_.path());
  const std::unique_ptr<DIR, CloseDirectory> directory(fdopendir(own));
  std::set<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = readdir(directory.get());
    if (entry == nullptr && errno != 0) return fail_errno(errno, "read " + watch_.path());
    if (entry == nullptr) return names;
    if (is_manifest_name(entry->d_name)) names.insert(entry->d_name);
  }
}

bool ManifestSource::look_at(const std::string& name, const std::optional<FileIdentity>& known,
                             Occasion occasion) {
  FileReading reading = read_manifest_file(watch_.directory(), name, known);
  switch (reading.outcome) {
    case FileReading::Outcome::Unchanged:
      return false;
    case FileReading::Outcome::Gone:
      catalog_.remove(name);
      return files_.erase(name) > 0;
    case FileReading::Outcome::BeingWritten:
      if (occasion == Occasion::Written) still_open_.insert(name);
      if (occasion != Occasion::Scan || files_.contains(name)) return false;
      catalog_.put_unreadable(name, "is open for writing, and is read once its writer closes it");
      files_[name] = {};
      return true;
    case FileReading::Outcome::Unreadable:
      catalog_.put_unreadable(name, std::move(reading.why));
      files_[name] = {};
      return true;
    case FileReading::Outcome::Read:
      break;
  }
  ++files_read_;
  const FileIdentity before = std::exchange(files_[name], reading.identity);
  if (before.content == reading.identity.content && before.size == reading.identity.size) {
    return false;
  }
  catalog_.put(name, decode_manifests(name, reading.text));
  return true;
}

std::optional<FileIdentity> ManifestSource::known(const std::string& name) const {
  const auto found = files_.find(name);
  if (found == files_.end()) return std::nullopt;
  return found->second;
}

tl::unexpected<Error> ManifestSource::lose_directory(Error why) {
  outage_ = why.what;
  log_news();
  return tl::unexpected<Error>(std::move(why));
}

void ManifestSource::complete_reading() {
  ++reading_;
  ManifestCatalog::Changes changes = catalog_.settle(std::to_string(reading_));
  Ends ends{};
  for (std::size_t kind = 0; kind < feeds_.size(); ++kind) {
    feeds_[kind].add_reading(reading_, std::move(changes[kind]));
    ends[kind] = feeds_[kind].end();
  }
  if (untold_.size() >= kMaxUntold) untold_.pop_back();
  untold_.push_back(ends);
  progress_.notify();
}

std::vector<ManifestProblem> ManifestSource::problems() const {
  std::vector<ManifestProblem> problems;
  for (ManifestCatalog::Report& report : reports()) problems.push_back(std::move(report.problem));
  return problems;
}

std::vector<ManifestCatalog::Report> ManifestSource::reports() const {
  std::vector<ManifestCatalog::Report> reports = catalog_.problems();
  if (outage_) {
    reports.insert(reports.begin(),
                   {ManifestProblem{"", 0, "", "", *outage_},
                    reading_ == 0 ? "nothing is served from it"
                                  : "all objects keep their last good state until it is back"});
  }
  return reports;
}

void ManifestSource::log_news() {
  std::set<std::string> holding;
  for (ManifestCatalog::Report& report : reports()) {
    const std::string text = to_text(report.problem);
    report.problem.line = 0;  // an edit elsewhere in the file makes it no new problem
    const std::string unplaced = to_text(report.problem);
    if (!logged_.contains(unplaced) && !holding.contains(unplaced)) {
      spdlog::warn("manifests: {}; {}", text, report.meaning);
    }
    holding.insert(unplaced);
  }
  logged_ = std::move(holding);
  for (const auto& [kind, count] : passed_over()) {
    if (named_.insert(kind).second) {
      spdlog::info("manifests: {} is passed over, as a proxy has no use for it", kind);
    }
  }
}

}  // namespace mkp
