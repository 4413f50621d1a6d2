#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "tests/api_server/server_thread.h"
#include "tests/cluster/kubeconfig_text.h"
#include "tests/packets/network_namespace.h"
#include "tests/packets/program.h"

namespace mkp::api {

// The test API server with TLS and a token, for clients that are programs, in a network of their
// own.
class ClientFixture : public testing::Test {
 protected:
  ClientFixture() {
    std::filesystem::create_directory(directory_);
    const auto up = packets::run_program({"ip", "link", "set", "lo", "up"});
    EXPECT_TRUE(up) << up.error().what;
    use_certificate({.common_name = "test", .alternative_names = {"IP:127.0.0.1"}});
    server_.with([](TestApiServer& server) { server.settings().token = "right"; });
    server_.start();
    url_ = server_.with([](TestApiServer& server) { return server.url(); });
    write("ca.crt", authority_.certificate());
    kubeconfig_ = write("kubeconfig", cluster::kubeconfig_text(url_, "token: right"));
  }
  ~ClientFixture() override { std::filesystem::remove_all(directory_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name) << text;
    return directory_ / name;
  }
  std::string file(const std::string& name) const { return directory_ / name; }

  void use_certificate(const CertificateRequest& request,
                       const std::string& client_authority = "") {
    server_.with([&](TestApiServer& server) {
      server.settings().tls = TlsSettings{authority_.issue(request), client_authority};
    });
  }
  void put_service(const std::string& name, const std::string& cluster_ip) {
    Service service;
    service.metadata.name_space = "default";
    service.metadata.name = name;
    service.metadata.creation_timestamp = 1'767'225'600;
    service.cluster_ip = cluster_ip;
    service.cluster_ips = {cluster_ip};
    service.ip_families = {AddressType::Ipv4};
    service.ports = {{"http", Protocol::Tcp, 80, 0}};
    server_.with([&](TestApiServer& server) { server.store().put(draft(service)); });
  }
  std::size_t requests(const std::string& verb, const std::string& resource) {
    return server_.with([&](TestApiServer& server) { return server.log().count(verb, resource); });
  }
  std::string log() {
    return server_.with([](TestApiServer& server) { return server.log().text(); });
  }

  // Looks until it is so, while the program runs, for half a minute at most.
  static bool eventually(const packets::RunningProgram& program,
                         const std::function<bool()>& condition) {
    for (int look = 0; look < 1500; ++look) {
      if (condition()) return true;
      if (program.ends_within(std::chrono::milliseconds(20))) break;
    }
    return condition();
  }

  // First: the server's thread and every program begin in there.
  packets::NetworkNamespace network_ = packets::NetworkNamespace::enter().value();
  std::filesystem::path directory_ =
      std::filesystem::temp_directory_path() / ("mkp-clients-" + std::to_string(::getpid()));
  CertificateAuthority authority_;
  ServerThread server_;
  std::string url_;
  std::string kubeconfig_;
};

}  // namespace mkp::api
