#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "configs/load.h"
#include "netlink/nftables_socket.h"
#include "proxy/node_rules.h"
#include "tests/proxy/live_text.h"

namespace mkp {

// The kernel's side of the network namespace that the test program runs in.
class KernelView {
 public:
  std::uint32_t generation() { return socket_->generation().value(); }
  // What our tables mean, both families; see live_text().
  std::string live(const std::string& config_file) {
    const Config config = load_config_file(config_file).value().config;
    std::string text;
    for (const IpFamily family : {IpFamily::Ipv4, IpFamily::Ipv6}) {
      const auto ruleset = socket_->dump(family, kTable);
      text +=
          ruleset ? live_text(*ruleset, live_settings(config, {}, family)) : ruleset.error().what;
    }
    return text;
  }
  bool has_table(IpFamily family) { return socket_->dump(family, kTable).value().has_value(); }
  void remove_tables() {
    for (const IpFamily family : {IpFamily::Ipv4, IpFamily::Ipv6}) {
      const Result<> removed = remove_rules(*socket_, family);
      EXPECT_TRUE(removed) << removed.error().what;
    }
  }
  nft::Nftables& nftables() { return *socket_; }

 private:
  std::unique_ptr<nft::NftablesSocket> socket_ = nft::NftablesSocket::open().value();
};

}  // namespace mkp
