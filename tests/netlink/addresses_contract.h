#pragma once

#include <gtest/gtest.h>

#include <boost/asio.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "netlink/addresses.h"

namespace mkp {

// A network namespace of its own without addresses, and how it gets some.
class AddressTable {
 public:
  virtual ~AddressTable() = default;
  virtual Addresses& addresses() = 0;
  virtual void add(std::string_view ip) = 0;
  virtual void remove(std::string_view ip) = 0;
};

// What a list of addresses promises, whoever keeps it. `Maker` has a static
// `std::unique_ptr<AddressTable> make()`.
template <class Maker>
class AddressesContract : public testing::Test {
 protected:
  // "10.0.0.1 fd00::1"
  std::string listed() {
    const Result<std::vector<IpAddress>> listed = table_->addresses().list();
    if (!listed) return "failed: " + listed.error().what;
    std::string text;
    for (const IpAddress& ip : *listed) text += (text.empty() ? "" : " ") + to_text(ip);
    return text;
  }
  void watch() {
    told_ = false;
    asio::co_spawn(
        loop_, table_->addresses().changed(),
        [this](const std::exception_ptr&, const Result<>& result) { told_ = result.has_value(); });
  }
  // Whether the watch has ended by now.
  bool told() {
    loop_.restart();
    loop_.poll();
    return told_;
  }

  std::unique_ptr<AddressTable> table_ = Maker::make();
  bool told_ = false;
  asio::io_context loop_;
};

TYPED_TEST_SUITE_P(AddressesContract);

TYPED_TEST_P(AddressesContract, ListsBothFamiliesSorted) {
  EXPECT_EQ(this->listed(), "");
  this->table_->add("fd20::11");
  this->table_->add("192.168.0.2");
  this->table_->add("127.0.0.1");
  EXPECT_EQ(this->listed(), "127.0.0.1 192.168.0.2 fd20::11");
}

TYPED_TEST_P(AddressesContract, TellsThatAnAddressWasAdded) {
  EXPECT_EQ(this->listed(), "");
  this->watch();
  EXPECT_FALSE(this->told());
  this->table_->add("192.168.0.2");
  EXPECT_TRUE(this->told());
  EXPECT_EQ(this->listed(), "192.168.0.2");
}

TYPED_TEST_P(AddressesContract, TellsThatAnAddressWasRemoved) {
  this->table_->add("192.168.0.2");
  this->table_->add("fd20::11");
  EXPECT_EQ(this->listed(), "192.168.0.2 fd20::11");
  this->watch();
  EXPECT_FALSE(this->told());
  this->table_->remove("fd20::11");
  EXPECT_TRUE(this->told());
  EXPECT_EQ(this->listed(), "192.168.0.2");
}

TYPED_TEST_P(AddressesContract, TellsOfWhatHappenedBeforeItWasWatched) {
  EXPECT_EQ(this->listed(), "");
  this->table_->add("192.168.0.2");
  this->watch();
  EXPECT_TRUE(this->told());
}

TYPED_TEST_P(AddressesContract, GoesOnTellingUntilItIsListed) {
  this->table_->add("192.168.0.2");
  this->watch();
  EXPECT_TRUE(this->told());
  this->watch();
  EXPECT_TRUE(this->told());
  EXPECT_EQ(this->listed(), "192.168.0.2");
  this->watch();
  EXPECT_FALSE(this->told());
}

REGISTER_TYPED_TEST_SUITE_P(AddressesContract, ListsBothFamiliesSorted, TellsThatAnAddressWasAdded,
                            TellsThatAnAddressWasRemoved, TellsOfWhatHappenedBeforeItWasWatched,
                            GoesOnTellingUntilItIsListed);

}  // namespace mkp
