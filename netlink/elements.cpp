#include "netlink/elements.h"

#include <linux/netfilter/nf_tables.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string>
#include <utility>

#include "netlink/verdicts.h"

namespace mkp::nft {
namespace {

// The userdata is nft's: entries of one byte type, one byte length, the payload.
constexpr std::uint8_t kCommentEntry = 0;

void put_value(AttributeWriter& out, std::uint16_t type, const Bytes& value) {
  const std::size_t begin = out.open(type);
  out.put(NFTA_DATA_VALUE, value.span());
  out.close(begin);
}

void put_comment(AttributeWriter& out, const std::string& comment) {
  assert(comment.size() <= kMaxComment);
  std::array<std::uint8_t, 2 + kMaxComment + 1> userdata{};
  userdata[0] = kCommentEntry;
  userdata[1] = static_cast<std::uint8_t>(comment.size() + 1);
  std::copy(comment.begin(), comment.end(), userdata.begin() + 2);
  out.put(NFTA_SET_ELEM_USERDATA, ByteSpan(userdata).first(2 + comment.size() + 1));
}

std::string comment_of(ByteSpan userdata) {
  while (userdata.size() >= 2) {
    const std::size_t length = std::min<std::size_t>(userdata[1], userdata.size() - 2);
    const ByteSpan payload = userdata.subspan(2, length);
    if (userdata[0] == kCommentEntry) {
      return std::string(payload.begin(), std::ranges::find(payload, std::uint8_t{0}));
    }
    userdata = userdata.subspan(2 + length);
  }
  return {};
}

using DataTable = AttributeTable<NFTA_DATA_MAX + 1>;

bool is_value(const std::optional<DataTable>& data) {
  return data && data->has(NFTA_DATA_VALUE) &&
         data->payload(NFTA_DATA_VALUE).size() <= Bytes::kMaxSize;
}

}  // namespace

void put_element(AttributeWriter& out, const Element& element, ElementParts parts) {
  const std::size_t begin = out.open(NFTA_LIST_ELEM);
  put_value(out, NFTA_SET_ELEM_KEY, element.key);
  if (const auto* end = std::get_if<IntervalEnd>(&element.value)) {
    put_value(out, NFTA_SET_ELEM_KEY_END, end->key);
  }
  if (parts == ElementParts::All) {
    if (const auto* datum = std::get_if<Bytes>(&element.value)) {
      put_value(out, NFTA_SET_ELEM_DATA, *datum);
    } else if (const auto* verdict = std::get_if<Verdict>(&element.value)) {
      const std::size_t data = out.open(NFTA_SET_ELEM_DATA);
      put_verdict(out, *verdict);
      out.close(data);
    }
    if (!element.comment.empty()) put_comment(out, element.comment);
  }
  out.close(begin);
}

Result<std::optional<Element>> parse_element(ByteSpan attributes) {
  using Table = AttributeTable<NFTA_SET_ELEM_MAX + 1>;
  const std::optional<Table> table = Table::read(attributes);
  if (!table) return fail(Errc::Invalid, "a set element is malformed");
  for (const int unknown : {NFTA_SET_ELEM_FLAGS, NFTA_SET_ELEM_TIMEOUT, NFTA_SET_ELEM_EXPR,
                            NFTA_SET_ELEM_OBJREF, NFTA_SET_ELEM_EXPRESSIONS}) {
    if (table->has(static_cast<std::size_t>(unknown))) return std::optional<Element>();
  }
  const std::optional<DataTable> key = DataTable::read(table->payload(NFTA_SET_ELEM_KEY));
  if (!is_value(key)) return fail(Errc::Invalid, "the key of a set element is malformed");

  std::optional<Element> element(std::in_place);
  element->key = Bytes(key->payload(NFTA_DATA_VALUE));
  if (table->has(NFTA_SET_ELEM_KEY_END)) {
    const std::optional<DataTable> end = DataTable::read(table->payload(NFTA_SET_ELEM_KEY_END));
    if (!is_value(end)) return fail(Errc::Invalid, "the end of an interval is malformed");
    // Intervals of a map are nothing of ours.
    if (table->has(NFTA_SET_ELEM_DATA)) return std::optional<Element>();
    element->value = IntervalEnd{Bytes(end->payload(NFTA_DATA_VALUE))};
  }
  if (table->has(NFTA_SET_ELEM_DATA)) {
    const std::optional<DataTable> data = DataTable::read(table->payload(NFTA_SET_ELEM_DATA));
    if (is_value(data)) {
      element->value = Bytes(data->payload(NFTA_DATA_VALUE));
    } else if (data && data->has(NFTA_DATA_VERDICT)) {
      std::optional<Verdict> verdict = parse_verdict(data->payload(NFTA_DATA_VERDICT));
      if (!verdict) return std::optional<Element>();
      element->value = std::move(*verdict);
    } else {
      return fail(Errc::Invalid, "the data of a set element is malformed");
    }
  }
  if (table->has(NFTA_SET_ELEM_USERDATA)) {
    element->comment = comment_of(table->payload(NFTA_SET_ELEM_USERDATA));
  }
  return element;
}

}  // namespace mkp::nft
