#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mkp {

// One YAML document (or as much of it as has been kept) as a flat array of nodes: a tenth of the
// memory of a tree of shared pointers, and freed in one step. Aliases stay references, so that a
// document is as large as its text.
class ManifestTree {
 public:
  using Index = std::uint32_t;
  static constexpr Index kNone = 0xffffffff;

  enum class Kind : std::uint8_t { Null, Scalar, Sequence, Mapping, Alias };

  struct Node {
    Kind kind = Kind::Null;
    bool plain =
        false;  // a scalar without quotes, which YAML may take for a number, a truth value or null
    int line = 0;  // counted from 1
    Index parent = kNone;
    Index first_child = kNone;  // a mapping's children alternate: key, value, key, value
    Index last_child = kNone;
    Index next = kNone;
    Index target = kNone;  // of an alias
    std::uint32_t text_at = 0;
    std::uint32_t text_length = 0;
    std::uint64_t weight = 1;  // nodes below and including this one, were every alias written out
  };

  // How much there is, to return to with shrink().
  struct Size {
    std::size_t nodes = 0;
    std::size_t text = 0;
  };

  Index add(const Node& node, std::string_view text);
  // Makes `child` the last child of its parent.
  void link(Index child);
  Size size() const { return {nodes_.size(), text_.size()}; }
  // Forgets what was added since; nothing that is left may refer to it.
  void shrink(const Size& size);

  Node& at(Index index) { return nodes_[index]; }
  const Node& at(Index index) const { return nodes_[index]; }
  std::string_view text(Index index) const;

  // The node that an alias stands for; any other node itself.
  Index resolve(Index index) const;
  // The child of `mapping` under `key`, aliases resolved: its own, or else one brought in by a
  // merge key (<<). `given`: how often the mapping itself has the key, as YAML forbids twice.
  struct Found {
    Index value = kNone;
    int given = 0;
  };
  Found find(Index mapping, std::string_view key) const;

  // "spec.ports[0].port": the way from `root` to `index`, through parents as written.
  std::string path(Index root, Index index) const;

 private:
  Index find_merged(Index mapping, std::string_view key, int depth) const;
  Index find_any(Index mapping, std::string_view key, int depth) const;

  std::vector<Node> nodes_;
  std::string text_;
};

}  // namespace mkp
