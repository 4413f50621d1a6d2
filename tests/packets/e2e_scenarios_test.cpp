#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace mkp::packets {
namespace {

using testing::IsEmpty;

constexpr int kScenarios = 216;

std::string text_of(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::string> matches(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
    found.push_back((*at)[1].str());
  }
  return found;
}

// The rows of tests/e2e_scenarios.md by their number, as written.
std::multimap<std::string, std::string> rows() {
  std::multimap<std::string, std::string> all;
  std::ifstream page(MKP_TESTS_DIR "/e2e_scenarios.md");
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| E")) all.emplace(line.substr(2, line.find(' ', 2) - 2), line);
  }
  return all;
}

// "file/case" of tests/conformance.
std::set<std::string> case_names() {
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(MKP_TESTS_DIR "/conformance")) {
    if (file.path().extension() != ".yaml") continue;
    for (const YAML::Node& one : YAML::LoadFile(file.path().string())) {
      names.insert(file.path().stem().string() + "/" + one["name"].as<std::string>());
    }
  }
  return names;
}

// "Suite.Test" of every test program.
std::set<std::string> test_names() {
  static const std::regex kTest(R"(TEST(?:_F|_P)?\((\w+,\s*\w+)\))");
  std::set<std::string> names;
  for (const auto& file : std::filesystem::recursive_directory_iterator(MKP_TESTS_DIR)) {
    if (file.path().extension() != ".cpp" && file.path().extension() != ".h") continue;
    for (const std::string& test : matches(text_of(file.path()), kTest)) {
      names.insert(std::regex_replace(test, std::regex(R"(,\s*)"), "."));
    }
  }
  return names;
}

TEST(E2eScenarios, AreEachInTheTableOnce) {
  const auto all = rows();
  std::vector<std::string> wrong;
  for (int number = 1; number <= kScenarios; ++number) {
    const std::string scenario = fmt::format("E{:02}", number);
    if (all.count(scenario) != 1) wrong.push_back(scenario);
  }
  EXPECT_THAT(wrong, IsEmpty());
  EXPECT_EQ(all.size(), static_cast<std::size_t>(kScenarios));
}

TEST(E2eScenarios, AreShownByTestsThatExist) {
  std::set<std::string> known = case_names();
  known.merge(test_names());
  std::vector<std::string> unknown;
  for (const auto& [scenario, row] : rows()) {
    for (const std::string& name : matches(row, std::regex("`([^`]+)`"))) {
      if (!known.contains(name)) unknown.push_back(fmt::format("{} {}", scenario, name));
    }
  }
  EXPECT_THAT(unknown, IsEmpty());
}

TEST(E2eScenarios, SayWhyNothingShowsThem) {
  static const std::regex kWithoutReason(R"(\| nothing \| *\|)");
  std::vector<std::string> silent;
  for (const auto& [scenario, row] : rows()) {
    if (std::regex_search(row, kWithoutReason)) silent.push_back(scenario);
  }
  EXPECT_THAT(silent, IsEmpty());
}

}  // namespace
}  // namespace mkp::packets
