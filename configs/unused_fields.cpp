#include "configs/unused_fields.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "configs/fields.h"
#include "configs/text_values.h"

namespace mkp {
namespace {

constexpr std::array<std::string_view, 22> kUsed{"mode",
                                                 "bindAddress",
                                                 "hostnameOverride",
                                                 "clusterCIDR",
                                                 "detectLocalMode",
                                                 "detectLocal.bridgeInterface",
                                                 "detectLocal.interfaceNamePrefix",
                                                 "nodePortAddresses",
                                                 "nftables.masqueradeBit",
                                                 "nftables.masqueradeAll",
                                                 "nftables.minSyncPeriod",
                                                 "nftables.syncPeriod",
                                                 "logging.verbosity",
                                                 "logging.format",
                                                 "clientConnection.kubeconfig",
                                                 "clientConnection.acceptContentTypes",
                                                 "clientConnection.contentType",
                                                 "clientConnection.qps",
                                                 "clientConnection.burst",
                                                 "healthzBindAddress",
                                                 "metricsBindAddress",
                                                 "bindAddressHardFail"};

// A visitor (fields.h) that notes each field's value as text.
class FieldLister {
 public:
  template <class Inner>
  void block(const char* name, const Inner& inner) {
    const std::size_t outer = path_.size();
    path_ += std::string(name) + ".";
    inner();
    path_.resize(outer);
  }

  template <class T>
  void field(const char* name, const T& value) {
    texts_[path_ + name] = value_text(value);
  }

  template <class T>
  void defaulted(const char* name, const T& value) {
    field(name, value);
  }

  template <class T>
  void text_or_number(const char* name, const T& value) {
    field(name, value);
  }

  template <class T>
  void list(const char* name, const T& value) {
    field(name, value);
  }

  void listen(const char* name, const ListenAddress& value) { field(name, value); }

  const std::map<std::string, std::string>& texts() const { return texts_; }

 private:
  std::string path_;
  std::map<std::string, std::string> texts_;
};

using Texts = std::map<std::string, std::string>;

Texts texts_of(const Config& config) {
  FieldLister lister;
  visit_config(lister, config);
  return lister.texts();
}

// A flag may set a field of the iptables mode and its twin of the nftables mode: then what it says
// is in force.
bool holds_by_its_twin(std::string_view path, const std::string& text, const Texts& texts) {
  constexpr std::string_view kIptables = "iptables.";
  if (!path.starts_with(kIptables)) return false;
  const std::string twin = "nftables." + std::string(path.substr(kIptables.size()));
  const auto found = texts.find(twin);
  return found != texts.end() && is_used_field(twin) && found->second == text;
}

}  // namespace

bool is_used_field(std::string_view path) {
  return std::find(kUsed.begin(), kUsed.end(), path) != kUsed.end();
}

std::vector<std::string> unused_fields(const Config& config) {
  const Texts defaults = texts_of(Config{});
  const Texts texts = texts_of(config);
  std::vector<std::string> paths;
  for (const auto& [path, text] : texts) {
    if (is_used_field(path) || text == defaults.at(path) || holds_by_its_twin(path, text, texts)) {
      continue;
    }
    paths.push_back(path);
  }
  return paths;
}

}  // namespace mkp
