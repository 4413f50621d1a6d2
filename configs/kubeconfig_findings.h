#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "runner/result.h"

namespace mkp {

// Gathers what is wrong with the entries of a kubeconfig, or with what it is used for.
class KubeconfigFindings {
 public:
  // `file` may be empty: nothing but --master is used.
  explicit KubeconfigFindings(const std::string& file)
      : prefix_("invalid configuration: " + (file.empty() ? "" : file + ": ")) {}

  // `entry` has a line, 0 when it stands in no file. `kind` is "cluster", "user" or "context".
  template <class Entry>
  void add(std::string_view kind, const Entry& entry, std::string_view field,
           std::string_view what) {
    std::string place = fmt::format("{} \"{}\": {}: ", kind, entry.name, field);
    if (entry.line > 0) place.insert(0, fmt::format("line {}: ", entry.line));
    add(place + std::string(what));
  }
  void add(std::string_view what) {
    text_ += (text_.empty() ? "" : "\n") + prefix_ + std::string(what);
  }

  // A failure with all of them, unless there are none.
  Result<> result() const {
    if (text_.empty()) return {};
    return fail(Errc::Invalid, text_);
  }

 private:
  std::string prefix_;
  std::string text_;
};

}  // namespace mkp
