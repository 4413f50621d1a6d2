#include <memory>
#include <vector>

#include "tests/fakes/fake_conntrack.h"
#include "tests/netlink/conntrack_contract.h"

namespace mkp {
namespace {

class FakeTable final : public ConntrackTable {
 public:
  Conntrack& conntrack() override { return fake_; }
  void add(const std::vector<UdpFlow>& flows) override {
    for (const UdpFlow& flow : flows) fake_.add(flow);
  }
  // The fake has room for UDP in zone 0 only.
  void add_tcp(const UdpFlow&) override {}
  void add_in_zone(const UdpFlow&, std::uint16_t) override {}
  void remove(const UdpFlow& flow) override { fake_.remove(flow); }
  void replace(const UdpFlow& flow) override {
    fake_.remove(flow);
    fake_.add(flow);
  }

 private:
  FakeConntrack fake_;
};

struct MakeFakeTable {
  static std::unique_ptr<ConntrackTable> make() { return std::make_unique<FakeTable>(); }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Fake, ConntrackContract, MakeFakeTable);

}  // namespace
}  // namespace mkp
