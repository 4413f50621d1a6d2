#pragma once

#include <signal.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runner/result.h"
#include "tests/api_server/certificates.h"
#include "tests/cluster/admin_client.h"
#include "tests/cluster/isolated_network.h"
#include "tests/packets/program.h"

namespace mkp::cluster {

// The link from a node to the control plane. In the node's network it is called `apiserver`, has
// both addresses, and a route to the API server's.
struct Attachment {
  std::string address;       // 10.20.N.11, for the N-th that was attached, from 0 on
  std::string ipv6_address;  // fd20:0:0:N::11
  std::string far_end;       // its name in the control plane's network
};

// etcd and the real API server 1.37.2 in a network of their own, with a directory for their files.
// Users: the administrator; `system:kube-proxy`, who has the role system:node-proxier by the
// server's own bindings, with a token in a file or a client certificate. Cluster IPs
// are 10.96.0.0/12 and fd96::/108.
//
// Built by tests/cluster/build if that was not done yet. The processes end with the thread that
// started them, whatever becomes of it. Every call blocks until what it says is so.
class ControlPlane {
 public:
  static constexpr const char* kAddress = "10.20.255.1";  // the server answers on all, port 6443
  static constexpr const char* kIpv6Address = "fd20:0:0:ff::1";

  static Result<std::unique_ptr<ControlPlane>> start();
  ~ControlPlane();
  ControlPlane(const ControlPlane&) = delete;
  ControlPlane& operator=(const ControlPlane&) = delete;

  // Kubeconfigs for programs in an attached network, with the server at kAddress.
  std::string admin_kubeconfig() const { return file("admin.kubeconfig"); }
  std::string proxy_kubeconfig() const { return file("proxy.kubeconfig"); }  // tokenFile
  std::string proxy_certificate_kubeconfig() const { return file("proxy-certificate.kubeconfig"); }
  // The server at kIpv6Address, with tokenFile.
  std::string proxy_ipv6_kubeconfig() const { return file("proxy-ipv6.kubeconfig"); }
  std::string file(const std::string& name) const { return directory_ / name; }
  // One of etcd, kube-apiserver, kube-proxy and seed, as a path.
  std::string program(const std::string& name) const { return programs_ / name; }

  AdminClient& admin() { return *admin_; }
  const IsolatedNetwork& network() const { return network_; }

  // Connects the network that the calling thread is in.
  Result<Attachment> attach();
  // From now on every packet between the two is lost, without a word to either.
  Result<> cut(const Attachment& attachment);
  Result<> mend(const Attachment& attachment);

  Result<> stop_api_server(int signal = SIGKILL);
  Result<> start_api_server();  // until /readyz says ok
  // What etcd had before now is forgotten. Watches that are open go on, as the server has a memory
  // of its own; it loses that when it starts again.
  Result<> compact();
  // Writes Services and slices straight into etcd: see seed/main.go.
  Result<> seed(int services, int endpoints);
  // A new token for the proxy in its token file. The server takes it, and no older one, from its
  // next start on.
  Result<> rotate_proxy_token();
  // A new certificate of the same authority. The server takes it up within a minute, or at its next
  // start.
  Result<> rotate_serving_certificate();

  // The last lines that the API server wrote since its last start.
  std::string api_server_log() const;

 private:
  ControlPlane(IsolatedNetwork network, std::filesystem::path directory,
               std::filesystem::path programs);
  Result<> run();
  Result<> give_addresses();
  Result<> write_files();
  Result<> write_kubeconfigs();
  Result<> start_etcd();
  Result<> wait_until_ready(const packets::RunningProgram& server);
  Result<packets::RunningProgram> run_inside(std::vector<std::string> command);
  Result<> run_seed(std::vector<std::string> arguments);

  IsolatedNetwork network_;
  std::filesystem::path directory_;
  std::filesystem::path programs_;
  api::CertificateAuthority authority_;
  int tokens_ = 0;  // how many the proxy has had
  int attached_ = 0;
  std::unique_ptr<AdminClient> admin_;
  std::optional<packets::RunningProgram> etcd_;
  std::optional<packets::RunningProgram> api_server_;
};

}  // namespace mkp::cluster
