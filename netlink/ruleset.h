#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runner/ip_address.h"

// nf_tables objects as values: what is sent, what a dump gives back, what a fake keeps and what is
// printed. Equal values mean the same rules in the kernel. All byte strings are in the order in
// which the kernel keeps them.
namespace mkp::nft {

// A short byte string without an allocation of its own: keys and data of elements, masks, compared
// values.
class Bytes {
 public:
  // NFT_DATA_VALUE_MAXLEN, the kernel's own limit for a key or a datum.
  static constexpr std::size_t kMaxSize = 64;

  Bytes() = default;
  // At most kMaxSize bytes; more is a bug of the caller.
  explicit Bytes(std::span<const std::uint8_t> bytes);

  std::span<const std::uint8_t> span() const { return {data_.data(), size_}; }
  std::size_t size() const { return size_; }

  // Appends one field of a concatenation, padded with zero bytes to a multiple of four as nf_tables
  // wants it.
  void append_field(std::span<const std::uint8_t> field);

  bool operator==(const Bytes& other) const;
  std::strong_ordering operator<=>(const Bytes& other) const;

 private:
  std::array<std::uint8_t, kMaxSize> data_{};
  std::uint8_t size_ = 0;
};

struct Verdict {
  enum class Kind : std::uint8_t { Accept, Drop, Return, Jump, Goto };
  Kind kind = Kind::Accept;
  std::string chain;  // of Jump and Goto
  bool operator==(const Verdict&) const = default;
};

// --- expressions: what a rule is made of ---

// A register, counted in units of four bytes from the start of the data registers (0 to 15):
// register 0 is NFT_REG_1 and NFT_REG32_00, register 4 is NFT_REG_2. A 16-byte address takes four.
using Register = std::uint8_t;

struct PayloadLoad {  // `ip saddr`, `ip daddr`, `th dport`
  enum class Base : std::uint8_t { Network, Transport };
  Base base = Base::Network;
  std::uint32_t offset = 0;  // bytes from the base
  std::uint32_t length = 0;  // bytes
  Register to = 0;
  bool operator==(const PayloadLoad&) const = default;
};
enum class MetaKey : std::uint8_t { L4Proto, Mark, IifName };
struct MetaLoad {
  MetaKey key = MetaKey::L4Proto;
  Register to = 0;
  bool operator==(const MetaLoad&) const = default;
};
struct MetaSet {
  MetaKey key = MetaKey::Mark;
  Register from = 0;
  bool operator==(const MetaSet&) const = default;
};
enum class CtKey : std::uint8_t { State, Status };
struct CtLoad {
  CtKey key = CtKey::State;
  Register to = 0;
  bool operator==(const CtLoad&) const = default;
};
struct FibLoad {  // `fib saddr type`, `fib daddr type`
  enum class Address : std::uint8_t { Source, Destination };
  Address address = Address::Source;
  Register to = 0;
  bool operator==(const FibLoad&) const = default;
};
struct Bitwise {  // to = (from & mask) ^ exclusive_or
  Register from = 0;
  Register to = 0;
  Bytes mask;
  Bytes exclusive_or;
  bool operator==(const Bitwise&) const = default;
};
struct Compare {
  enum class Op : std::uint8_t { Equal, NotEqual };
  Op op = Op::Equal;
  Register from = 0;
  Bytes value;
  bool operator==(const Compare&) const = default;
};
struct Numgen {  // `numgen random mod modulus`, in host byte order
  std::uint32_t modulus = 1;
  Register to = 0;
  bool operator==(const Numgen&) const = default;
};
struct Lookup {
  enum class Use : std::uint8_t { Match, Data, Verdict };  // @set, map @set, vmap @set
  std::string set;
  Register from = 0;
  Use use = Use::Match;
  Register to = 0;  // of Data
  bool operator==(const Lookup&) const = default;
};
struct ImmediateVerdict {
  Verdict verdict;
  bool operator==(const ImmediateVerdict&) const = default;
};
struct ImmediateData {  // a constant for a later expression: the target of `dnat
                        // to 10.180.0.2:8080`
  Register to = 0;
  Bytes value;
  bool operator==(const ImmediateData&) const = default;
};
struct SetUpdate {  // `update @set { ip saddr timeout 3h }`: adds the key, or renews its timeout
  std::string set;
  Register key = 0;
  std::uint32_t timeout = 0;  // seconds
  bool operator==(const SetUpdate&) const = default;
};
struct Dnat {  // `dnat ip to`: address and port from registers
  IpFamily family = IpFamily::Ipv4;
  Register address = 0;
  Register port = 0;
  bool operator==(const Dnat&) const = default;
};
struct Masquerade {
  bool fully_random = true;
  bool operator==(const Masquerade&) const = default;
};
struct Reject {  // with icmp(v6) port-unreachable
  bool operator==(const Reject&) const = default;
};
// An expression that we never write, found in a dump. Equal to nothing that we want, so its rule
// gets replaced.
struct UnknownExpression {
  std::string name;
  std::vector<std::uint8_t> attributes;
  bool operator==(const UnknownExpression&) const = default;
};

using Expression = std::variant<PayloadLoad, MetaLoad, MetaSet, CtLoad, FibLoad, Bitwise, Compare,
                                Numgen, Lookup, ImmediateVerdict, ImmediateData, SetUpdate, Dnat,
                                Masquerade, Reject, UnknownExpression>;

// --- objects ---

struct Rule {
  std::vector<Expression> expressions;
  bool operator==(const Rule&) const = default;
};

struct BaseHook {
  enum class Type : std::uint8_t { Filter, Nat };
  enum class Hook : std::uint8_t { Prerouting, Input, Forward, Output, Postrouting };
  Type type = Type::Filter;
  Hook hook = Hook::Input;
  std::int32_t priority = 0;
  bool operator==(const BaseHook&) const = default;
};

struct Chain {
  std::string name;
  std::optional<BaseHook> hook;  // base chains only; their policy is accept
  // A base chain that we never declare so (another type, a policy of drop), found in a dump.
  bool foreign = false;
  bool operator==(const Chain&) const = default;
};

// What a field of a key or of a datum holds. Sizes: 4, 16, 1, 2 and 4 bytes.
enum class Field : std::uint8_t {
  Ipv4Address,
  Ipv6Address,
  InetProto,    // IPPROTO_*
  InetService,  // port, network byte order
  Slot,         // what `numgen` gives: 32 bits, host byte order
};
std::size_t size_of(Field field);

// A set, a map of data, or a verdict map. A key with a Slot is declared with nft's `typeof`, any
// other with `type`.
struct Set {
  enum class Kind : std::uint8_t { Set, DataMap, VerdictMap };
  // What the elements of a Set are.
  enum class Content : std::uint8_t {
    Keys,
    Intervals,  // of a concatenated key; `flags interval`
    // Keys that rules add and that time out (SetUpdate), at most kMaxRemembered; `flags
    // dynamic,timeout`. Neither written by a transaction nor listed by a dump.
    Remembered,
  };
  static constexpr std::uint32_t kMaxRemembered = 65535;  // the kernel's own limit for such a set
  std::string name;
  Kind kind = Kind::Set;
  std::vector<Field> key;
  std::vector<Field> data;  // of a DataMap
  Content content = Content::Keys;
  // A set that we never declare so (other types, timeouts, intervals ...), found in a dump.
  bool foreign = false;
  bool operator==(const Set&) const = default;
};

// The last key of an interval that begins with the element's key, itself included.
struct IntervalEnd {
  Bytes key;
  bool operator==(const IntervalEnd&) const = default;
};

struct Element {
  Bytes key;
  // Nothing; a DataMap's datum; a VerdictMap's verdict; where an interval ends. No two intervals of
  // a set may overlap: EEXIST for one that begins or ends in another. One around another is taken,
  // and then it is not defined which of them a packet finds: whoever makes them must not.
  std::variant<std::monostate, Bytes, Verdict, IntervalEnd> value;
  std::string comment;  // at most kMaxComment bytes; nft shows it behind the key
  bool operator==(const Element&) const = default;
};
// nft 1.0.6 allows 128 bytes with the terminating NUL; the kernel refuses the whole batch for a
// longer userdata (kubernetes#139515).
inline constexpr std::size_t kMaxComment = 127;

// --- a change ---

// A rule is appended to its chain. Flush takes all rules out of a chain.
struct AddTable {};
struct DeleteTable {};  // and all that is in it
struct AddChain {
  Chain chain;
};
struct DeleteChain {
  std::string chain;
};
struct FlushChain {
  std::string chain;
};
struct AddRule {
  std::string chain;
  Rule rule;
};
struct AddSet {
  Set set;
};
struct DeleteSet {
  std::string set;
};
struct AddElement {
  std::string_view set;
  Element element;
};  // Exists when the key has another value
// The whole element, so that it can be printed. Of intervals, the one goes in which its key lies.
struct DeleteElement {
  std::string_view set;
  Element element;
};
// `set` above is a view: the name of a set of the layout, a constant or one that outlives the
// transaction.

struct Operation {
  std::variant<AddTable, DeleteTable, AddChain, DeleteChain, FlushChain, AddRule, AddSet, DeleteSet,
               AddElement, DeleteElement>
      what;
  // On whose behalf: an index into a list of the caller's. Opaque here; kShared for what serves
  // everybody.
  std::uint32_t serves = kShared;
  static constexpr std::uint32_t kShared = 0xffffffff;
};

// Operations on one table, in the order in which the kernel takes them: all of them or none.
struct Transaction {
  IpFamily family = IpFamily::Ipv4;
  std::string table;
  std::vector<Operation> operations;
};

// One table as the kernel has it.
struct Ruleset {
  struct ChainState {
    Chain chain;
    std::vector<Rule> rules;
    bool operator==(const ChainState&) const = default;
  };
  struct SetState {
    Set set;
    std::vector<Element> elements;
    bool operator==(const SetState&) const = default;
  };
  IpFamily family = IpFamily::Ipv4;
  std::string table;
  std::vector<ChainState> chains;
  std::vector<SetState> sets;
  std::uint32_t generation = 0;  // of the whole network namespace, at the time of the dump
};

}  // namespace mkp::nft
