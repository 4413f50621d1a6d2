#include "informer/manifest_catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "informer/manifest_object.h"

namespace mkp {

namespace {

constexpr std::string_view kKept = "the object keeps its last good state";
constexpr std::string_view kNotServed = "the object is not served";
constexpr std::string_view kFileKept =
    "what the file said before and no longer does stays as it was";
constexpr std::string_view kFileNotServed = "what it was to say is not served";

std::size_t index_of(ObjectKind kind) { return static_cast<std::size_t>(kind); }

}  // namespace

// What a file said before it was read again, to fall back on.
class ManifestCatalog::Former {
 public:
  explicit Former(std::vector<Claim> claims) : claims_(std::move(claims)) {
    for (Claim& claim : claims_) by_id_[{claim.kind, claim.key}].push_back(&claim);
  }

  // The n-th document that spoke of the object, n counted by calls; null when there were fewer.
  Claim* next(ObjectKind kind, const std::string& key) {
    const auto found = by_id_.find({kind, key});
    if (found == by_id_.end() || found->second.empty()) return nullptr;
    Claim* first = found->second.front();
    found->second.erase(found->second.begin());
    spoken_.insert({kind, key});
    return first;
  }

  // Whole objects of these kinds that next() was never asked for.
  std::vector<Claim> unspoken(const std::array<bool, 4>& kinds) {
    std::vector<Claim> left;
    for (Claim& claim : claims_) {
      if (!kinds[index_of(claim.kind)] || !claim.object) continue;
      if (!spoken_.contains({claim.kind, claim.key})) left.push_back(std::move(claim));
    }
    return left;
  }

 private:
  std::vector<Claim> claims_;
  std::map<ObjectId, std::vector<Claim*>> by_id_;
  std::set<ObjectId> spoken_;
};

void ManifestCatalog::put(const std::string& file, DecodedManifests decoded) {
  File& state = files_[file];
  unplace_all(file, state.claims);
  count_passed_over(state, false);
  Former former(std::move(state.claims));
  state = File{{}, {}, std::move(decoded.passed_over)};

  for (Manifest& manifest : decoded.manifests) {
    Claim claim{manifest.kind,     std::move(manifest.key),
                manifest.line,     std::move(manifest.object),
                manifest.left_out, false};
    Claim* before = former.next(claim.kind, claim.key);
    if (!claim.object && before != nullptr) {
      claim.object = before->object;
      claim.left_out = before->left_out;
      claim.published = before->published;
    }
    for (ManifestProblem& problem : manifest.problems) {
      state.problems.push_back(
          {std::move(problem), std::string(claim.object ? kKept : kNotServed)});
    }
    state.claims.push_back(std::move(claim));
  }
  std::vector<Claim> kept = former.unspoken(decoded.incomplete);
  for (ManifestProblem& problem : decoded.problems) {
    state.problems.push_back(
        {std::move(problem), std::string(kept.empty() ? kFileNotServed : kFileKept)});
  }
  std::move(kept.begin(), kept.end(), std::back_inserter(state.claims));

  place_all(file, state.claims);
  count_passed_over(state, true);
  mark_troubled(file, state);
}

void ManifestCatalog::put_unreadable(const std::string& file, std::string why) {
  File& state = files_[file];
  const bool kept = !state.claims.empty();
  state.problems = {{ManifestProblem{file, 0, "", "", std::move(why)},
                     std::string(kept ? "its objects keep their last good state"
                                      : "what it was to say is not served")}};
  mark_troubled(file, state);
}

void ManifestCatalog::remove(const std::string& file) {
  const auto found = files_.find(file);
  if (found == files_.end()) return;
  unplace_all(file, found->second.claims);
  count_passed_over(found->second, false);
  troubled_.erase(file);
  files_.erase(found);
}

ManifestCatalog::Changes ManifestCatalog::settle(const std::string& resource_version) {
  std::array<std::vector<Change>, 4> changes;
  for (const ObjectId& id : touched_) {
    auto& standings = standings_[index_of(id.first)];
    const auto found = standings.find(id.second);
    if (found == standings.end()) continue;
    Standing& standing = found->second;
    settle_one(id.first, standing, resource_version, changes[index_of(id.first)]);
    const auto whole = [this](const Place& place) { return at(place).object != nullptr; };
    if (std::count_if(standing.places.begin(), standing.places.end(), whole) > 1) {
      contested_.insert(id);
    } else {
      contested_.erase(id);
    }
    if (standing.places.empty()) standings.erase(found);
  }
  touched_.clear();

  Changes sorted;
  for (std::size_t kind = 0; kind < changes.size(); ++kind) {
    // What goes comes before what takes its place in the file.
    const auto order = [](const Change& change) {
      return std::tie(change.place.file, change.place.position, change.is_addition);
    };
    std::stable_sort(changes[kind].begin(), changes[kind].end(),
                     [&](const Change& a, const Change& b) { return order(a) < order(b); });
    for (Change& change : changes[kind]) sorted[kind].push_back(std::move(change.event));
  }
  return sorted;
}

void ManifestCatalog::settle_one(ObjectKind kind, Standing& standing, const std::string& version,
                                 std::vector<Change>& changes) {
  const Place* place = speaker(standing);
  Claim* claim = place == nullptr ? nullptr : &at(*place);
  if (claim == nullptr || claim->left_out) {
    if (!standing.published) return;
    changes.push_back({standing.published_at,
                       false,
                       {WatchEvent::Type::Deleted, std::move(standing.published), {}}});
    standing.published = nullptr;
    return;
  }
  standing.published_at = *place;
  if (claim->object == standing.published) return;
  if (claim->published) claim->object = copy_object(kind, *claim->object);
  std::string& claimed_version = metadata_of(kind, *claim->object).resource_version;
  claim->published = true;
  if (standing.published) {
    claimed_version = metadata_of(kind, *standing.published).resource_version;
    if (same_object(kind, *claim->object, *standing.published)) {
      claim->object = standing.published;  // one copy is enough
      return;
    }
  }
  claimed_version = version;
  const WatchEvent::Type type =
      standing.published ? WatchEvent::Type::Modified : WatchEvent::Type::Added;
  standing.published = claim->object;
  changes.push_back({*place, true, {type, claim->object, {}}});
}

std::vector<ObjectPtr> ManifestCatalog::objects(ObjectKind kind) const {
  std::vector<ObjectPtr> objects;
  for (const auto& [file, state] : files_) {
    for (std::size_t position = 0; position < state.claims.size(); ++position) {
      const Claim& claim = state.claims[position];
      if (claim.kind != kind) continue;
      const auto found = standings_[index_of(kind)].find(claim.key);
      if (found == standings_[index_of(kind)].end() || !found->second.published) continue;
      const Place& place = found->second.published_at;
      if (place.position == position && place.file == file) {
        objects.push_back(found->second.published);
      }
    }
  }
  return objects;
}

std::vector<ManifestCatalog::Report> ManifestCatalog::problems() const {
  std::vector<Report> reports;
  for (const std::string& file : troubled_) {
    const std::vector<Report>& problems = files_.at(file).problems;
    reports.insert(reports.end(), problems.begin(), problems.end());
  }
  for (const ObjectId& id : contested_) report_duplicates(id, reports);
  return reports;
}

void ManifestCatalog::report_duplicates(const ObjectId& id, std::vector<Report>& reports) const {
  const Standing& standing = standings_[index_of(id.first)].at(id.second);
  const Place* first = speaker(standing);
  for (const Place& place : standing.places) {
    if (&place == first || !at(place).object) continue;
    reports.push_back(
        {ManifestProblem{place.file, at(place).line,
                         fmt::format("{} {}", to_text(id.first), id.second), "",
                         fmt::format("is in {}:{} too", first->file, at(*first).line)},
         "the first in the order of files is used, this one is not"});
  }
}

const ManifestCatalog::Claim& ManifestCatalog::at(const Place& place) const {
  return files_.at(place.file).claims[place.position];
}

ManifestCatalog::Claim& ManifestCatalog::at(const Place& place) {
  return files_.at(place.file).claims[place.position];
}

const ManifestCatalog::Place* ManifestCatalog::speaker(const Standing& standing) const {
  const auto found =
      std::find_if(standing.places.begin(), standing.places.end(),
                   [this](const Place& place) { return at(place).object != nullptr; });
  return found == standing.places.end() ? nullptr : &*found;
}

void ManifestCatalog::place_all(const std::string& file, const std::vector<Claim>& claims) {
  for (std::size_t position = 0; position < claims.size(); ++position) {
    const Claim& claim = claims[position];
    std::vector<Place>& places = standings_[index_of(claim.kind)][claim.key].places;
    Place place{file, position};
    places.insert(std::upper_bound(places.begin(), places.end(), place), std::move(place));
    touched_.insert({claim.kind, claim.key});
  }
}

void ManifestCatalog::unplace_all(const std::string& file, const std::vector<Claim>& claims) {
  for (const Claim& claim : claims) {
    std::vector<Place>& places = standings_[index_of(claim.kind)][claim.key].places;
    std::erase_if(places, [&file](const Place& place) { return place.file == file; });
    touched_.insert({claim.kind, claim.key});
  }
}

void ManifestCatalog::count_passed_over(const File& file, bool add) {
  for (const auto& [kind, count] : file.passed_over) {
    std::size_t& total = passed_over_[kind];
    total = add ? total + count : total - count;
    if (total == 0) passed_over_.erase(kind);
  }
}

void ManifestCatalog::mark_troubled(const std::string& file, const File& state) {
  if (state.problems.empty()) {
    troubled_.erase(file);
  } else {
    troubled_.insert(file);
  }
}

}  // namespace mkp
