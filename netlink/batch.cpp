#include "netlink/batch.h"

#include <libnftnl/chain.h>
#include <libnftnl/common.h>
#include <libnftnl/rule.h>
#include <libnftnl/set.h>
#include <libnftnl/table.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "netlink/elements.h"
#include "netlink/expressions.h"
#include "netlink/messages.h"
#include "netlink/set_shape.h"
#include "netlink/verdicts.h"

namespace mkp::nft {
namespace {

// The most that the 16-bit length of an attribute can say.
constexpr std::size_t kMaxAttribute = 0xffff;

template <class Object, void (*free_object)(const Object*)>
struct Free {
  void operator()(Object* object) const noexcept { free_object(object); }
};
using TableHandle = std::unique_ptr<nftnl_table, Free<nftnl_table, nftnl_table_free>>;
using ChainHandle = std::unique_ptr<nftnl_chain, Free<nftnl_chain, nftnl_chain_free>>;
using RuleHandle = std::unique_ptr<nftnl_rule, Free<nftnl_rule, nftnl_rule_free>>;
using SetHandle = std::unique_ptr<nftnl_set, Free<nftnl_set, nftnl_set_free>>;

// libnftnl answers a lack of memory with a null pointer.
template <class Handle, class Object>
Handle owned(Object* object) {
  if (object == nullptr) throw std::bad_alloc();
  return Handle(object);
}

std::uint32_t hook_number(BaseHook::Hook hook) {
  switch (hook) {
    case BaseHook::Hook::Prerouting:
      return NF_INET_PRE_ROUTING;
    case BaseHook::Hook::Input:
      return NF_INET_LOCAL_IN;
    case BaseHook::Hook::Forward:
      return NF_INET_FORWARD;
    case BaseHook::Hook::Output:
      return NF_INET_LOCAL_OUT;
    case BaseHook::Hook::Postrouting:
      return NF_INET_POST_ROUTING;
  }
  return NF_INET_PRE_ROUTING;
}

bool too_long(std::string_view name) { return name.size() >= NFT_NAME_MAXLEN; }

struct NamesIn {
  bool operator()(const Lookup& lookup) const { return too_long(lookup.set); }
  bool operator()(const SetUpdate& update) const { return too_long(update.set); }
  bool operator()(const ImmediateVerdict& verdict) const { return too_long(verdict.verdict.chain); }
  template <class Other>
  bool operator()(const Other&) const {
    return false;
  }
};

// Why this element cannot be sent, as a positive errno; 0 when it can.
int obstacle_of(std::string_view set, const Element& element) {
  if (too_long(set)) return ENAMETOOLONG;
  if (element.comment.size() > kMaxComment) return EINVAL;
  const auto* verdict = std::get_if<Verdict>(&element.value);
  return verdict != nullptr && too_long(verdict->chain) ? ENAMETOOLONG : 0;
}

}  // namespace

// Writes one operation after the other; elements of one set share messages.
class Batch::Builder {
 public:
  Builder(Batch& batch, const Transaction& transaction)
      : batch_(batch), transaction_(transaction), table_(transaction.table) {}

  void run(std::optional<std::uint32_t> generation) {
    batch_.bytes_.reserve(256 + transaction_.operations.size() * 96);
    put_limit(NFNL_MSG_BATCH_BEGIN, generation);
    for (current_ = 0; current_ < transaction_.operations.size(); ++current_) {
      std::visit(*this, transaction_.operations[current_].what);
    }
    close_elements();
    put_limit(NFNL_MSG_BATCH_END, std::nullopt);
  }

  void operator()(const AddTable&) { put_table(NFT_MSG_NEWTABLE, NLM_F_CREATE); }
  void operator()(const DeleteTable&) { put_table(NFT_MSG_DELTABLE, 0); }
  void operator()(const AddChain& add) {
    if (too_long(add.chain.name)) return refuse(ENAMETOOLONG);
    if (add.chain.foreign) return refuse(EINVAL);
    const auto chain = owned<ChainHandle>(nftnl_chain_alloc());
    nftnl_chain_set_str(chain.get(), NFTNL_CHAIN_TABLE, table_.c_str());
    nftnl_chain_set_str(chain.get(), NFTNL_CHAIN_NAME, add.chain.name.c_str());
    if (const std::optional<BaseHook>& hook = add.chain.hook) {
      const bool nat = hook->type == BaseHook::Type::Nat;
      nftnl_chain_set_str(chain.get(), NFTNL_CHAIN_TYPE, nat ? "nat" : "filter");
      nftnl_chain_set_u32(chain.get(), NFTNL_CHAIN_HOOKNUM, hook_number(hook->hook));
      nftnl_chain_set_s32(chain.get(), NFTNL_CHAIN_PRIO, hook->priority);
      nftnl_chain_set_u32(chain.get(), NFTNL_CHAIN_POLICY, NF_ACCEPT);
    }
    nftnl_chain_nlmsg_build_payload(open_skeleton(NFT_MSG_NEWCHAIN, NLM_F_CREATE), chain.get());
    close_skeleton();
  }
  void operator()(const DeleteChain& remove) {
    if (too_long(remove.chain)) return refuse(ENAMETOOLONG);
    const auto chain = owned<ChainHandle>(nftnl_chain_alloc());
    nftnl_chain_set_str(chain.get(), NFTNL_CHAIN_TABLE, table_.c_str());
    nftnl_chain_set_str(chain.get(), NFTNL_CHAIN_NAME, remove.chain.c_str());
    nftnl_chain_nlmsg_build_payload(open_skeleton(NFT_MSG_DELCHAIN, 0), chain.get());
    close_skeleton();
  }
  void operator()(const FlushChain& flush) {
    if (too_long(flush.chain)) return refuse(ENAMETOOLONG);
    const RuleHandle rule = rule_of(flush.chain);
    nftnl_rule_nlmsg_build_payload(open_skeleton(NFT_MSG_DELRULE, 0), rule.get());
    close_skeleton();
  }
  void operator()(const AddRule& add) {
    if (too_long(add.chain)) return refuse(ENAMETOOLONG);
    const RuleHandle rule = rule_of(add.chain);
    for (const Expression& expression : add.rule.expressions) {
      if (std::visit(NamesIn{}, expression)) return refuse(ENAMETOOLONG);
      Result<ExpressionHandle> handle = to_nftnl(expression, transaction_.family);
      if (!handle) return refuse(EINVAL);
      nftnl_rule_add_expr(rule.get(), handle->release());
    }
    // No expression of ours takes more: names are checked, values have at most 64 bytes.
    const std::size_t room = 1024 * add.rule.expressions.size();
    nftnl_rule_nlmsg_build_payload(
        open_skeleton(NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND, room), rule.get());
    close_skeleton();
  }
  void operator()(const AddSet& add) {
    if (too_long(add.set.name)) return refuse(ENAMETOOLONG);
    if (!can_declare(add.set)) return refuse(EINVAL);
    const SetHandle set = set_of(add.set.name);
    const SetShape shape = shape_of(add.set);
    nftnl_set_set_u32(set.get(), NFTNL_SET_ID, ++last_set_id_);
    nftnl_set_set_u32(set.get(), NFTNL_SET_FLAGS, shape.flags);
    nftnl_set_set_u32(set.get(), NFTNL_SET_KEY_TYPE, shape.key_type);
    nftnl_set_set_u32(set.get(), NFTNL_SET_KEY_LEN, shape.key_size);
    if (add.set.kind != Set::Kind::Set) {
      nftnl_set_set_u32(set.get(), NFTNL_SET_DATA_TYPE, shape.data_type);
      nftnl_set_set_u32(set.get(), NFTNL_SET_DATA_LEN, shape.data_size);
    }
    if (shape.size != 0) nftnl_set_set_u32(set.get(), NFTNL_SET_DESC_SIZE, shape.size);
    if (!shape.field_sizes.empty()) {
      nftnl_set_set_data(set.get(), NFTNL_SET_DESC_CONCAT, shape.field_sizes.data(),
                         static_cast<std::uint32_t>(shape.field_sizes.size()));
    }
    nftnl_set_set_data(set.get(), NFTNL_SET_USERDATA, shape.userdata.data(),
                       static_cast<std::uint32_t>(shape.userdata.size()));
    nftnl_set_nlmsg_build_payload(
        open_skeleton(NFT_MSG_NEWSET, NLM_F_CREATE, shape.userdata.size()), set.get());
    close_skeleton();
  }
  void operator()(const DeleteSet& remove) {
    if (too_long(remove.set)) return refuse(ENAMETOOLONG);
    const SetHandle set = set_of(remove.set);
    nftnl_set_nlmsg_build_payload(open_skeleton(NFT_MSG_DELSET, 0), set.get());
    close_skeleton();
  }
  void operator()(const AddElement& add) {
    put(NFT_MSG_NEWSETELEM, add.set, add.element, ElementParts::All);
  }
  void operator()(const DeleteElement& remove) {
    put(NFT_MSG_DELSETELEM, remove.set, remove.element, ElementParts::KeyOnly);
  }

 private:
  void refuse(int err) { batch_.unsendable_.push_back({current_, current_, err}); }

  RuleHandle rule_of(const std::string& chain) {
    auto rule = owned<RuleHandle>(nftnl_rule_alloc());
    nftnl_rule_set_str(rule.get(), NFTNL_RULE_TABLE, table_.c_str());
    nftnl_rule_set_str(rule.get(), NFTNL_RULE_CHAIN, chain.c_str());
    return rule;
  }
  SetHandle set_of(const std::string& name) {
    auto set = owned<SetHandle>(nftnl_set_alloc());
    nftnl_set_set_str(set.get(), NFTNL_SET_TABLE, table_.c_str());
    nftnl_set_set_str(set.get(), NFTNL_SET_NAME, name.c_str());
    return set;
  }
  void put_table(std::uint16_t type, std::uint16_t flags) {
    if (too_long(table_)) return refuse(ENAMETOOLONG);
    const auto table = owned<TableHandle>(nftnl_table_alloc());
    nftnl_table_set_str(table.get(), NFTNL_TABLE_NAME, table_.c_str());
    nftnl_table_nlmsg_build_payload(open_skeleton(type, flags), table.get());
    close_skeleton();
  }

  // libnftnl writes into a buffer of a fixed size without looking at its end: `extra` is what the
  // payload may take beyond a few numbers and names.
  nlmsghdr* open_skeleton(std::uint16_t type, std::uint16_t flags, std::size_t extra = 0) {
    close_elements();
    scratch_.assign(4096 + extra, '\0');
    skeleton_ = nftnl_nlmsg_build_hdr(scratch_.data(), type, family_number(transaction_.family),
                                      flags, batch_.next_sequence_);
    return skeleton_;
  }
  void close_skeleton() {
    carry(false);
    const auto* begin = reinterpret_cast<const std::uint8_t*>(scratch_.data());
    batch_.bytes_.insert(batch_.bytes_.end(), begin, begin + skeleton_->nlmsg_len);
  }

  // Notes that the message which begins here carries the current operation.
  void carry(bool elements) {
    batch_.carried_.push_back({current_, current_, batch_.bytes_.size(), elements});
    ++batch_.next_sequence_;
  }

  // The begin or the end of the batch.
  void put_limit(std::uint16_t type, std::optional<std::uint32_t> generation) {
    const std::size_t begin = open_request(batch_.bytes_, {.type = type,
                                                           .sequence = batch_.next_sequence_++,
                                                           .family = AF_UNSPEC,
                                                           .resource = NFNL_SUBSYS_NFTABLES});
    if (generation) AttributeWriter(batch_.bytes_).put_be32(NFNL_BATCH_GENID, *generation);
    close_request(batch_.bytes_, begin);
  }

  void put(std::uint16_t type, std::string_view set, const Element& element, ElementParts parts) {
    if (const int err = obstacle_of(set, element)) return refuse(err);
    if (!open_ || open_->type != type || open_->set != set) open_elements(type, set);
    AttributeWriter writer(batch_.bytes_);
    const std::size_t begin = batch_.bytes_.size();
    put_element(writer, element, parts);
    if (open_ && batch_.bytes_.size() - open_->list > kMaxAttribute) {
      batch_.bytes_.resize(begin);
      open_elements(type, set);
      put_element(writer, element, parts);
    }
    batch_.carried_.back().last = current_;
  }
  void open_elements(std::uint16_t type, std::string_view set) {
    close_elements();
    const std::uint32_t sequence = batch_.next_sequence_;
    carry(true);
    const std::size_t begin = open_request(
        batch_.bytes_,
        {.type = static_cast<std::uint16_t>((NFNL_SUBSYS_NFTABLES << 8) | type),
         .flags = type == NFT_MSG_NEWSETELEM ? std::uint16_t{NLM_F_CREATE} : std::uint16_t{0},
         .sequence = sequence,
         .family = family_number(transaction_.family)});
    AttributeWriter writer(batch_.bytes_);
    writer.put_name(NFTA_SET_ELEM_LIST_TABLE, table_);
    writer.put_name(NFTA_SET_ELEM_LIST_SET, set);
    open_ = OpenElements{type, set, begin, writer.open(NFTA_SET_ELEM_LIST_ELEMENTS)};
  }
  void close_elements() {
    if (!open_) return;
    AttributeWriter(batch_.bytes_).close(open_->list);
    close_request(batch_.bytes_, open_->begin);
    open_.reset();
  }

  struct OpenElements {
    std::uint16_t type = 0;
    std::string_view set;
    std::size_t begin = 0;  // of the message in bytes_
    std::size_t list = 0;   // of the attribute that holds the elements
  };

  Batch& batch_;
  const Transaction& transaction_;
  std::string table_;
  std::size_t current_ = 0;  // operation
  std::uint32_t last_set_id_ = 0;
  std::vector<char> scratch_;
  nlmsghdr* skeleton_ = nullptr;
  std::optional<OpenElements> open_;
};

Batch::Batch(const Transaction& transaction, std::optional<std::uint32_t> generation,
             std::uint32_t first_sequence)
    : first_sequence_(first_sequence), next_sequence_(first_sequence) {
  Builder(*this, transaction).run(generation);
}

std::optional<Refusal> Batch::refusal_of(const NetlinkError& error) const {
  // Sequence numbers wrap around, and so does this difference.
  const std::uint32_t index = error.sequence - first_sequence_ - 1;
  if (index >= carried_.size()) return std::nullopt;
  const Carried& carried = carried_[index];
  Refusal refusal{carried.first, carried.last, error.err};
  if (!carried.elements || !error.attribute_offset) return refusal;

  // The elements of a message are the attributes of its last one, in the order of the operations.
  const auto message_size = load_host<std::uint32_t>(bytes_.data() + carried.offset);
  const ByteSpan message = ByteSpan(bytes_).subspan(carried.offset, message_size);
  AttributeReader lists(message.subspan(kNetfilterHeader));
  while (const Attribute* list = lists.next()) {
    if (list->type != NFTA_SET_ELEM_LIST_ELEMENTS) continue;
    AttributeReader elements(list->payload);
    const std::size_t list_end = message.size();
    for (std::size_t operation = carried.first; operation <= carried.last; ++operation) {
      const std::size_t offset = list_end - elements.remaining();
      if (offset == *error.attribute_offset) return Refusal{operation, operation, error.err};
      if (elements.next() == nullptr) break;
    }
  }
  return refusal;
}

}  // namespace mkp::nft
