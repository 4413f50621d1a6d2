#include "informer/manifest_tree.h"

#include <fmt/format.h>

namespace mkp {

namespace {

// Merges of merges of merges: nobody writes more of them than this.
constexpr int kMaxMergeDepth = 16;

}  // namespace

ManifestTree::Index ManifestTree::add(const Node& node, std::string_view text) {
  const auto index = static_cast<Index>(nodes_.size());
  Node& added = nodes_.emplace_back(node);
  added.text_at = static_cast<std::uint32_t>(text_.size());
  added.text_length = static_cast<std::uint32_t>(text.size());
  text_ += text;
  return index;
}

void ManifestTree::link(Index child) {
  const Index parent = nodes_[child].parent;
  if (parent == kNone) return;
  Node& above = nodes_[parent];
  if (above.last_child == kNone) {
    above.first_child = child;
  } else {
    nodes_[above.last_child].next = child;
  }
  above.last_child = child;
}

void ManifestTree::shrink(const Size& size) {
  nodes_.resize(size.nodes);
  text_.resize(size.text);
}

std::string_view ManifestTree::text(Index index) const {
  const Node& node = nodes_[index];
  return std::string_view(text_).substr(node.text_at, node.text_length);
}

ManifestTree::Index ManifestTree::resolve(Index index) const {
  while (index != kNone && nodes_[index].kind == Kind::Alias) index = nodes_[index].target;
  return index;
}

ManifestTree::Found ManifestTree::find(Index mapping, std::string_view key) const {
  Found found;
  for (Index at = nodes_[mapping].first_child; at != kNone;) {
    const Index value = nodes_[at].next;
    if (value == kNone) break;  // the document broke off here
    const Index name = resolve(at);
    if (nodes_[name].kind == Kind::Scalar && text(name) == key) {
      if (++found.given == 1) found.value = resolve(value);
    }
    at = nodes_[value].next;
  }
  if (found.given == 0) found.value = find_merged(mapping, key, 0);
  return found;
}

ManifestTree::Index ManifestTree::find_any(Index mapping, std::string_view key, int depth) const {
  for (Index at = nodes_[mapping].first_child; at != kNone;) {
    const Index value = nodes_[at].next;
    if (value == kNone) break;
    const Index name = resolve(at);
    if (nodes_[name].kind == Kind::Scalar && text(name) == key) return resolve(value);
    at = nodes_[value].next;
  }
  return find_merged(mapping, key, depth);
}

ManifestTree::Index ManifestTree::find_merged(Index mapping, std::string_view key,
                                              int depth) const {
  if (depth >= kMaxMergeDepth) return kNone;
  for (Index at = nodes_[mapping].first_child; at != kNone;) {
    const Index value = nodes_[at].next;
    if (value == kNone) break;
    if (nodes_[at].plain && text(at) == "<<") {
      const Index merged = resolve(value);
      if (nodes_[merged].kind == Kind::Mapping) return find_any(merged, key, depth + 1);
      if (nodes_[merged].kind != Kind::Sequence) return kNone;
      for (Index each = nodes_[merged].first_child; each != kNone; each = nodes_[each].next) {
        const Index one = resolve(each);
        if (nodes_[one].kind != Kind::Mapping) continue;
        const Index found = find_any(one, key, depth + 1);
        if (found != kNone) return found;
      }
      return kNone;
    }
    at = nodes_[value].next;
  }
  return kNone;
}

std::string ManifestTree::path(Index root, Index index) const {
  if (index == root || index == kNone) return "";
  const Index parent = nodes_[index].parent;
  if (parent == kNone) return "";
  const std::string above = path(root, parent);
  Index before = kNone;
  int position = 0;
  for (Index at = nodes_[parent].first_child; at != kNone && at != index; at = nodes_[at].next) {
    before = at;
    ++position;
  }
  if (nodes_[parent].kind == Kind::Sequence) return fmt::format("{}[{}]", above, position);
  const std::string_view key = before == kNone ? "" : text(resolve(before));
  return above.empty() ? std::string(key) : fmt::format("{}.{}", above, key);
}

}  // namespace mkp
