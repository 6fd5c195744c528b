// Operators that only move elements (concat, upsample).
#include <gtest/gtest.h>

#include "support/run_op.h"

namespace lathe::test {
namespace {

/// Calls "visit" with every index (n, c, h, w) of a shape.
template <class Visit>
void for_each_index(const std::vector<long>& shape, Visit visit) {
  for (long n = 0; n < shape[0]; ++n) {
    for (long c = 0; c < shape[1]; ++c) {
      for (long h = 0; h < shape[2]; ++h) {
        for (long w = 0; w < shape[3]; ++w) visit(n, c, h, w);
      }
    }
  }
}

TEST(Concat, PutsTheChannelsOneAfterTheOther) {
  for (const std::string& text :
       cases("concat", {"concat(c1=1, c2=1, h=1, w=1)", "concat(n=1, c1=2, c2=5, h=3, w=1)",
                        "concat(n=3, c1=7, c2=2, h=1, w=4)"})) {
    SCOPED_TRACE(text);
    OpRun<long> run(text);
    Array<long> output = run.run().tensor("O").raised_to(4);
    Array<long> a = run.tensor("A").raised_to(4), b = run.tensor("B").raised_to(4);
    EXPECT_EQ(output.shape[1], a.shape[1] + b.shape[1]);
    for_each_index(output.shape, [&](long n, long c, long h, long w) {
      long wanted = c < a.shape[1] ? a({n, c, h, w}) : b({n, c - a.shape[1], h, w});
      EXPECT_EQ(output({n, c, h, w}), wanted);
    });
  }
}

TEST(Upsample, TakesTheNearestElement) {
  for (const std::string& text : cases("upsample", {"upsample(c=1, h=1, w=1, factor=1)",
                                                    "upsample(n=1, c=3, h=5, w=2, factor=4)",
                                                    "upsample(c=2, h=3, w=7, factor=1)"})) {
    SCOPED_TRACE(text);
    OpRun<long> run(text);
    Array<long> output = run.run().tensor("O").raised_to(4), input = run.tensor("I").raised_to(4);
    long factor = value(text, "factor", 0);
    EXPECT_EQ(output.shape[2], input.shape[2] * factor);
    EXPECT_EQ(output.shape[3], input.shape[3] * factor);
    for_each_index(output.shape, [&](long n, long c, long h, long w) {
      EXPECT_EQ(output({n, c, h, w}), input({n, c, h / factor, w / factor}));
    });
  }
}

}  // namespace
}  // namespace lathe::test
