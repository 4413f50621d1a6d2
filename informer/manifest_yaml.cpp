#include "informer/manifest_yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <istream>
#include <streambuf>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mkp {

namespace {

using Index = ManifestTree::Index;
using Kind = ManifestTree::Kind;
constexpr Index kNone = ManifestTree::kNone;

// Our own reason to stop reading, thrown through yaml-cpp and caught below.
struct Refused {
  int line;
  std::string what;
};

class TextBuffer final : public std::streambuf {
 public:
  explicit TextBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // a streambuf's get area is never written to
    setg(begin, begin, begin + text.size());
  }
};

int line_of(const YAML::Mark& mark) { return mark.line + 1; }

class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(YamlReader& reader) : reader_(reader) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    // yaml-cpp 0.7 finds empty documents for ever in front of what no document can begin with, such
    // as a comma.
    if (mark.pos == document_at_) throw Refused{line_of(mark), "no document can begin like this"};
    document_at_ = mark.pos;
    clear();
  }
  void OnDocumentEnd() override {
    reader_.document(tree_, root_);
    clear();
  }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    leaf({.kind = Kind::Null, .line = line_of(mark)}, "", anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto target = anchors_.find(anchor);
    if (target == anchors_.end()) {
      throw Refused{line_of(mark), "an alias stands for something that contains it"};
    }
    const std::uint64_t weight = tree_.at(target->second).weight;
    aliased_ += weight;
    if (aliased_ > kMaxYamlAliasedNodes) {
      throw Refused{line_of(mark),
                    fmt::format("aliases stand for more than {} values", kMaxYamlAliasedNodes)};
    }
    leaf({.kind = Kind::Alias, .line = line_of(mark), .target = target->second, .weight = weight},
         "", 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    leaf({.kind = Kind::Scalar, .plain = tag == "?", .line = line_of(mark)}, value, anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(Kind::Sequence, mark, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(Kind::Mapping, mark, anchor);
  }
  void OnMapEnd() override { close(); }

  void broken(int line, std::string what) {
    reader_.broken(tree_, root_, line, std::move(what));
    clear();
  }

 private:
  struct Open {
    Index node;
    YAML::anchor_t anchor;
    ManifestTree::Size before;  // of the tree, and how many anchors there were: to drop an item
                                // that was dealt with
    std::size_t anchors;
  };

  void clear() {
    tree_.shrink({});
    anchors_.clear();
    open_.clear();
    root_ = kNone;
    aliased_ = 0;
  }

  Index add(ManifestTree::Node node, std::string_view text) {
    if (tree_.size().nodes >= kMaxYamlNodes) {
      throw Refused{node.line, fmt::format("holds more than {} values", kMaxYamlNodes)};
    }
    node.parent = open_.empty() ? kNone : open_.back().node;
    const Index index = tree_.add(node, text);
    if (root_ == kNone) root_ = index;
    return index;
  }

  void leaf(const ManifestTree::Node& node, std::string_view text, YAML::anchor_t anchor) {
    const Index index = add(node, text);
    tree_.link(index);
    if (anchor != 0) anchors_[anchor] = index;
    if (!open_.empty()) tree_.at(open_.back().node).weight += node.weight;
  }

  void open(Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (open_.size() >= kMaxYamlDepth) {
      throw Refused{line_of(mark), fmt::format("nested deeper than {} levels", kMaxYamlDepth)};
    }
    const ManifestTree::Size before = tree_.size();
    const Index index = add({.kind = kind, .line = line_of(mark)}, "");
    if (!in_items()) tree_.link(index);
    open_.push_back({index, anchor, before, anchors_.size()});
  }

  void close() {
    const Open closed = open_.back();
    open_.pop_back();
    if (closed.anchor != 0) anchors_[closed.anchor] = closed.node;
    if (open_.empty()) return;
    tree_.at(open_.back().node).weight += tree_.at(closed.node).weight;
    if (!in_items()) return;
    const bool done = reader_.item(tree_, root_, closed.node);
    if (done && anchors_.size() == closed.anchors) {
      tree_.shrink(closed.before);
    } else if (!done) {
      tree_.link(closed.node);
    }
  }

  // Whether the innermost open node is the sequence `items` of the document.
  bool in_items() const {
    if (open_.size() != 2 || tree_.at(open_[1].node).kind != Kind::Sequence) return false;
    const ManifestTree::Node& root = tree_.at(root_);
    if (root.kind != Kind::Mapping || root.last_child != open_[1].node) return false;
    return tree_.path(root_, open_[1].node) == "items";
  }

  YamlReader& reader_;
  ManifestTree tree_;
  std::unordered_map<YAML::anchor_t, Index> anchors_;  // complete ones only
  std::vector<Open> open_;
  Index root_ = kNone;
  std::uint64_t aliased_ = 0;
  int document_at_ = -1;
};

}  // namespace

void parse_yaml(std::string_view text, YamlReader& reader) {
  TreeBuilder builder(reader);
  if (text.size() > kMaxYamlBytes) {
    builder.broken(0, fmt::format("is larger than {} MiB", kMaxYamlBytes >> 20));
    return;
  }
  TextBuffer buffer(text);
  std::istream stream(&buffer);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    builder.broken(line_of(error.mark), error.msg);
  } catch (Refused& refused) {
    builder.broken(refused.line, std::move(refused.what));
  }
}

}  // namespace mkp
