#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "configs/exec_credential.h"
#include "configs/kubeconfig.h"
#include "configs/kubeconfig_validation.h"

// Whatever a kubeconfig, or the answer of a plugin, says: it is read, or refused with a reason.
// What is chosen has a server. No file that it names is opened.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mkp;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto credential = parse_exec_credential(text, "client.authentication.k8s.io/v1");
  if (!credential && credential.error().what.empty()) std::abort();
  if (credential && credential->token.empty() && credential->client_key.empty()) std::abort();
  const Result<Kubeconfig> kubeconfig = parse_kubeconfig(text, "/etc/kube/config");
  if (!kubeconfig) {
    if (kubeconfig.error().what.empty()) std::abort();
    return 0;
  }
  for (const char* master : {"", "https://192.168.0.1:6443"}) {
    const Result<ChosenEntries> chosen = choose_entries(*kubeconfig, master);
    if (chosen ? chosen->cluster.server.empty() : chosen.error().what.empty()) std::abort();
  }
  return 0;
}
