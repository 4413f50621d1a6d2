#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "informer/manifest_decode.h"
#include "informer/manifest_problem.h"
#include "informer/object_source.h"

namespace mkp {

// What all files together say: which document speaks for an object, what is given out, what is
// wrong. No I/O.
class ManifestCatalog {
 public:
  // A problem, and what it means for traffic.
  struct Report {
    ManifestProblem problem;
    std::string meaning;
  };
  // By ObjectKind. Each in the order of files, then positions within a file; resource_version is
  // the feed's to set.
  using Changes = std::array<std::vector<WatchEvent>, 4>;

  // The file now says this. Objects of broken documents, and those that may have been in what could
  // not be read, keep what this file last said of them.
  void put(const std::string& file, DecodedManifests decoded);
  // The file is there but cannot be read: everything that it said stays.
  void put_unreadable(const std::string& file, std::string why);
  void remove(const std::string& file);

  // What the calls above have changed since the last one of this. New and changed objects get this
  // version.
  Changes settle(const std::string& resource_version);

  // What is given out, as of the last settle(), in file order.
  std::vector<ObjectPtr> objects(ObjectKind kind) const;
  // In file order; duplicates last.
  std::vector<Report> problems() const;
  const std::map<std::string, std::size_t>& passed_over() const { return passed_over_; }

 private:
  // A document that speaks of an object.
  struct Claim {
    ObjectKind kind = ObjectKind::Service;
    std::string key;
    int line = 0;
    std::shared_ptr<Object> object;  // null: broken, and never seen whole
    bool left_out = false;
    bool published = false;  // others hold the object, so it must not change any more
  };
  struct File {
    std::vector<Claim> claims;
    std::vector<Report> problems;
    std::map<std::string, std::size_t> passed_over;
  };
  struct Place {
    std::string file;
    std::size_t position = 0;
    auto operator<=>(const Place&) const = default;
  };
  struct Standing {
    std::vector<Place> places;  // sorted
    std::shared_ptr<Object> published;
    Place published_at;
  };
  struct Change {
    Place place;
    bool is_addition = false;  // or a modification
    WatchEvent event;
  };
  using ObjectId = std::pair<ObjectKind, std::string>;
  class Former;

  const Claim& at(const Place& place) const;
  Claim& at(const Place& place);
  void place_all(const std::string& file, const std::vector<Claim>& claims);
  void unplace_all(const std::string& file, const std::vector<Claim>& claims);
  void count_passed_over(const File& file, bool add);
  void mark_troubled(const std::string& file, const File& state);
  // The first place whose document gives a whole object.
  const Place* speaker(const Standing& standing) const;
  void settle_one(ObjectKind kind, Standing& standing, const std::string& version,
                  std::vector<Change>& changes);
  void report_duplicates(const ObjectId& id, std::vector<Report>& reports) const;

  std::map<std::string, File> files_;
  std::array<std::unordered_map<std::string, Standing>, 4> standings_;
  std::set<ObjectId> touched_;
  std::set<ObjectId> contested_;    // with more than one whole document
  std::set<std::string> troubled_;  // files with problems
  std::map<std::string, std::size_t> passed_over_;
};

}  // namespace mkp
