#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "informer/manifest_problem.h"
#include "informer/objects.h"

namespace mkp {

// One document, or one item of a List, that speaks of an object of ours.
struct Manifest {
  ObjectKind kind = ObjectKind::Service;
  std::string key;  // as of manifest_key()
  int line = 0;
  std::shared_ptr<Object> object;  // null when the document is broken
  bool left_out = false;           // by kube-proxy's selectors: `object` has metadata only
  std::vector<ManifestProblem> problems;
};

// What the text of one file says.
struct DecodedManifests {
  std::vector<Manifest> manifests;  // in the order of the text
  // Broken documents that do not say which object they are of.
  std::vector<ManifestProblem> problems;
  // Kinds of which such a document may have been, so that an object that the text no longer has may
  // be in it.
  std::array<bool, 4> incomplete{};
  std::map<std::string, std::size_t> passed_over;  // "apps/v1 Deployment": how many
};

// Reads YAML or JSON: several documents, Lists of any kind. `file` is for the problems. Never fails
// as a whole: a document that is broken is told with its problems, and a syntax error ends the text
// there.
DecodedManifests decode_manifests(std::string_view file, std::string_view text);

}  // namespace mkp
