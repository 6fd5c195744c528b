// What elements start at does not depend on the order of statements.
#include <gtest/gtest.h>

#include "legality/legality.h"
#include "nest/text.h"
#include "support/brute_force.h"

namespace lathe::test {
namespace {

TEST(StartValues, AreThoseOfTheFirstStatementListed) {
  Context ctx;
  Nest nest = parse_nest(ctx, R"(nest mixed
tensor A: output f32[8]
tensor X: input f32[8]
statement S[i < 4]:
  A[i] += X[i]
statement T[j < 4]:
  A[j + 4] max= X[j]
)");
  Outputs wanted = outputs(nest);
  EXPECT_EQ(outputs(replay(nest, parse_recipe("interchange(i, j)"))), wanted);
  EXPECT_GE(*std::min_element(wanted["A"].begin(), wanted["A"].end()), -8);
}

}  // namespace
}  // namespace lathe::test
