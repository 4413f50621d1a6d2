#include "netlink/family_support.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace mkp {
namespace {

namespace fs = std::filesystem;

class FamilySupportTest : public testing::Test {
 protected:
  FamilySupportTest() {
    std::string path = (fs::temp_directory_path() / "mkp-proc-XXXXXX").string();
    proc_ = ::mkdtemp(path.data());
    fs::create_directories(proc_ / "net");
    fs::create_directories(proc_ / "sys/net/ipv6/conf/all");
  }
  ~FamilySupportTest() override { fs::remove_all(proc_); }
  void write(const std::string& file, const std::string& text) {
    std::ofstream(proc_ / file) << text;
  }

  fs::path proc_;
};

TEST_F(FamilySupportTest, HasIpv6WhereItIsNotDisabled) {
  write("net/if_inet6", "");
  write("sys/net/ipv6/conf/all/disable_ipv6", "0\n");
  EXPECT_TRUE(family_enabled(IpFamily::Ipv6, proc_));
}

TEST_F(FamilySupportTest, HasNoIpv6WithoutTheModule) {
  EXPECT_FALSE(family_enabled(IpFamily::Ipv6, proc_));
  EXPECT_TRUE(family_enabled(IpFamily::Ipv4, proc_));
}

TEST_F(FamilySupportTest, HasNoIpv6WhereItIsDisabled) {
  write("net/if_inet6", "");
  write("sys/net/ipv6/conf/all/disable_ipv6", "1\n");
  EXPECT_FALSE(family_enabled(IpFamily::Ipv6, proc_));
}

}  // namespace
}  // namespace mkp
