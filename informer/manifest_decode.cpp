#include "informer/manifest_decode.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <utility>

#include "informer/manifest_field.h"
#include "informer/manifest_object.h"
#include "informer/manifest_yaml.h"

namespace mkp {

namespace {

using Index = ManifestTree::Index;

constexpr std::string_view kListSuffix = "List";

struct KnownKind {
  std::string_view group;  // with the slash
  std::string_view version;
  ObjectKind kind;
};
constexpr std::array<KnownKind, 5> kKnownKinds{
    {{"", "v1", ObjectKind::Service},
     {"", "v1", ObjectKind::Node},
     {"discovery.k8s.io/", "v1", ObjectKind::EndpointSlice},
     {"networking.k8s.io/", "v1", ObjectKind::ServiceCidr},
     {"networking.k8s.io/", "v1beta1", ObjectKind::ServiceCidr}}};

// What a document says that it is. `List` and `ServiceList` are both lists; the latter's items are
// Services.
struct TypeMeta {
  std::string api_version;
  std::string kind;

  bool is_list() const { return kind.ends_with(kListSuffix); }
  std::string item_kind() const { return kind.substr(0, kind.size() - kListSuffix.size()); }
  std::string to_text() const {
    return api_version.empty() ? kind : fmt::format("{} {}", api_version, kind);
  }
};

TypeMeta type_meta(const ManifestField& document) {
  return {document["apiVersion"].text(), document["kind"].text()};
}

std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? "" : api_version.substr(0, slash + 1);
}

// The kind of ours that this is, in whatever version; nothing for what is passed over.
std::optional<ObjectKind> kind_of(const TypeMeta& type) {
  for (const KnownKind& known : kKnownKinds) {
    if (type.kind != to_text(known.kind)) continue;
    if (type.api_version.empty() || group_of(type.api_version) == known.group) return known.kind;
  }
  return std::nullopt;
}

bool is_version_read(const TypeMeta& type) {
  for (const KnownKind& known : kKnownKinds) {
    if (type.kind == to_text(known.kind) &&
        type.api_version == fmt::format("{}{}", known.group, known.version)) {
      return true;
    }
  }
  return false;
}

std::shared_ptr<Object> read_object(const ManifestField& document, ObjectKind kind) {
  switch (kind) {
    case ObjectKind::Service:
      return manifest_service(document);
    case ObjectKind::EndpointSlice:
      return manifest_endpoint_slice(document);
    case ObjectKind::Node:
      return manifest_node(document);
    case ObjectKind::ServiceCidr:
      break;
  }
  return manifest_service_cidr(document);
}

// JSON writes a character beyond U+FFFF as two escapes (\ud83d\ude00), YAML as one (\U0001f600).
std::string with_long_escapes(std::string_view json) {
  const auto code = [json](std::size_t at) {
    unsigned value = 0;
    const bool escape =
        json.substr(at, 2) == "\\u" && json.size() >= at + 6 &&
        std::from_chars(&json[at + 2], &json[at + 2] + 4, value, 16).ptr == &json[at + 2] + 4;
    return escape ? value : 0;
  };
  std::string yaml;
  yaml.reserve(json.size());
  for (std::size_t at = 0; at < json.size();) {
    if (json[at] != '\\') {
      yaml += json[at++];
      continue;
    }
    const unsigned high = code(at);
    const unsigned low = high >= 0xd800 && high < 0xdc00 ? code(at + 6) : 0;
    if (low >= 0xdc00 && low < 0xe000) {
      yaml += fmt::format("\\U{:08x}", 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
      at += 12;
    } else {
      yaml += json.substr(at, 2);
      at += 2;
    }
  }
  return yaml;
}

class Decoder final : public YamlReader {
 public:
  explicit Decoder(std::string_view file) : file_(file) {}

  bool item(const ManifestTree& tree, Index root, Index item) override {
    std::vector<FieldProblem> ignored;
    const TypeMeta list = type_meta(ManifestField(tree, root, ignored));
    if (!list.kind.empty() && !list.is_list()) return false;
    const ManifestField field(tree, item, ignored);
    if (list.kind.empty() && field["kind"].text().empty()) return false;
    decode(tree, item, list);
    return true;
  }

  void document(const ManifestTree& tree, Index root) override {
    if (root == ManifestTree::kNone) return;
    std::vector<FieldProblem> problems;
    const ManifestField document(tree, root, problems);
    if (!document.present()) return;
    const TypeMeta type = type_meta(document);
    if (type.is_list() && problems.empty() && document.has("items")) {
      decode_rest(tree, document, type, problems);
    } else {
      pending_ = {};  // `items` of something else
      decode(tree, root, {});
    }
    publish();
  }

  void broken(const ManifestTree& tree, Index root, int line, std::string what) override {
    // The items of a List that broke off count as read; anything else has none.
    std::vector<FieldProblem> ignored;
    std::string object;
    if (root != ManifestTree::kNone) {
      const ManifestField document(tree, root, ignored);
      const TypeMeta type = type_meta(document);
      const std::optional<ObjectKind> kind = kind_of(type);
      if (kind && document["metadata"].is_mapping()) {
        object = named(*kind, manifest_metadata(document, *kind));
      }
      if (!type.kind.empty() && !type.is_list()) pending_ = {};
    }
    publish();
    decoded_.problems.push_back({file_, line, std::move(object), "", "syntax error: " + what});
    decoded_.incomplete.fill(true);
  }

  DecodedManifests take() { return std::move(decoded_); }

 private:
  // The items of a List that item() has left, in the tree's own order.
  void decode_rest(const ManifestTree& tree, const ManifestField& document, const TypeMeta& type,
                   std::vector<FieldProblem>& problems) {
    for (const ManifestField& element : document["items"].elements()) {
      decode(tree, element.node(), type);
    }
    if (!problems.empty()) unidentified(std::move(problems), std::nullopt);
  }

  static std::string named(ObjectKind kind, const ObjectMeta& meta) {
    if (meta.name.empty()) return std::string(to_text(kind));
    return fmt::format("{} {}", to_text(kind), manifest_key(meta));
  }

  std::vector<ManifestProblem> located(std::vector<FieldProblem> problems,
                                       const std::string& object) const {
    std::vector<ManifestProblem> all;
    for (FieldProblem& problem : problems) {
      all.push_back(
          {file_, problem.line, object, std::move(problem.field), std::move(problem.what)});
    }
    return all;
  }

  // A document that does not say which object it is of.
  void unidentified(std::vector<FieldProblem> problems, std::optional<ObjectKind> kind) {
    const std::string object = kind ? std::string(to_text(*kind)) : std::string();
    for (ManifestProblem& problem : located(std::move(problems), object)) {
      pending_.problems.push_back(std::move(problem));
    }
    if (kind) {
      pending_.incomplete[static_cast<std::size_t>(*kind)] = true;
    } else {
      pending_.incomplete.fill(true);
    }
  }

  // One object: a document, or an item of `list`, whose kind stands in for the item's own.
  void decode(const ManifestTree& tree, Index root, const TypeMeta& list) {
    std::vector<FieldProblem> problems;
    const ManifestField document(tree, root, problems);
    if (!document.is_mapping()) {
      document.note("is not an object");
      return unidentified(std::move(problems), std::nullopt);
    }
    TypeMeta type = type_meta(document);
    if (type.kind.empty() && !list.kind.empty()) type.kind = list.item_kind();
    if (type.api_version.empty() && list.kind != kListSuffix) type.api_version = list.api_version;
    if (type.kind.empty() && problems.empty()) document["kind"].note("is missing");
    if (!problems.empty()) return unidentified(std::move(problems), std::nullopt);
    const std::optional<ObjectKind> kind = kind_of(type);
    if (!kind) {
      ++pending_.passed_over[type.to_text()];
      return;
    }
    decode_known(document, problems, type, *kind);
  }

  void decode_known(const ManifestField& document, std::vector<FieldProblem>& problems,
                    const TypeMeta& type, ObjectKind kind) {
    const ManifestField version = document["apiVersion"];
    if (type.api_version.empty()) version.note("is missing");
    if (!type.api_version.empty() && !is_version_read(type)) {
      version.note(fmt::format("{} is not a version that is read", type.api_version));
    }
    const ObjectMeta meta = manifest_metadata(document, kind);
    const ManifestField metadata = document["metadata"];
    if (!metadata["name"].present()) metadata["name"].note("is missing");
    // A namespace that cannot be read leaves the object as unknown as a name does.
    const bool lost = is_namespaced(kind) && metadata["namespace"].present() &&
                      metadata["namespace"].text() != meta.name_space;
    if (meta.name.empty() || lost) return unidentified(std::move(problems), kind);

    Manifest manifest{kind, manifest_key(meta), document.line(), nullptr, false, {}};
    manifest.left_out = problems.empty() && is_left_out(document, kind);
    std::shared_ptr<Object> object =
        manifest.left_out ? new_object(kind) : read_object(document, kind);
    if (problems.empty()) {
      metadata_of(kind, *object) = meta;
      manifest.object = std::move(object);
    }
    manifest.problems = located(std::move(problems), named(kind, meta));
    pending_.manifests.push_back(std::move(manifest));
  }

  void publish() {
    for (Manifest& manifest : pending_.manifests) {
      decoded_.manifests.push_back(std::move(manifest));
    }
    for (ManifestProblem& problem : pending_.problems) {
      decoded_.problems.push_back(std::move(problem));
    }
    for (std::size_t kind = 0; kind < pending_.incomplete.size(); ++kind) {
      decoded_.incomplete[kind] = decoded_.incomplete[kind] || pending_.incomplete[kind];
    }
    for (const auto& [kind, count] : pending_.passed_over) decoded_.passed_over[kind] += count;
    pending_ = {};
  }

  std::string file_;
  DecodedManifests pending_;  // of the document that is being read
  DecodedManifests decoded_;
};

}  // namespace

DecodedManifests decode_manifests(std::string_view file, std::string_view text) {
  Decoder decoder(file);
  if (file.ends_with(".json") && text.find("\\u") != std::string_view::npos) {
    parse_yaml(with_long_escapes(text), decoder);
  } else {
    parse_yaml(text, decoder);
  }
  return decoder.take();
}

}  // namespace mkp
