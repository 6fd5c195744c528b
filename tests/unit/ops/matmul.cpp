// Products of matrices (matmul, fully_connected) against direct sums.
#include <gtest/gtest.h>

#include "support/run_op.h"

namespace lathe::test {
namespace {

TEST(Matmul, EqualsDirectSums) {
  for (const std::string& text :
       cases("matmul", {"matmul(i=1, j=1, k=1)", "matmul(n=1, i=2, j=3, k=1)",
                        "matmul(n=5, i=1, j=7, k=11)", "matmul(i=13, j=1, k=17)"})) {
    SCOPED_TRACE(text);
    OpRun<long> run(text);
    Array<long> output = run.run().tensor("O");
    Array<long> a = run.tensor("A").raised_to(3), b = run.tensor("B").raised_to(3);
    Array<long> wanted({a.shape[0], value(text, "i", 0), value(text, "j", 0)});
    for (long n = 0; n < wanted.shape[0]; ++n) {
      for (long i = 0; i < wanted.shape[1]; ++i) {
        for (long j = 0; j < wanted.shape[2]; ++j) {
          for (long k = 0; k < value(text, "k", 0); ++k) {
            wanted({n, i, j}) += a({n, i, k}) * b({n, k, j});
          }
        }
      }
    }
    EXPECT_EQ(output.shape.size(), value(text, "n", 0) > 0 ? 3u : 2u);
    EXPECT_EQ(output.raised_to(3), wanted);
  }
}

TEST(FullyConnected, EqualsDirectSums) {
  for (const std::string& text :
       cases("fully_connected",
             {"fully_connected(co=1, ci=1, bias=1)", "fully_connected(n=1, co=9, ci=4, bias=1)",
              "fully_connected(n=4, co=3, ci=10)", "fully_connected(co=11, ci=1)"})) {
    SCOPED_TRACE(text);
    OpRun<long> run(text);
    Array<long> output = run.run().tensor("O");
    Array<long> weight = run.tensor("W"), input = run.tensor("I").raised_to(2);
    Array<long> wanted({input.shape[0], weight.shape[0]});
    for (long n = 0; n < wanted.shape[0]; ++n) {
      for (long co = 0; co < wanted.shape[1]; ++co) {
        wanted({n, co}) = value(text, "bias", 0) == 1 ? run.tensor("B")({co}) : 0;
        for (long ci = 0; ci < weight.shape[1]; ++ci) {
          wanted({n, co}) += weight({co, ci}) * input({n, ci});
        }
      }
    }
    EXPECT_EQ(output.shape.size(), value(text, "n", 0) > 0 ? 2u : 1u);
    EXPECT_EQ(output.raised_to(2), wanted);
  }
}

}  // namespace
}  // namespace lathe::test
