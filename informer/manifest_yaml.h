#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "informer/manifest_tree.h"

namespace mkp {

// Takes what parse_yaml finds, in the order of the text.
class YamlReader {
 public:
  virtual ~YamlReader() = default;

  // An element of the sequence `items` at the top of a document, before the rest of that document
  // is known. True when it has been dealt with, so that a List of 20,000 objects is never in memory
  // as a whole; false to find it in the document's tree again.
  virtual bool item(const ManifestTree& tree, ManifestTree::Index root,
                    ManifestTree::Index item) = 0;
  // A whole document; `root` is kNone for an empty one.
  virtual void document(const ManifestTree& tree, ManifestTree::Index root) = 0;
  // A document that broke off; what was read of it by then.
  virtual void broken(const ManifestTree& tree, ManifestTree::Index root, int line,
                      std::string what) = 0;
};

// What is more than this is not a manifest, and would only exhaust the process.
inline constexpr std::size_t kMaxYamlBytes = std::size_t{256} << 20;
inline constexpr std::size_t kMaxYamlDepth = 128;
inline constexpr std::size_t kMaxYamlNodes = 4'000'000;           // in memory at a time
inline constexpr std::uint64_t kMaxYamlAliasedNodes = 1'000'000;  // in one document

// Reads a stream of YAML documents (JSON is YAML). The first syntax error ends it, with a call of
// broken().
void parse_yaml(std::string_view text, YamlReader& reader);

}  // namespace mkp
