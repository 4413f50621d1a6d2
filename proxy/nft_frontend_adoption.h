#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "netlink/ruleset.h"
#include "proxy/nft_frontend.h"
#include "proxy/nft_skeleton.h"

namespace mkp {

// Puts the elements of a dump together as frontends again. A frontend counts only if its elements
// are exactly those that make it: whatever is left over, missing or contradictory makes all of them
// unfit for use.
class FrontendAdoption {
 public:
  // `ruleset` is borrowed for life.
  FrontendAdoption(const nft::Ruleset& ruleset, IpFamily family)
      : ruleset_(ruleset), family_(family) {}

  struct Unfit {
    std::string_view set;
    const nft::Element* element = nullptr;
    std::string owner;  // whom it served, where that can be told
  };

  // `is_chain`: whether a chain of that name is fit for use.
  void run(const std::function<bool(const std::string&)>& is_chain);

  std::unordered_map<Frontend, LiveFrontend> fit;
  std::vector<Unfit> unfit;

 private:
  // What was found of one frontend.
  struct Found {
    std::vector<std::pair<std::string_view, const nft::Element*>> fixed;
    std::vector<std::pair<std::string_view, const nft::Element*>> slots;
    std::string owner;
    LiveFrontend state;
    bool consistent = true;
  };

  void read(const FrontendSets& sets);
  void read_allowed_sources();
  void read_verdict(const FrontendSets& sets, std::string_view map, const nft::Element& element,
                    Found& found) const;
  void read_slots(const FrontendSets& sets, std::string_view map);
  Found* find(std::string_view set, const nft::Element& element, FrontendKey key);
  void judge(const Frontend& frontend, Found& found,
             const std::function<bool(const std::string&)>& is_chain);
  const std::vector<nft::Element>& elements(std::string_view set) const;

  const nft::Ruleset& ruleset_;
  IpFamily family_;
  std::map<Frontend, Found> found_;
};

}  // namespace mkp
