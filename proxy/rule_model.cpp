#include "proxy/rule_model.h"

#include <fmt/format.h>

namespace mkp {
namespace {

template <class T>
std::string list_text(const std::vector<T>& items) {
  std::string text;
  for (const T& item : items) {
    if (!text.empty()) text += ' ';
    text += to_text(item);
  }
  return text.empty() ? "-" : text;
}

std::string line(char sign, const ServicePortName& name, const ServicePort& port) {
  return fmt::format("{} {} {}: {} -> {}; hairpin {}\n", sign, to_text(name),
                     to_text(name.protocol), list_text(port.cluster_frontends),
                     list_text(port.cluster_endpoints), list_text(port.hairpin));
}

}  // namespace

RuleDiff diff(const RuleModel& applied, const RuleModel& desired) {
  RuleDiff result;
  for (const auto& [name, before] : applied) {
    const auto after = desired.find(name);
    if (after == desired.end()) {
      result.changes.emplace(name, RuleDiff::Change{before, {}});
    } else if (after->second != before) {
      result.changes.emplace(name, RuleDiff::Change{before, after->second});
    }
  }
  for (const auto& [name, after] : desired) {
    if (!applied.contains(name)) result.changes.emplace(name, RuleDiff::Change{{}, after});
  }
  return result;
}

std::string to_text(const RuleDiff& diff) {
  std::string text;
  for (const auto& [name, change] : diff.changes) {
    if (change.before != ServicePort{}) text += line('-', name, change.before);
    if (change.after != ServicePort{}) text += line('+', name, change.after);
  }
  return text;
}

}  // namespace mkp
