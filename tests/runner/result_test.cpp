#include "runner/result.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace mkp {
namespace {

Result<int> failing() { return fail_errno(EPERM, "commit table mini-kube-proxy"); }

TEST(ResultTest, AnErrnoReadsOutsideInAndKeepsWhatACallerMayBranchOn) {
  const Result<int> result = failing();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(),
            (Error{Errc::Denied, "commit table mini-kube-proxy: Operation not permitted"}));
}

TEST(ResultTest, EachLayerAddsWhatItWasDoingInFront) {
  const Result<int> outer = fail(failing().error(), "sync IPv4");
  EXPECT_EQ(outer.error().what, "sync IPv4: commit table mini-kube-proxy: Operation not permitted");
}

}  // namespace
}  // namespace mkp
