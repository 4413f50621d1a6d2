#include <gtest/gtest.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "netlink/attributes.h"
#include "netlink/netlink_socket.h"
#include "netlink/nft_text.h"
#include "netlink/set_shape.h"
#include "netlink/verdicts.h"
#include "tests/kernel/nft_program.h"
#include "tests/netlink/rule_samples.h"

namespace mkp::nft {
namespace {

// The shapes of all sets of a family, as the kernel tells them.
std::map<std::string, SetShape> shapes_in_kernel(IpFamily family) {
  Result<NetlinkSocket> socket = NetlinkSocket::open(NETLINK_NETFILTER);
  nlmsghdr header{};
  header.nlmsg_len = sizeof(nlmsghdr) + sizeof(nfgenmsg);
  header.nlmsg_type = (NFNL_SUBSYS_NFTABLES << 8) | NFT_MSG_GETSET;
  header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  header.nlmsg_seq = socket->take_sequence(1);
  nfgenmsg generic{};
  generic.nfgen_family = family_number(family);
  std::vector<std::uint8_t> request(header.nlmsg_len);
  store_host(request.data(), header);
  store_host(request.data() + sizeof(header), generic);

  std::map<std::string, SetShape> shapes;
  const auto take = [&](const NetlinkMessage& message) -> Result<> {
    const ByteSpan attributes = message.payload.subspan(sizeof(nfgenmsg));
    const auto set = AttributeTable<NFTA_SET_MAX + 1>::read(attributes);
    shapes[std::string(*read_name(set->payload(NFTA_SET_NAME)))] = parse_shape(attributes);
    return {};
  };
  EXPECT_TRUE(socket->request(request, header.nlmsg_seq, take));
  return shapes;
}

// Every kind of set that a layout may have: what nft itself makes of its declaration is what we
// send.
class TypeofUserdata : public testing::TestWithParam<IpFamily> {
 protected:
  TypeofUserdata() { enter_new_network_namespace(); }

  std::vector<Set> sets() const {
    const Field address = GetParam() == IpFamily::Ipv4 ? Field::Ipv4Address : Field::Ipv6Address;
    using Fields = std::vector<Field>;
    using Kind = Set::Kind;
    const Fields frontend{address, Field::InetProto, Field::InetService};
    const Fields frontend_and_source{address, Field::InetProto, Field::InetService, address};
    const Fields node_port{Field::InetProto, Field::InetService};
    const Fields target{address, Field::InetService};
    const Fields slots{address, Field::InetProto, Field::InetService, Field::Slot};
    const Fields node_port_slots{Field::InetProto, Field::InetService, Field::Slot};
    return {{"frontends", Kind::Set, frontend, {}},
            {"addresses", Kind::Set, {address}, {}},
            {"pairs", Kind::Set, {address, address}, {}},
            {"ports", Kind::Set, {Field::InetService}, {}},
            {"protocols", Kind::Set, {Field::InetProto}, {}},
            {"verdicts", Kind::VerdictMap, frontend, {}},
            {"node-port-verdicts", Kind::VerdictMap, node_port, {}},
            {"address-verdicts", Kind::VerdictMap, {address}, {}},
            {"slot-verdicts", Kind::VerdictMap, slots, {}},
            {"endpoints", Kind::DataMap, slots, target},
            {"node-port-endpoints", Kind::DataMap, node_port_slots, target},
            {"sources", Kind::Set, frontend_and_source, {}, Set::Content::Intervals},
            {"clients", Kind::Set, {address}, {}, Set::Content::Remembered},
            {"slots", Kind::DataMap, {Field::Slot}, {address}},
            {"targets", Kind::DataMap, target, target},
            {"addresses-of", Kind::DataMap, {address}, {address}}};
  }
};

TEST_P(TypeofUserdata, IsWhatNftItselfNotes) {
  OperationPrinter printer(GetParam(), "t");
  std::string script = "add " + printer.to_text({AddTable{}}) + "\n";
  for (const Set& set : sets()) script += "add " + printer.to_text({AddSet{set}}) + "\n";
  ASSERT_EQ(run_nft("-f -", script).output, "");

  std::map<std::string, SetShape> made_by_nft = shapes_in_kernel(GetParam());
  ASSERT_EQ(made_by_nft.size(), sets().size());
  for (const Set& set : sets()) {
    SetShape& theirs = made_by_nft[set.name];
    if (set.kind == Set::Kind::VerdictMap) theirs.data_size = 0;  // the kernel's own matter
    if (set.content == Set::Content::Remembered) {
      // nft says the limit beforehand, for which the kernel makes a megabyte of room.
      EXPECT_EQ(std::exchange(theirs.size, 0), Set::kMaxRemembered);
    }
    EXPECT_TRUE(theirs == shape_of(set)) << set.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, TypeofUserdata, testing::Values(IpFamily::Ipv4, IpFamily::Ipv6));

}  // namespace
}  // namespace mkp::nft
