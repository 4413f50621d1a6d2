#include "netlink/nftables_socket.h"

#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <utility>

#include "netlink/attributes.h"
#include "netlink/batch.h"
#include "netlink/messages.h"
#include "netlink/nft_text.h"
#include "netlink/ruleset_dump.h"
#include "netlink/verdicts.h"

namespace mkp::nft {
namespace {

// How often a dump is tried while others keep changing what it lists.
constexpr int kDumpAttempts = 10;

// A request for objects of one family; attributes are to be appended.
std::vector<std::uint8_t> get_message(int nft_message, std::uint16_t flags, std::uint8_t family,
                                      std::uint32_t sequence) {
  std::vector<std::uint8_t> bytes;
  open_request(bytes,
               {.type = static_cast<std::uint16_t>((NFNL_SUBSYS_NFTABLES << 8) | nft_message),
                .flags = flags,
                .sequence = sequence,
                .family = family});
  return bytes;
}

// Once the attributes are complete.
ByteSpan finished(std::vector<std::uint8_t>& message) {
  close_request(message, 0);
  return message;
}

std::string doing(std::string_view what, IpFamily family, std::string_view table) {
  return std::string(what) + " table " + family_text(family) + " " + std::string(table);
}

}  // namespace

Result<std::unique_ptr<NftablesSocket>> NftablesSocket::open() {
  Result<NetlinkSocket> socket = NetlinkSocket::open(NETLINK_NETFILTER);
  if (!socket) return fail(std::move(socket.error()), "nf_tables");
  return std::unique_ptr<NftablesSocket>(new NftablesSocket(std::move(*socket)));
}

Result<std::vector<Refusal>> NftablesSocket::commit(const Transaction& transaction,
                                                    std::optional<std::uint32_t> generation) {
  if (transaction.operations.empty()) return std::vector<Refusal>{};
  Batch batch(transaction, generation, socket_.take_sequence(0));
  socket_.take_sequence(batch.last_sequence() - batch.first_sequence() + 1);
  if (!batch.unsendable().empty()) return batch.unsendable();

  const std::string what = doing("commit", transaction.family, transaction.table);
  const Result<std::vector<NetlinkError>> errors = socket_.send_batch(batch.bytes());
  if (!errors) return fail(errors.error(), what);
  std::vector<Refusal> refusals;
  for (const NetlinkError& error : *errors) {
    const std::optional<Refusal> refusal = batch.refusal_of(error);
    // About the batch as a whole: the wrong generation, no privilege, no memory.
    if (!refusal) return fail_errno(error.err, what);
    refusals.push_back(*refusal);
  }
  return refusals;
}

Result<std::uint32_t> NftablesSocket::generation() {
  const std::uint32_t sequence = socket_.take_sequence(1);
  auto message = get_message(NFT_MSG_GETGEN, NLM_F_ACK, AF_UNSPEC, sequence);
  std::optional<std::uint32_t> generation;
  const Result<> answered =
      socket_.request(finished(message), sequence, [&](const NetlinkMessage& answer) -> Result<> {
        const Result<std::uint32_t> parsed = parse_generation(answer);
        if (!parsed) return fail(parsed.error(), "get the generation");
        generation = *parsed;
        return {};
      });
  if (!answered) return fail(answered.error(), "nf_tables generation");
  if (!generation) return fail(Errc::Invalid, "nf_tables generation: the kernel told none");
  return *generation;
}

Result<> NftablesSocket::find_table(IpFamily family, std::string_view table) {
  const std::uint32_t sequence = socket_.take_sequence(1);
  auto message = get_message(NFT_MSG_GETTABLE, NLM_F_ACK, family_number(family), sequence);
  AttributeWriter(message).put_name(NFTA_TABLE_NAME, table);
  return socket_.request(finished(message), sequence,
                         [](const NetlinkMessage&) -> Result<> { return {}; });
}

Result<std::optional<Ruleset>> NftablesSocket::dump_once(IpFamily family, std::string_view table) {
  const Result<std::uint32_t> before = generation();
  if (!before) return fail(before.error(), "dump");
  const Result<> found = find_table(family, table);
  if (!found && found.error().code == Errc::NotFound) return std::optional<Ruleset>();
  if (!found) return fail(found.error(), "get the table");

  RulesetDump dump(family, table);
  const auto list = [&](int nft_message, std::uint16_t table_attribute, std::string_view set) {
    const std::uint32_t sequence = socket_.take_sequence(1);
    auto message = get_message(nft_message, NLM_F_DUMP, family_number(family), sequence);
    AttributeWriter writer(message);
    if (table_attribute != 0) writer.put_name(table_attribute, table);
    if (!set.empty()) writer.put_name(NFTA_SET_ELEM_LIST_SET, set);
    return socket_.request(finished(message), sequence,
                           [&](const NetlinkMessage& answer) { return dump.take(answer); });
  };
  // The kernel lists the chains of a family whichever their table; RulesetDump tells them apart.
  if (auto listed = list(NFT_MSG_GETCHAIN, 0, ""); !listed) {
    return fail(std::move(listed.error()), "list chains");
  }
  if (auto listed = list(NFT_MSG_GETRULE, NFTA_RULE_TABLE, ""); !listed) {
    return fail(std::move(listed.error()), "list rules");
  }
  if (auto listed = list(NFT_MSG_GETSET, NFTA_SET_TABLE, ""); !listed) {
    return fail(std::move(listed.error()), "list sets");
  }
  for (std::size_t i = 0; i < dump.so_far().sets.size(); ++i) {
    if (dump.so_far().sets[i].set.content == Set::Content::Remembered) continue;
    const std::string set = dump.so_far().sets[i].set.name;
    if (auto listed = list(NFT_MSG_GETSETELEM, NFTA_SET_ELEM_LIST_TABLE, set); !listed) {
      return fail(std::move(listed.error()), "list elements of " + set);
    }
  }
  const Result<std::uint32_t> after = generation();
  if (!after) return fail(after.error(), "dump");
  if (*after != *before) return fail(Errc::Expired, "somebody changed nf_tables meanwhile");
  return std::move(dump).finish(*after);
}

Result<std::optional<Ruleset>> NftablesSocket::dump(IpFamily family, std::string_view table) {
  for (int attempt = 1;; ++attempt) {
    Result<std::optional<Ruleset>> ruleset = dump_once(family, table);
    if (ruleset) return ruleset;
    // What vanished between two requests changed meanwhile, too.
    const bool changed =
        ruleset.error().code == Errc::Expired || ruleset.error().code == Errc::NotFound;
    if (!changed || attempt == kDumpAttempts) {
      if (changed) ruleset.error().code = Errc::Expired;
      return fail(std::move(ruleset.error()), doing("dump", family, table));
    }
  }
}

}  // namespace mkp::nft
