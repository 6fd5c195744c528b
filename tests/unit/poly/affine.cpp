// Quasi-affine functions: text, evaluation, simplification.
#include "poly/affine.h"

#include <gtest/gtest.h>

#include "poly/relation.h"

namespace lathe::poly {
namespace {

const std::vector<std::string> names{"i", "j"};

struct Parts {
  Context context;
  isl::space space = tuples(context, 2);
  isl::aff i = coordinate(space, 0), j = coordinate(space, 1);
};

TEST(Affine, PrintsSumsQuotientsAndRemainders) {
  Parts p;
  EXPECT_EQ(text(p.i.scale(32).add(p.j), names), "32*i + j");
  EXPECT_EQ(text(p.i.neg().add_constant(3), names), "-i + 3");
  EXPECT_EQ(text(quotient(p.i, 4), names), "i / 4");
  EXPECT_EQ(text(remainder(p.i, 4), names), "i % 4");
  EXPECT_EQ(text(quotient(p.i.add(p.j), 4).scale(3), names), "3*((i + j) / 4)");
  EXPECT_EQ(text(quotient(p.i, 4).scale(4).add(remainder(p.i, 4)), names), "i");
}

TEST(Affine, EvaluatesRoundingDown) {
  Parts p;
  long at[] = {-3, 5};
  EXPECT_EQ(evaluate(take_apart(quotient(p.i, 2)), at), -2);
  EXPECT_EQ(evaluate(take_apart(remainder(p.i, 2)), at), 1);
  EXPECT_EQ(evaluate(take_apart(p.i.scale(2).add(p.j)), at), -1);
}

TEST(Affine, SimplifiesFloorsThatAreConstant) {
  Parts p;
  isl::set set = box(p.context, {4, 16});
  isl::aff whole = p.i.scale(16).add(p.j);
  isl::multi_aff split = tuple(p.space, {quotient(whole, 16), remainder(whole, 16)});
  EXPECT_TRUE(simplified(split, set).plain_is_equal(identity(p.space)));
}

}  // namespace
}  // namespace lathe::poly
