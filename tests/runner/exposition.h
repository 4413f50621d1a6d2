#pragma once

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mkp {

// Prometheus' text format 0.0.4, read as strictly as its documentation is written.
struct Exposition {
  using Labels = std::map<std::string, std::string>;
  struct MetricFamily {
    std::string type = "untyped";
    std::string help;
    // By sample name ("x", "x_bucket" ...) and labels.
    std::map<std::pair<std::string, Labels>, double> samples;
  };
  std::map<std::string, MetricFamily> families;

  double value(const std::string& name, const Labels& labels = {}) const {
    for (const auto& [family_name, family] : families) {
      const auto found = family.samples.find({name, labels});
      if (found != family.samples.end()) return found->second;
    }
    return std::nan("");
  }
  // The names of the labels of its samples, but for a histogram's "le".
  std::set<std::set<std::string>> label_names(const std::string& name) const {
    std::set<std::set<std::string>> all;
    for (const auto& [key, value] : families.at(name).samples) {
      std::set<std::string> names;
      for (const auto& [label, text] : key.second) {
        if (label != "le") names.insert(label);
      }
      all.insert(names);
    }
    return all;
  }
  std::set<double> bounds(const std::string& name) const {
    std::set<double> all;
    for (const auto& [key, value] : families.at(name).samples) {
      const auto le = key.second.find("le");
      if (le != key.second.end()) all.insert(std::strtod(le->second.c_str(), nullptr));
    }
    return all;
  }
};

// Throws std::runtime_error at what is no such text.
class ExpositionParser {
 public:
  static Exposition parse(std::string_view text) {
    ExpositionParser parser;
    if (!text.empty() && text.back() != '\n') fail("no end of line at the end", text);
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      parser.line(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
    for (const auto& [name, family] : parser.all_.families) check(name, family);
    return std::move(parser.all_);
  }

 private:
  using MetricFamily = Exposition::MetricFamily;

  [[noreturn]] static void fail(const std::string& what, std::string_view line) {
    throw std::runtime_error(what + ": " + std::string(line));
  }

  void line(std::string_view line) {
    if (line.starts_with("# HELP ") || line.starts_with("# TYPE ")) {
      comment(line);
    } else if (!line.empty() && line.front() != '#') {
      sample(line);
    }
  }

  // Both belong before the samples, and once.
  void comment(std::string_view line) {
    const bool help = line.starts_with("# HELP ");
    std::string_view rest = line.substr(7);
    const std::string name = take_name(rest, line, true);
    if (rest.empty() || rest.front() != ' ') fail("no blank after the name", line);
    rest.remove_prefix(1);
    enter(name, line);
    MetricFamily& family = all_.families[name];
    if (!family.samples.empty()) fail("comes after samples", line);
    if (!(help ? helped_ : typed_).insert(name).second) fail("says it twice", line);
    if (help) {
      family.help = std::string(rest);
    } else if (rest == "counter" || rest == "gauge" || rest == "histogram" || rest == "summary" ||
               rest == "untyped") {
      family.type = std::string(rest);
    } else {
      fail("no type", line);
    }
  }

  void sample(std::string_view line) {
    std::string_view rest = line;
    const std::string name = take_name(rest, line, true);
    Exposition::Labels labels;
    if (!rest.empty() && rest.front() == '{') labels = take_labels(rest, line);
    if (rest.empty() || rest.front() != ' ') fail("no blank before the value", line);
    rest.remove_prefix(1);
    const double value = number(rest, line);
    const std::string family = family_of(name);
    enter(family, line);
    MetricFamily& own = all_.families[family];
    if (!own.samples.emplace(std::pair(name, labels), value).second) fail("twice", line);
    if (own.type == "counter" && !(value >= 0)) fail("a negative counter", line);
  }

  // All lines of one family in one group.
  void enter(const std::string& family, std::string_view line) {
    if (family == current_) return;
    if (!seen_.insert(family).second) fail("its family is not in one group", line);
    current_ = family;
  }

  std::string family_of(const std::string& name) const {
    for (const std::string_view suffix : {"_bucket", "_sum", "_count"}) {
      if (!name.ends_with(suffix)) continue;
      const std::string family = name.substr(0, name.size() - suffix.size());
      const auto found = all_.families.find(family);
      if (found != all_.families.end() && found->second.type == "histogram") return family;
    }
    return name;
  }

  static std::string take_name(std::string_view& rest, std::string_view line, bool colons) {
    std::size_t size = 0;
    const auto fits = [&](char letter) {
      const auto byte = static_cast<unsigned char>(letter);
      return std::isalpha(byte) || letter == '_' || (colons && letter == ':') ||
             (size > 0 && std::isdigit(byte));
    };
    while (size < rest.size() && fits(rest[size])) ++size;
    if (size == 0) fail("no name", line);
    const std::string name(rest.substr(0, size));
    rest.remove_prefix(size);
    return name;
  }

  static Exposition::Labels take_labels(std::string_view& rest, std::string_view line) {
    Exposition::Labels labels;
    rest.remove_prefix(1);
    while (!rest.empty() && rest.front() != '}') {
      const std::string name = take_name(rest, line, false);
      if (!rest.starts_with("=\"")) fail("no label", line);
      rest.remove_prefix(2);
      if (!labels.emplace(name, take_text(rest, line)).second) fail("a label twice", line);
      if (rest.starts_with(",")) rest.remove_prefix(1);
    }
    if (rest.empty()) fail("no }", line);
    rest.remove_prefix(1);
    return labels;
  }

  static std::string take_text(std::string_view& rest, std::string_view line) {
    std::string text;
    while (!rest.empty() && rest.front() != '"') {
      char letter = rest.front();
      if (letter == '\\') {
        rest.remove_prefix(1);
        if (rest.empty() || std::string_view("\\\"n").find(rest.front()) == std::string_view::npos)
          fail("no such escape", line);
        letter = rest.front() == 'n' ? '\n' : rest.front();
      }
      text += letter;
      rest.remove_prefix(1);
    }
    if (rest.empty()) fail("no end of the label", line);
    rest.remove_prefix(1);
    return text;
  }

  static double number(std::string_view text, std::string_view line) {
    if (text == "+Inf") return HUGE_VAL;
    if (text == "-Inf") return -HUGE_VAL;
    if (text == "NaN") return std::nan("");
    const std::string copy(text);
    char* end = nullptr;
    const double value = std::strtod(copy.c_str(), &end);
    if (copy.empty() || *end != '\0' || copy.front() == ' ') fail("no number", line);
    return value;
  }

  static void check(const std::string& name, const MetricFamily& family) {
    if (family.type != "histogram") return;
    std::map<Exposition::Labels, std::map<double, double>> buckets;
    for (const auto& [key, value] : family.samples) {
      if (key.first != name + "_bucket") continue;
      Exposition::Labels labels = key.second;
      if (!labels.contains("le")) fail("a bucket without le", name);
      const double bound = number(labels.at("le"), name);
      labels.erase("le");
      buckets[labels][bound] = value;
    }
    for (const auto& [labels, counts] : buckets) {
      double before = 0;
      for (const auto& [bound, count] : counts) {
        if (count < before) fail("its buckets fall", name);
        before = count;
      }
      const auto total = family.samples.find({name + "_count", labels});
      if (counts.rbegin()->first != HUGE_VAL) fail("no bucket for +Inf", name);
      if (total == family.samples.end() || total->second != before) fail("another count", name);
      if (!family.samples.contains({name + "_sum", labels})) fail("no sum", name);
    }
  }

  Exposition all_;
  std::string current_;
  std::set<std::string> seen_;
  std::set<std::string> helped_;
  std::set<std::string> typed_;
};

}  // namespace mkp
