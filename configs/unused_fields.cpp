#include "configs/unused_fields.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "configs/fields.h"
#include "configs/text_values.h"

namespace mkp {
namespace {

constexpr std::array<std::string_view, 14> kUsed{"mode",
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
                                                 "logging.format"};

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

std::map<std::string, std::string> texts_of(const Config& config) {
  FieldLister lister;
  visit_config(lister, config);
  return lister.texts();
}

}  // namespace

std::vector<std::string> unused_fields(const Config& config) {
  const std::map<std::string, std::string> defaults = texts_of(Config{});
  std::vector<std::string> paths;
  for (const auto& [path, text] : texts_of(config)) {
    const bool used = std::find(kUsed.begin(), kUsed.end(), path) != kUsed.end();
    if (!used && text != defaults.at(path)) paths.push_back(path);
  }
  return paths;
}

}  // namespace mkp
