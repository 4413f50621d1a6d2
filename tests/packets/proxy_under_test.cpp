#include "tests/packets/proxy_under_test.h"

#include <fmt/format.h>

#include <chrono>
#include <set>

namespace mkp::packets {
namespace {

constexpr std::chrono::seconds kPatience(20);

std::string sentinel_ip(int sync) {
  return fmt::format("10.111.{}.{}", sync / 250, sync % 250 + 1);
}
std::string sentinel_ipv6(int sync) { return fmt::format("fd11::{:x}", sync + 1); }

bool has_cluster_ip(std::string_view family, const std::string& ip) {
  return run_program({"nft", fmt::format("get element {} mini-kube-proxy cluster-ips {{ {} }}",
                                         family, ip)})
      .has_value();
}

}  // namespace

Result<> ProxyUnderTest::sync() {
  if (following_ == Following::RunOnce) return run_once();
  ++syncs_;
  Result<> written = write_sentinel();
  if (!written) return written;
  if (!process_) {
    Result<> started = start();
    if (!started) return started;
  }
  return await_sentinel();
}

void ProxyUnderTest::signal(int number) const {
  if (process_) process_->signal(number);
}

Result<> ProxyUnderTest::stop(int signal) {
  if (!process_) return {};
  Result<> stopped = process_->stop(signal);
  process_.reset();
  return stopped;
}

Result<> ProxyUnderTest::run_once() const {
  std::set<int> accepted = {0};
  if (expected_.unserved) accepted.insert(1);
  const Result<std::string> said =
      run_program({program_, "--config", cluster_.config().string(), "--manifests",
                   cluster_.manifests().string(), "--once"},
                  "", accepted);
  if (!said) return tl::unexpected(said.error());
  return {};
}

Result<> ProxyUnderTest::start() {
  Result<RunningProgram> started =
      RunningProgram::start({program_, "--config", cluster_.config().string(), "--manifests",
                             cluster_.manifests().string()});
  if (!started) return tl::unexpected(started.error());
  process_.emplace(std::move(*started));
  return {};
}

Result<> ProxyUnderTest::write_sentinel() {
  return cluster_.apply(fmt::format(
      "apiVersion: v1\nkind: Service\nmetadata: {{namespace: tests, name: sentinel}}\nspec:\n"
      "  clusterIP: {0}\n  clusterIPs: [{0}, \"{1}\"]\n  ipFamilies: [IPv4, IPv6]\n"
      "  ipFamilyPolicy: RequireDualStack\n  ports: [{{name: none, protocol: TCP, port: 9}}]\n",
      sentinel_ip(syncs_), sentinel_ipv6(syncs_)));
}

Result<> ProxyUnderTest::await_sentinel() {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    if (has_cluster_ip("ip", sentinel_ip(syncs_)) &&
        (!expected_.ipv6 || has_cluster_ip("ip6", sentinel_ipv6(syncs_)))) {
      return {};
    }
    if (process_->ends_within(std::chrono::milliseconds(1))) {
      return fail(Errc::Unavailable, "the program ended: " + process_->said());
    }
  }
  return fail(Errc::Unavailable, "the program did not take the changes: " + process_->said());
}

}  // namespace mkp::packets
