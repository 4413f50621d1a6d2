#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "configs/text_values.h"

namespace mkp {

// A visitor (fields.h) that sets fields from texts of the command line. There a zero or empty text
// is a value like any other: no listen address means no server.
class FlagSetter {
 public:
  struct Setting {
    std::string flag;  // as messages call it
    std::string text;
  };

  // By the field's path: "conntrack.min".
  explicit FlagSetter(std::map<std::string, Setting> settings) : settings_(std::move(settings)) {}

  template <class Inner>
  void block(const char* name, const Inner& inner) {
    const std::size_t outer = path_.size();
    path_ += std::string(name) + ".";
    inner();
    path_.resize(outer);
  }

  template <class T>
  void field(const char* name, T& value) {
    const auto found = settings_.find(path_ + name);
    if (found != settings_.end()) assign(found->second, parse_value<T>(found->second.text), value);
  }

  template <class T>
  void defaulted(const char* name, T& value) {
    field(name, value);
  }

  template <class T>
  void text_or_number(const char* name, T& value) {
    field(name, value);
  }

  template <class T>
  void list(const char* name, T& value) {
    field(name, value);
  }

  void listen(const char* name, ListenAddress& value) {
    const auto found = settings_.find(path_ + name);
    if (found == settings_.end()) return;
    if (found->second.text.empty()) {
      value.port = 0;
    } else {
      assign(found->second, parse_listen_address(found->second.text, value.port), value);
    }
  }

  const std::vector<std::string>& errors() const { return errors_; }

 private:
  template <class T>
  void assign(const Setting& setting, Result<T> result, T& value) {
    if (result) {
      value = std::move(*result);
      return;
    }
    std::string error = setting.flag + ": " + result.error().what;
    // One flag may set several fields.
    if (errors_.empty() || errors_.back() != error) errors_.push_back(std::move(error));
  }

  std::map<std::string, Setting> settings_;
  std::string path_;
  std::vector<std::string> errors_;
};

}  // namespace mkp
