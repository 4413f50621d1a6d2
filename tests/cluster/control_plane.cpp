#include "tests/cluster/control_plane.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <utility>

#include "tests/cluster/kubeconfig_text.h"

namespace mkp::cluster {
namespace {

using packets::run_program;
using packets::RunningProgram;
using std::chrono::milliseconds;

constexpr int kReadyWithin = 1200;  // looks, one every 50 ms
constexpr const char* kAdminToken = "admin-token";

// Replaces what is there at once, as whoever reads it expects of a secret that is rotated.
Result<> write_file(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path fresh = path.string() + ".new";
  std::ofstream(fresh) << text;
  ::chmod(fresh.c_str(), 0600);
  std::error_code error;
  std::filesystem::rename(fresh, path, error);
  if (error) return fail_errno(error.value(), "write " + path.string());
  return {};
}

Result<> without_text(const Result<std::string>& done) {
  if (!done) return tl::unexpected(done.error());
  return {};
}

Result<> run_all(const std::vector<std::vector<std::string>>& commands) {
  for (const std::vector<std::string>& command : commands) {
    const Result<std::string> done = run_program(command);
    if (!done) return without_text(done);
  }
  return {};
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

ControlPlane::ControlPlane(IsolatedNetwork network, std::filesystem::path directory,
                           std::filesystem::path programs)
    : network_(std::move(network)),
      directory_(std::move(directory)),
      programs_(std::move(programs)) {}

ControlPlane::~ControlPlane() {
  api_server_.reset();
  etcd_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

Result<std::unique_ptr<ControlPlane>> ControlPlane::start() {
  const Result<std::string> built = run_program({MKP_CLUSTER_DIR "/build"});
  if (!built) return fail(built.error(), "build the control plane");
  Result<IsolatedNetwork> network = IsolatedNetwork::make();
  if (!network) return tl::unexpected(network.error());
  std::string directory = std::filesystem::temp_directory_path() / "mkp-cluster-XXXXXX";
  if (::mkdtemp(directory.data()) == nullptr) return fail_errno(errno, "make " + directory);

  std::unique_ptr<ControlPlane> made(
      new ControlPlane(std::move(*network), directory, last_line(*built)));
  if (const Result<> running = made->run(); !running) return tl::unexpected(running.error());
  return made;
}

Result<> ControlPlane::run() {
  if (Result<> done = give_addresses(); !done) return done;
  if (Result<> done = write_files(); !done) return done;
  if (Result<> done = start_etcd(); !done) return done;
  return start_api_server();
}

Result<> ControlPlane::give_addresses() {
  const IsolatedNetwork::Visit inside(network_);
  // The server wants a default route to find its own address, though nothing goes there.
  return run_all({
      {"ip", "addr", "add", fmt::format("{}/32", kAddress), "dev", "lo"},
      {"ip", "addr", "add", fmt::format("{}/128", kIpv6Address), "dev", "lo"},
      {"ip", "route", "add", "default", "dev", "lo"},
  });
}

Result<> ControlPlane::write_files() {
  const Result<std::string> key =
      run_program({"openssl", "genrsa", "-out", file("service-accounts.key"), "2048"});
  if (!key) return without_text(key);
  if (Result<> done = write_file(file("ca.crt"), authority_.certificate()); !done) {
    return done;
  }
  const api::CertificateAndKey proxy =
      authority_.issue({.common_name = "system:kube-proxy", .organizations = {"mkp:proxies"}});
  if (Result<> done = write_file(file("proxy.crt"), proxy.certificate); !done) return done;
  if (Result<> done = write_file(file("proxy.key"), proxy.key); !done) return done;
  if (Result<> done = rotate_serving_certificate(); !done) return done;
  if (Result<> done = rotate_proxy_token(); !done) return done;
  admin_ = std::make_unique<AdminClient>(network_, authority_.certificate(), kAdminToken);
  return write_kubeconfigs();
}

Result<> ControlPlane::write_kubeconfigs() {
  const std::string server = fmt::format("https://{}:6443", kAddress);
  const std::string ipv6_server = fmt::format("https://[{}]:6443", kIpv6Address);
  const std::string admin = fmt::format("token: {}", kAdminToken);
  const std::vector<std::pair<std::string, std::string>> files{
      {admin_kubeconfig(), kubeconfig_text(server, admin)},
      {proxy_kubeconfig(), kubeconfig_text(server, "tokenFile: proxy.token")},
      {proxy_ipv6_kubeconfig(), kubeconfig_text(ipv6_server, "tokenFile: proxy.token")},
      {proxy_certificate_kubeconfig(),
       kubeconfig_text(server, "client-certificate: proxy.crt, client-key: proxy.key")},
  };
  for (const auto& [path, text] : files) {
    if (Result<> done = write_file(path, text); !done) return done;
  }
  return {};
}

Result<> ControlPlane::rotate_proxy_token() {
  const std::string token = fmt::format("proxy-token-{}", ++tokens_);
  if (Result<> done = write_file(file("proxy.token"), token); !done) return done;
  return write_file(
      file("tokens.csv"),
      fmt::format("{},admin,1,system:masters\n{},system:kube-proxy,2\n", kAdminToken, token));
}

Result<> ControlPlane::rotate_serving_certificate() {
  const api::CertificateAndKey fresh =
      authority_.issue({.common_name = "kube-apiserver",
                        .alternative_names = {
                            "DNS:localhost", "DNS:kubernetes.default.svc", "IP:127.0.0.1", "IP:::1",
                            fmt::format("IP:{}", kAddress), fmt::format("IP:{}", kIpv6Address)}});
  if (Result<> done = write_file(file("server.crt"), fresh.certificate); !done) return done;
  return write_file(file("server.key"), fresh.key);
}

Result<RunningProgram> ControlPlane::run_inside(std::vector<std::string> command) {
  command.insert(command.begin(), {"setpriv", "--pdeathsig", "KILL", "--"});
  const IsolatedNetwork::Visit inside(network_);
  return RunningProgram::start(command);
}

Result<> ControlPlane::start_etcd() {
  Result<RunningProgram> etcd =
      run_inside({program("etcd"), "--data-dir", file("etcd"), "--unsafe-no-fsync",
                  "--quota-backend-bytes", "8000000000", "--log-level", "warn"});
  if (!etcd) return tl::unexpected(etcd.error());
  etcd_.emplace(std::move(*etcd));
  return {};
}

Result<> ControlPlane::start_api_server() {
  Result<RunningProgram> server = run_inside({program("kube-apiserver"),
                                              "--etcd-servers",
                                              "http://127.0.0.1:2379",
                                              "--service-cluster-ip-range",
                                              "10.96.0.0/12,fd96::/108",
                                              "--service-account-issuer",
                                              "https://kubernetes",
                                              "--service-account-key-file",
                                              file("service-accounts.key"),
                                              "--service-account-signing-key-file",
                                              file("service-accounts.key"),
                                              "--client-ca-file",
                                              file("ca.crt"),
                                              "--tls-cert-file",
                                              file("server.crt"),
                                              "--tls-private-key-file",
                                              file("server.key"),
                                              "--cert-dir",
                                              file("certificates"),
                                              "--token-auth-file",
                                              file("tokens.csv"),
                                              "--authorization-mode",
                                              "RBAC",
                                              "--bind-address",
                                              "::",
                                              "--advertise-address",
                                              kAddress,
                                              "--disable-admission-plugins",
                                              "ServiceAccount"});
  if (!server) return tl::unexpected(server.error());
  api_server_.emplace(std::move(*server));
  return wait_until_ready(*api_server_);
}

Result<> ControlPlane::wait_until_ready(const RunningProgram& server) {
  Result<std::string> ready = fail(Errc::Unreachable, "not asked");
  for (int look = 0; look < kReadyWithin; ++look) {
    ready = admin_->get("/readyz");
    if (ready) return {};
    if (server.ends_within(milliseconds(50))) break;
  }
  return fail(ready.error(), "the API server did not get ready:\n" + api_server_log());
}

Result<> ControlPlane::stop_api_server(int signal) {
  if (!api_server_) return fail(Errc::NotFound, "no API server runs");
  Result<> stopped = api_server_->stop(signal);
  api_server_.reset();
  return stopped;
}

Result<> ControlPlane::run_seed(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program("seed"));
  const IsolatedNetwork::Visit inside(network_);
  return without_text(run_program(arguments));
}

Result<> ControlPlane::compact() { return run_seed({"--compact"}); }

Result<> ControlPlane::seed(int services, int endpoints) {
  return run_seed(
      {fmt::format("--services={}", services), fmt::format("--endpoints={}", endpoints)});
}

Result<Attachment> ControlPlane::attach() {
  const int number = attached_++;
  Attachment made{.address = fmt::format("10.20.{}.11", number),
                  .ipv6_address = fmt::format("fd20:0:0:{:x}::11", number),
                  .far_end = fmt::format("node{}", number)};
  const std::string gateway = fmt::format("10.20.{}.1", number);
  const std::string ipv6_gateway = fmt::format("fd20:0:0:{:x}::1", number);
  const std::string link = "apiserver";
  Result<> near = run_all({
      {"ip", "link", "set", "lo", "up"},
      {"ip", "link", "add", link, "type", "veth", "peer", "name", made.far_end, "netns",
       network_.path()},
      {"ip", "link", "set", link, "up"},
      {"ip", "addr", "add", made.address + "/24", "dev", link},
      {"ip", "addr", "add", made.ipv6_address + "/64", "dev", link, "nodad"},
      {"ip", "route", "add", kAddress, "via", gateway},
      {"ip", "route", "add", kIpv6Address, "via", ipv6_gateway},
  });
  if (!near) return tl::unexpected(near.error());
  const IsolatedNetwork::Visit inside(network_);
  const Result<> far = run_all({
      {"ip", "link", "set", made.far_end, "up"},
      {"ip", "addr", "add", gateway + "/24", "dev", made.far_end},
      {"ip", "addr", "add", ipv6_gateway + "/64", "dev", made.far_end, "nodad"},
  });
  if (!far) return tl::unexpected(far.error());
  return made;
}

Result<> ControlPlane::cut(const Attachment& attachment) {
  const IsolatedNetwork::Visit inside(network_);
  return without_text(run_program(
      {"nft", "-f", "-"},
      fmt::format("table inet cut-{0} {{\n"
                  "  chain in {{ type filter hook input priority 0; iifname {0} drop; }}\n"
                  "  chain out {{ type filter hook output priority 0; oifname {0} drop; }}\n"
                  "}}\n",
                  attachment.far_end)));
}

Result<> ControlPlane::mend(const Attachment& attachment) {
  const IsolatedNetwork::Visit inside(network_);
  return without_text(run_program({"nft", "delete", "table", "inet", "cut-" + attachment.far_end}));
}

std::string ControlPlane::api_server_log() const {
  constexpr std::size_t kEnough = 4000;
  std::string said = api_server_ ? api_server_->said() : "";
  return said.size() > kEnough ? said.substr(said.size() - kEnough) : said;
}

}  // namespace mkp::cluster
