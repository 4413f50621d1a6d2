#include "proxy/proxier.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace mkp {
namespace {

// Runs `step` for each family; the reports added up, or the failures joined.
template <class Step>
Result<SyncReport> each_family(const std::vector<FamilyProxier*>& families, const Step& step) {
  SyncReport all;
  std::optional<Error> failure;
  for (FamilyProxier* family : families) {
    Result<SyncReport> report = step(*family);
    if (report) {
      all += *report;
    } else if (!failure) {
      failure = std::move(report.error());
    } else {
      failure->what += "; " + report.error().what;
    }
  }
  if (failure) return tl::unexpected<Error>(std::move(*failure));
  return all;
}

}  // namespace

Result<SyncReport> Proxier::sync(ClusterChanges changes) {
  const std::set<ServiceName> touched = cluster_.apply(std::move(changes));
  std::vector<FamilyProxier*> synced;
  const auto sync = [&](FamilyProxier& family) {
    Result<SyncReport> report = family.sync(cluster_, touched);
    if (report) synced.push_back(&family);
    return report;
  };
  Result<SyncReport> all = each_family(families_, sync);
  // What one family found out about another program's doings may concern those before it.
  std::erase_if(synced, [](const FamilyProxier* family) { return !family->in_doubt(); });
  const auto look_again = [&](FamilyProxier& family) { return family.sync(cluster_, {}); };
  Result<SyncReport> again = each_family(synced, look_again);
  if (!all) return all;
  if (!again) return again;
  *all += *again;
  return all;
}

bool Proxier::serves() const {
  return std::any_of(families_.begin(), families_.end(),
                     [](const FamilyProxier* family) { return !family->in_doubt(); });
}

bool Proxier::cleanup_due() const {
  return std::any_of(families_.begin(), families_.end(),
                     [](const FamilyProxier* family) { return family->cleanup_due(); });
}

std::size_t Proxier::services_with_problems() const {
  std::size_t count = 0;
  for (const FamilyProxier* family : families_) count += family->services_with_problems();
  return count;
}

std::vector<UdpChanges> Proxier::take_udp_changes() {
  std::vector<UdpChanges> all;
  for (FamilyProxier* family : families_) {
    std::vector<UdpChanges> own = family->take_udp_changes();
    std::erase_if(own, [](const UdpChanges& changes) { return changes.empty(); });
    std::move(own.begin(), own.end(), std::back_inserter(all));
  }
  return all;
}

std::vector<FamilyOutcome> Proxier::take_outcomes() {
  std::vector<FamilyOutcome> all;
  for (FamilyProxier* family : families_) {
    std::vector<FamilyOutcome> own = family->take_outcomes();
    std::move(own.begin(), own.end(), std::back_inserter(all));
  }
  return all;
}

Result<SyncReport> Proxier::cleanup() {
  return each_family(families_, [](FamilyProxier& family) { return family.cleanup(); });
}

Result<FamilyProxier::Preview> Proxier::preview(ClusterChanges changes) {
  const std::set<ServiceName> touched = cluster_.apply(std::move(changes));
  FamilyProxier::Preview all;
  for (FamilyProxier* family : families_) {
    Result<FamilyProxier::Preview> preview = family->preview(cluster_, touched);
    if (!preview) return preview;
    all.text += preview->text;
    all.size += preview->size;
  }
  return all;
}

}  // namespace mkp
