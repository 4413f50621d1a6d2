#pragma once

#include <yaml-cpp/yaml.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mkp {

// A block of fields in a kubeconfig, and how messages call it.
struct KubeconfigBlock {
  YAML::Node node;     // a map
  std::string object;  // `user "node"`; empty for the document
  std::string path;    // what stands before the names of its fields: "exec."
};

// Takes fields out of blocks by type, and gathers what is wrong with them. Null is absent; of a
// field that is there twice the last counts. No message has a value in it, as that may be a secret.
class KubeconfigReader {
 public:
  // `folder` is where relative paths start.
  explicit KubeconfigReader(std::string folder) : folder_(std::move(folder)) {}

  // "" when absent, or wrong.
  std::string text(const KubeconfigBlock& block, const char* name);
  // A path, or "".
  std::string path(const KubeconfigBlock& block, const char* name);
  // Of base64.
  std::string data(const KubeconfigBlock& block, const char* name);
  bool flag(const KubeconfigBlock& block, const char* name);
  std::vector<std::string> texts(const KubeconfigBlock& block, const char* name);
  std::map<std::string, std::vector<std::string>> text_lists(const KubeconfigBlock& block,
                                                             const char* name);
  std::optional<KubeconfigBlock> block(const KubeconfigBlock& outer, const char* name);
  // The blocks of a list.
  std::vector<KubeconfigBlock> blocks(const KubeconfigBlock& outer, const char* name);
  std::optional<YAML::Node> any(const KubeconfigBlock& block, const char* name);

  void error(const KubeconfigBlock& block, const YAML::Node& at, std::string_view name,
             std::string_view what);
  // A line each, by their lines.
  std::vector<std::string> errors() const;

  // The path that `text`, written in this file, means.
  std::string resolved(const std::string& text) const;

 private:
  struct Finding {
    int line = 0;
    std::string text;
  };

  std::string text_of(const KubeconfigBlock& block, const YAML::Node& node, std::string_view name);
  std::vector<std::string> texts_of(const KubeconfigBlock& block, const YAML::Node& node,
                                    const std::string& name);

  std::string folder_;
  std::vector<Finding> findings_;
};

}  // namespace mkp
