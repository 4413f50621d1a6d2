#pragma once

#include <map>
#include <string>
#include <string_view>

#include "netlink/ruleset.h"

namespace mkp::nft {

// The values of ruleset.h as nft syntax, nft 1.0.6 or later: for people, dry runs and tests. What
// we declare ourselves loads with `nft -f`; what only a dump can hold (foreign objects, unknown
// expressions) comes out readable, but does not load.

// "ip" or "ip6", as in `table ip6` and in `ip6 daddr`.
const char* family_text(IpFamily family);

// "ip daddr . meta l4proto . th dport vmap @services"
std::string to_text(const Rule& rule, IpFamily family);

// "10.96.0.10 . tcp . 80 comment \"shop/web:http\" : goto internal-cluster-4", or
// "10.96.0.10 . tcp . 80 . 192.0.2.0/25"
std::string to_text(const Element& element, const Set& set);

// "type nat hook prerouting priority dstnat; policy accept;"
std::string to_text(const BaseHook& hook);

// "type ipv4_addr . inet_proto . inet_service : verdict", or
// "type ipv4_addr; size 65535; flags dynamic,timeout"
std::string declaration_text(const Set& set);

// The whole table: "table ip mini-kube-proxy { ... }", as `nft list table` lays it out. Elements
// are in the order of their keys, whatever theirs in the ruleset.
std::string to_text(const Ruleset& ruleset);

// Writes operations on one table, each on a line of its own without a line end and without the
// verb: "element ip mini-kube-proxy cluster-ips { 10.96.0.10 }". FlushChain alone has a verb,
// "flush chain ip mini-kube-proxy cluster-4". How an element is written depends on its set, so sets
// must be declared first: all that the table has; AddSet declares its own.
class OperationPrinter {
 public:
  OperationPrinter(IpFamily family, std::string_view table);

  void declare(const Set& set);
  std::string to_text(const Operation& operation);

 private:
  struct Visitor;

  IpFamily family_;
  std::string table_;
  std::map<std::string, Set, std::less<>> sets_;
};

}  // namespace mkp::nft
