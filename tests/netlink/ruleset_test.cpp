#include "netlink/ruleset.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace mkp::nft {
namespace {

const std::array<std::uint8_t, 1> kOne{6};
const std::array<std::uint8_t, 2> kTwo{0, 80};

TEST(BytesTest, PadsTheFieldsOfAConcatenation) {
  Bytes key;
  key.append_field(kOne);
  key.append_field(kTwo);
  EXPECT_EQ(std::vector<std::uint8_t>(key.span().begin(), key.span().end()),
            (std::vector<std::uint8_t>{6, 0, 0, 0, 0, 80, 0, 0}));
}

TEST(BytesTest, IsEqualOnlyToTheSameBytesInTheSameNumber) {
  const std::array<std::uint8_t, 3> longer{0, 80, 0};
  EXPECT_EQ(Bytes(kTwo), Bytes(kTwo));
  EXPECT_NE(Bytes(kTwo), Bytes(longer));
}

TEST(BytesTest, IsOrderedByteByByte) {
  const std::array<std::uint8_t, 2> high{200, 0};
  EXPECT_LT(Bytes(kTwo), Bytes(kOne));
  EXPECT_LT(Bytes(kOne), Bytes(high));
  EXPECT_LT(Bytes{}, Bytes(kTwo));
}

}  // namespace
}  // namespace mkp::nft
