// A real control plane for people: mkp_cluster [NETNS]...
// Starts it, attaches those network namespaces, says where the kubeconfigs are, and stops it when
// standard input ends.
#include <fcntl.h>
#include <sched.h>

#include <cstdio>
#include <iostream>
#include <string>

#include "tests/cluster/control_plane.h"

namespace {

bool attach(mkp::cluster::ControlPlane& cluster, const std::string& name) {
  const mkp::packets::Descriptor network(
      ::open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC));
  if (!network || ::setns(network.get(), CLONE_NEWNET) != 0) {
    std::perror(name.c_str());
    return false;
  }
  const mkp::Result<mkp::cluster::Attachment> attached = cluster.attach();
  if (!attached) {
    std::cerr << attached.error().what << '\n';
    return false;
  }
  std::cout << name << " is " << attached->address << " and " << attached->ipv6_address << '\n';
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  const auto cluster = mkp::cluster::ControlPlane::start();
  if (!cluster) {
    std::cerr << cluster.error().what << '\n';
    return 1;
  }
  for (int i = 1; i < count; ++i) {
    if (!attach(**cluster, arguments[i])) return 1;
  }
  std::cout << "kube-proxy: " << (*cluster)->program("kube-proxy")
            << "\nkubeconfigs: " << (*cluster)->admin_kubeconfig() << ' '
            << (*cluster)->proxy_kubeconfig() << "\nrunning until standard input ends" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
  }
  return 0;
}
