#pragma once

#include <cstdio>  // libnftnl's header needs it first

#include <libnftnl/expr.h>

#include <memory>
#include <string_view>

#include "netlink/attributes.h"
#include "netlink/ruleset.h"
#include "runner/result.h"

namespace mkp::nft {

struct FreeExpression {
  void operator()(nftnl_expr* expression) const noexcept { nftnl_expr_free(expression); }
};
using ExpressionHandle = std::unique_ptr<nftnl_expr, FreeExpression>;

// For libnftnl to write into a rule. `family` is the table's: it chooses the ICMP of a Reject. An
// UnknownExpression is Errc::Invalid: we never write what we cannot read.
Result<ExpressionHandle> to_nftnl(const Expression& expression, IpFamily family);

// What the kernel says of an expression: its name, and NFTA_EXPR_DATA's payload. Exactly what
// to_nftnl() sends comes back as what it was; anything else is an UnknownExpression.
Expression parse_expression(std::string_view name, ByteSpan attributes, IpFamily family);

// Whether the kernel does nothing for an expression. nft 1.0.6 puts one before each lookup of a
// protocol among intervals: it asks for the two-byte words within one byte to be swapped, and there
// are none.
bool does_nothing(std::string_view name, ByteSpan attributes);

}  // namespace mkp::nft
