#include "netlink/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include <cerrno>
#include <string>
#include <vector>

#include "tests/netlink/rule_samples.h"

namespace mkp::nft {
namespace {

using testing::ElementsAre;

Transaction transaction(std::vector<Operation> operations) {
  return {IpFamily::Ipv4, "t", std::move(operations)};
}

Transaction many_elements(std::uint32_t count) {
  Transaction many = transaction({});
  for (std::uint32_t i = 0; i < count; ++i) {
    many.operations.push_back({AddElement{"addresses", element(number(i))}});
  }
  return many;
}

std::vector<NetlinkMessage> messages_of(const Batch& batch) {
  std::vector<NetlinkMessage> messages;
  MessageReader reader(batch.bytes());
  while (const auto message = reader.next()) messages.push_back(*message);
  EXPECT_FALSE(reader.malformed());
  return messages;
}

std::string types_of(const Batch& batch) {
  std::string text;
  for (const NetlinkMessage& message : messages_of(batch)) {
    text += std::to_string(message.type & 0xff) + "@" + std::to_string(message.sequence) + " ";
  }
  return text;
}

TEST(BatchTest, LiesBetweenABeginAndAnEndMessage) {
  const Batch batch(transaction({{AddTable{}}, {AddChain{chain("a")}}}), std::nullopt, 100);
  EXPECT_EQ(types_of(batch), "16@100 0@101 3@102 17@103 ");
  EXPECT_EQ(batch.last_sequence(), 103U);
  EXPECT_EQ(batch.messages(), 2U);
}

TEST(BatchTest, BeginsWithTheGenerationItWasMadeAgainst) {
  const Batch batch(transaction({{AddTable{}}}), 0x01020304, 1);
  const ByteSpan begin = messages_of(batch).front().payload;
  const auto attributes = AttributeTable<NFNL_BATCH_MAX + 1>::read(begin.subspan(sizeof(nfgenmsg)));
  ASSERT_TRUE(attributes);
  EXPECT_EQ(read_be32(attributes->payload(NFNL_BATCH_GENID)), 0x01020304U);
}

TEST(BatchTest, AsksForNoGenerationWhenThereIsNone) {
  const Batch batch(transaction({{AddTable{}}}), std::nullopt, 1);
  EXPECT_EQ(messages_of(batch).front().payload.size(), sizeof(nfgenmsg));
}

TEST(BatchTest, PutsNeighbouringElementsOfASetIntoOneMessage) {
  const Element one = element(ipv4("10.0.0.1"));
  const Element two = element(ipv4("10.0.0.2"));
  const Batch batch(transaction({{AddElement{"addresses", one}},
                                 {AddElement{"addresses", two}},
                                 {AddElement{"others", one}},
                                 {DeleteElement{"others", one}},
                                 {DeleteElement{"others", two}},
                                 {AddChain{chain("a")}},
                                 {AddElement{"others", one}}}),
                    std::nullopt, 1);
  EXPECT_EQ(types_of(batch), "16@1 12@2 12@3 14@4 3@5 12@6 17@7 ");
  EXPECT_EQ(batch.refusal_of({2, ENOENT, {}}), (Refusal{0, 1, ENOENT}));
  EXPECT_EQ(batch.refusal_of({4, ENOENT, {}}), (Refusal{3, 4, ENOENT}));
  EXPECT_EQ(batch.refusal_of({5, EBUSY, {}}), (Refusal{5, 5, EBUSY}));
}

TEST(BatchTest, FillsMessagesUpToWhatAnAttributeCanHold) {
  constexpr std::uint32_t kElements = 10000;
  const Batch batch(many_elements(kElements), std::nullopt, 1);
  // 16 bytes an element, 4095 of them below 64 KiB.
  EXPECT_EQ(types_of(batch), "16@1 12@2 12@3 12@4 17@5 ");
  EXPECT_EQ(batch.refusal_of({2, EEXIST, {}}), (Refusal{0, 4094, EEXIST}));
  EXPECT_EQ(batch.refusal_of({3, EEXIST, {}}), (Refusal{4095, 8189, EEXIST}));
  EXPECT_EQ(batch.refusal_of({4, EEXIST, {}}), (Refusal{8190, 9999, EEXIST}));
}

TEST(BatchTest, NamesTheElementWhoseAttributeTheKernelPointsAt) {
  const Batch batch(many_elements(5), std::nullopt, 1);
  // Headers 20, the table's name 8, the set's 16, the list's own header 4, then 16 an element.
  EXPECT_EQ(batch.refusal_of({2, EEXIST, 48}), (Refusal{0, 0, EEXIST}));
  EXPECT_EQ(batch.refusal_of({2, EEXIST, 48 + 3 * 16}), (Refusal{3, 3, EEXIST}));
  EXPECT_EQ(batch.refusal_of({2, ENOENT, 28}), (Refusal{0, 4, ENOENT}));  // the set's name
}

TEST(BatchTest, KnowsAnAnswerAboutTheWholeOfIt) {
  const Batch batch(many_elements(5), std::nullopt, 7);
  EXPECT_EQ(batch.refusal_of({7, EPERM, {}}), std::nullopt);
  EXPECT_EQ(batch.refusal_of({6, EPERM, {}}), std::nullopt);
  EXPECT_EQ(batch.refusal_of({9, EPERM, {}}), std::nullopt);
}

TEST(BatchTest, CountsSequenceNumbersThroughZero) {
  const Batch batch(transaction({{AddTable{}}, {AddChain{chain("a")}}}), std::nullopt, 0xffffffff);
  EXPECT_EQ(batch.refusal_of({1, EEXIST, {}}), (Refusal{1, 1, EEXIST}));
}

TEST(BatchTest, TellsWhatHasNoFormAsBytes) {
  const std::string long_name(NFT_NAME_MAXLEN, 'x');
  const std::string comment(kMaxComment + 1, 'x');
  const Batch batch(
      transaction({{AddChain{chain(long_name)}},
                   {AddTable{}},
                   {AddElement{"addresses", element(ipv4("10.0.0.1"), {}, comment)}},
                   {AddElement{"verdicts", element(ipv4("10.0.0.1"), go_to(long_name))}},
                   {AddRule{"a", rule(UnknownExpression{"counter", {}})}},
                   {AddRule{"a", rule(goto_chain(long_name))}},
                   {AddRule{"a", rule(SetUpdate{long_name, 0, 1})}}}),
      std::nullopt, 1);
  EXPECT_THAT(
      batch.unsendable(),
      ElementsAre(Refusal{0, 0, ENAMETOOLONG}, Refusal{2, 2, EINVAL}, Refusal{3, 3, ENAMETOOLONG},
                  Refusal{4, 4, EINVAL}, Refusal{5, 5, ENAMETOOLONG}, Refusal{6, 6, ENAMETOOLONG}));
}

}  // namespace
}  // namespace mkp::nft
