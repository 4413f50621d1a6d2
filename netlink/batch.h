#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "netlink/attributes.h"
#include "netlink/messages.h"
#include "netlink/nftables.h"
#include "netlink/ruleset.h"

namespace mkp::nft {

// One nf_tables transaction as bytes: a begin message, the operations, an end message. The kernel
// takes all of it or none of it.
class Batch {
 public:
  // `generation`: what the kernel is to check, as in Nftables::commit. `first_sequence` is the
  // begin message's sequence number; the others count on from there.
  Batch(const Transaction& transaction, std::optional<std::uint32_t> generation,
        std::uint32_t first_sequence);

  // Operations that have no form as bytes: too long a name or comment, an expression that we do not
  // understand. When there are any, the batch must not be sent.
  const std::vector<Refusal>& unsendable() const { return unsendable_; }
  ByteSpan bytes() const { return bytes_; }
  std::uint32_t first_sequence() const { return first_sequence_; }
  std::uint32_t last_sequence() const { return next_sequence_ - 1; }
  // Messages that carry operations.
  std::size_t messages() const { return carried_.size(); }

  // Which operations the kernel's answer is about. Narrowed to one element when the kernel says
  // which one of a message it was. Nothing when it is about the batch as a whole.
  std::optional<Refusal> refusal_of(const NetlinkError& error) const;

 private:
  struct Carried {
    std::size_t first = 0;  // operations
    std::size_t last = 0;
    std::size_t offset = 0;  // of the message in bytes_
    bool elements = false;
  };
  class Builder;

  std::vector<std::uint8_t> bytes_;
  std::vector<Carried> carried_;  // by sequence number
  std::vector<Refusal> unsendable_;
  std::uint32_t first_sequence_;
  std::uint32_t next_sequence_;
};

}  // namespace mkp::nft
