// Joining pieces of a set keeps its elements.
#include <gtest/gtest.h>

#include "poly/relation.h"

namespace lathe::poly {
namespace {

TEST(Coalesced, GainsNoElements) {
  Context ctx;
  isl::set set(ctx, "{ [x] : exists i : x = 3i and 0 <= i < 2 }");
  set = set.unite(isl::set(ctx, "{ [x] : 0 <= x <= 2 }"));
  set = set.unite(isl::set(ctx, "{ [x] : 0 <= x <= 1 }"));
  EXPECT_TRUE(coalesced(set).is_equal(set));
  EXPECT_EQ(count(set), 4);
}

TEST(Coalesced, SimplifiesNothingOnAnEmptySet) {
  Context ctx;
  isl::set none = box(ctx, {4}).subtract(box(ctx, {4}));
  isl::multi_aff half = tuple(none.space(), {quotient(coordinate(none.space(), 0), 2)});
  EXPECT_NO_THROW(simplified(half, none));
}

TEST(TakeApart, EqualFloorsAreWrittenTheSameWay) {
  Context ctx;
  isl::aff j = coordinate(tuples(ctx, 1), 0);
  std::vector<std::string> names{"j"};
  isl::aff nested = quotient(remainder(j, 3), 2);
  isl::aff flat = quotient(j.scale(2), 3).sub(quotient(j, 3).scale(2));
  isl::aff negative = j.add(quotient(j.neg(), 3)).sub(quotient(j, 3).scale(2));
  EXPECT_EQ(text(nested, names), text(flat, names));
  EXPECT_EQ(text(negative, names), text(flat, names));
  for (long x = -9; x < 9; ++x) {
    long wanted = ((x % 3 + 3) % 3) / 2;
    for (const isl::aff& a : {nested, flat, negative}) {
      EXPECT_EQ(evaluate(take_apart(a), std::vector<long>{x}), wanted);
    }
  }
}

}  // namespace
}  // namespace lathe::poly
