#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>

#include "netlink/nftables.h"
#include "tests/api_server/certificates.h"
#include "tests/api_server/server_thread.h"

namespace mkp {

// A test API server with TLS and a token, its kubeconfig, and a small cluster in it that is changed
// at random. In the network of the calling thread, which is ours alone.
class FaultyApiServer {
 public:
  // `seed`: the same changes for the same.
  explicit FaultyApiServer(unsigned seed);
  ~FaultyApiServer();
  FaultyApiServer(const FaultyApiServer&) = delete;
  FaultyApiServer& operator=(const FaultyApiServer&) = delete;

  // A KubeProxyConfiguration that leads here, for node-a.
  std::string config() const { return (directory_ / "config.yaml").string(); }
  api::ServerThread& thread() { return server_; }

  // Changes, makes or deletes one of 40 Services or its endpoints.
  void change_something();
  // Gives the Service "marker" an endpoint that it never had; says its address.
  std::string mark();
  // What the kernel should have of IPv4, and what a kernel has, as live_text() says it.
  std::string wanted() const;
  std::string live(nft::Nftables& kernel) const;

  void rotate_token();
  void rotate_certificate();
  // Every packet to and from the server is lost, without a word to either side.
  void cut_network();
  void mend_network();

 private:
  void put_service(const std::string& name, int port);
  void put_endpoints(const std::string& name, const std::vector<std::string>& addresses);
  void write(const std::string& name, const std::string& text) const;
  int number(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  std::filesystem::path directory_;
  api::CertificateAuthority authority_;
  api::ServerThread server_;
  std::map<std::string, Service> services_;
  std::map<std::string, EndpointSlice> slices_;
  std::mt19937 random_;
  int marks_ = 0;
  int tokens_ = 0;
};

}  // namespace mkp
