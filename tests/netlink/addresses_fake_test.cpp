#include <memory>
#include <string_view>
#include <vector>

#include "tests/fakes/fake_addresses.h"
#include "tests/netlink/addresses_contract.h"

namespace mkp {
namespace {

class FakeAddressTable final : public AddressTable {
 public:
  Addresses& addresses() override { return fake_; }
  void add(std::string_view ip) override {
    held_.push_back(parse_ip_address(ip).value_or(IpAddress{}));
    fake_.set(held_);
  }
  void remove(std::string_view ip) override {
    std::erase(held_, parse_ip_address(ip).value_or(IpAddress{}));
    fake_.set(held_);
  }

 private:
  std::vector<IpAddress> held_;
  FakeAddresses fake_;
};

struct MakeFakeAddresses {
  static std::unique_ptr<AddressTable> make() { return std::make_unique<FakeAddressTable>(); }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Fake, AddressesContract, MakeFakeAddresses);

}  // namespace
}  // namespace mkp
