#include "configs/kubeconfig.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <utility>

#include "configs/file_text.h"
#include "configs/json_text.h"
#include "configs/kubeconfig_reader.h"

namespace mkp {
namespace {

constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";

tl::unexpected<Error> loading_failed(const std::string& file, std::string_view what) {
  return fail(Errc::Invalid, fmt::format("error loading config file \"{}\": {}", file, what));
}

std::string exec_extension_of(KubeconfigReader& reader, const KubeconfigBlock& block) {
  for (const KubeconfigBlock& entry : reader.blocks(block, "extensions")) {
    if (reader.text(entry, "name") != kExecExtension) continue;
    const std::optional<YAML::Node> extension = reader.any(entry, "extension");
    if (!extension) continue;
    Result<std::string> json = json_of(*extension);
    if (json) return *json;
    reader.error(entry, *extension, "extension", json.error().what);
  }
  return "";
}

KubeconfigCluster cluster_of(KubeconfigReader& reader, const KubeconfigBlock& block) {
  KubeconfigCluster cluster;
  cluster.server = reader.text(block, "server");
  cluster.tls_server_name = reader.text(block, "tls-server-name");
  cluster.insecure_skip_tls_verify = reader.flag(block, "insecure-skip-tls-verify");
  cluster.certificate_authority.file = reader.path(block, "certificate-authority");
  cluster.certificate_authority.data = reader.data(block, "certificate-authority-data");
  cluster.proxy_url = reader.text(block, "proxy-url");
  cluster.disable_compression = reader.flag(block, "disable-compression");
  cluster.exec_extension = exec_extension_of(reader, block);
  return cluster;
}

KubeconfigExec exec_of(KubeconfigReader& reader, const KubeconfigBlock& block) {
  KubeconfigExec exec;
  exec.command = reader.text(block, "command");
  if (exec.command.find('/') != std::string::npos) exec.command = reader.resolved(exec.command);
  exec.args = reader.texts(block, "args");
  for (const KubeconfigBlock& variable : reader.blocks(block, "env")) {
    exec.env.push_back({reader.text(variable, "name"), reader.text(variable, "value")});
  }
  exec.api_version = reader.text(block, "apiVersion");
  exec.install_hint = reader.text(block, "installHint");
  exec.provide_cluster_info = reader.flag(block, "provideClusterInfo");
  exec.interactive_mode = reader.text(block, "interactiveMode");
  return exec;
}

KubeconfigUser user_of(KubeconfigReader& reader, const KubeconfigBlock& block) {
  KubeconfigUser user;
  user.client_certificate.file = reader.path(block, "client-certificate");
  user.client_certificate.data = reader.data(block, "client-certificate-data");
  user.client_key.file = reader.path(block, "client-key");
  user.client_key.data = reader.data(block, "client-key-data");
  user.token = reader.text(block, "token");
  user.token_file = reader.path(block, "tokenFile");
  user.as = reader.text(block, "as");
  user.as_uid = reader.text(block, "as-uid");
  user.as_groups = reader.texts(block, "as-groups");
  user.as_user_extra = reader.text_lists(block, "as-user-extra");
  user.username = reader.text(block, "username");
  user.password = reader.text(block, "password");
  if (const auto provider = reader.block(block, "auth-provider")) {
    user.auth_provider = reader.text(*provider, "name");
  }
  if (const auto exec = reader.block(block, "exec")) user.exec = exec_of(reader, *exec);
  return user;
}

KubeconfigContext context_of(KubeconfigReader& reader, const KubeconfigBlock& block) {
  KubeconfigContext context;
  context.cluster = reader.text(block, "cluster");
  context.user = reader.text(block, "user");
  context.name_space = reader.text(block, "namespace");
  return context;
}

// The entries of one of the three lists: `clusters` of a `cluster` each, and so on.
template <class Entry>
std::vector<Entry> entries_of(KubeconfigReader& reader, const KubeconfigBlock& root,
                              const char* list, const char* kind,
                              Entry (*entry_of)(KubeconfigReader&, const KubeconfigBlock&)) {
  std::vector<Entry> entries;
  for (const KubeconfigBlock& item : reader.blocks(root, list)) {
    const std::string name = reader.text(item, "name");
    const bool again = std::any_of(entries.begin(), entries.end(),
                                   [&name](const Entry& entry) { return entry.name == name; });
    if (again) {
      reader.error(item, item.node, "name",
                   fmt::format("duplicate name \"{}\" in list {}", name, list));
    }
    const std::string object = fmt::format("{} \"{}\"", kind, name);
    const std::optional<KubeconfigBlock> inner = reader.block({item.node, object, ""}, kind);
    Entry entry;
    if (inner) entry = entry_of(reader, {inner->node, object, ""});
    entry.name = name;
    entry.line = item.node.Mark().line + 1;
    entries.push_back(std::move(entry));
  }
  return entries;
}

void check_constant(KubeconfigReader& reader, const KubeconfigBlock& root, const char* name,
                    std::string_view expected) {
  const std::string text = reader.text(root, name);
  if (text.empty() || text == expected) return;
  reader.error(root, root.node, name, fmt::format("must be {}, not \"{}\"", expected, text));
}

// With the slash at its end; empty for the folder we are in.
std::string folder_of(const std::string& file) { return file.substr(0, file.rfind('/') + 1); }

Result<Kubeconfig> read_document(const YAML::Node& document, const std::string& file) {
  Kubeconfig kubeconfig;
  kubeconfig.file = file;
  if (!document || document.IsNull()) return kubeconfig;
  if (!document.IsMap()) return loading_failed(file, "line 1: expected a Config");
  KubeconfigReader reader(folder_of(file));
  const KubeconfigBlock root{document, "", ""};
  check_constant(reader, root, "apiVersion", "v1");
  check_constant(reader, root, "kind", "Config");
  kubeconfig.clusters = entries_of(reader, root, "clusters", "cluster", &cluster_of);
  kubeconfig.users = entries_of(reader, root, "users", "user", &user_of);
  kubeconfig.contexts = entries_of(reader, root, "contexts", "context", &context_of);
  kubeconfig.current_context = reader.text(root, "current-context");
  std::string errors;
  for (const std::string& error : reader.errors()) {
    errors += (errors.empty() ? "" : "\n") + loading_failed(file, error).value().what;
  }
  if (!errors.empty()) return fail(Errc::Invalid, std::move(errors));
  return kubeconfig;
}

}  // namespace

Result<Kubeconfig> parse_kubeconfig(std::string_view text, const std::string& file) {
  try {
    return read_document(YAML::Load(std::string(text)), file);
  } catch (const YAML::Exception& error) {
    // Behind a colon, yaml-cpp cites the text: "the referenced anchor is not defined: ...".
    const std::string reason = error.msg.substr(0, error.msg.find(':'));
    return loading_failed(file, fmt::format("line {}: {}", error.mark.line + 1, reason));
  }
}

Result<Kubeconfig> load_kubeconfig(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return fail(text.error(), fmt::format("error loading config file \"{}\"", path));
  return parse_kubeconfig(*text, path);
}

}  // namespace mkp
