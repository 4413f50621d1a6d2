#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <set>
#include <string>

#include "informer/manifest_decode.h"

namespace mkp {
namespace {

// The manifests in a conformance file: the texts under `objects` and `apply`, at any depth.
void collect(const YAML::Node& node, std::vector<std::string>& manifests) {
  if (node.IsSequence()) {
    for (const YAML::Node& element : node) collect(element, manifests);
  }
  if (!node.IsMap()) return;
  for (const auto& field : node) {
    const std::string key = field.first.as<std::string>();
    if ((key == "objects" || key == "apply") && field.second.IsScalar()) {
      manifests.push_back(field.second.as<std::string>());
    } else {
      collect(field.second, manifests);
    }
  }
}

std::vector<std::string> conformance_manifests() {
  std::vector<std::string> manifests;
  for (const auto& file : std::filesystem::directory_iterator(MKP_CONFORMANCE_DIRECTORY)) {
    if (file.path().extension() == ".yaml") collect(YAML::LoadFile(file.path()), manifests);
  }
  return manifests;
}

TEST(ManifestConformanceTest, ReadsEveryManifestOfTheConformanceCases) {
  std::size_t objects = 0;
  const std::vector<std::string> manifests = conformance_manifests();
  for (const std::string& text : manifests) {
    const DecodedManifests decoded = decode_manifests("case.yaml", text);
    EXPECT_TRUE(decoded.passed_over.empty()) << text;
    for (const ManifestProblem& problem : decoded.problems) ADD_FAILURE() << to_text(problem);
    for (const Manifest& manifest : decoded.manifests) {
      objects += manifest.object != nullptr ? 1 : 0;
      for (const ManifestProblem& problem : manifest.problems) ADD_FAILURE() << to_text(problem);
    }
  }
  EXPECT_GT(manifests.size(), 100U);
  EXPECT_GT(objects, 300U);
}

}  // namespace
}  // namespace mkp
