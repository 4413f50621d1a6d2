#include "netlink/family_support.h"

#include <fstream>
#include <system_error>

namespace mkp {

bool family_enabled(IpFamily family, const std::filesystem::path& proc) {
  if (family == IpFamily::Ipv4) return true;
  std::error_code ignored;
  if (!std::filesystem::exists(proc / "net/if_inet6", ignored)) return false;
  int disabled = 0;
  std::ifstream(proc / "sys/net/ipv6/conf/all/disable_ipv6") >> disabled;
  return disabled != 1;
}

}  // namespace mkp
