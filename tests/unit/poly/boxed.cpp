// Boxes, and what the rests of splits leave of them.
#include <gtest/gtest.h>

#include "poly/relation.h"

namespace lathe::poly {
namespace {

/// Returns { [o, i] -> factor*o + i }.
isl::multi_aff joined(isl::ctx ctx, long factor) {
  isl::space space = tuples(ctx, 2);
  return tuple(space, {coordinate(space, 0).scale(factor).add(coordinate(space, 1))});
}

TEST(Boxed, IsWhatIslFindsForEverySplit) {
  Context ctx;
  for (long extent = 1; extent <= 12; ++extent) {
    for (long factor = 1; factor <= 5; ++factor) {
      for (long outer = 1; outer <= 5; ++outer) {
        isl::set set = box(ctx, {extent}).preimage(joined(ctx, factor));
        set = set.intersect(box(ctx, {outer, factor}));
        isl::set found = boxed(set);
        EXPECT_TRUE(found.is_equal(set)) << extent << " " << factor << " " << outer;
        isl::set hull = box(ctx, {range(set, 0).size(), range(set, 1).size()});
        EXPECT_EQ(sides(found).has_value(), hull.is_equal(set))
            << extent << " " << factor << " " << outer;
      }
    }
  }
}

TEST(Boxed, CutsWithACoordinateInCommon) {
  // Neither cut alone shortens a side; together they leave a diagonal.
  Context ctx;
  isl::set set(ctx, "{ [x, y] : 0 <= x <= 3 and 0 <= y <= 3 and 3 <= x + y <= 3 }");
  EXPECT_TRUE(boxed(set).is_equal(set));
  set = isl::set(ctx, "{ [x, y] : 0 <= x <= 3 and 0 <= y <= 3 and x + y <= 3 and 2x + y <= 3 }");
  EXPECT_TRUE(boxed(set).is_equal(set));
}

TEST(MappedInto, KnowsQuotientsAndRemainders) {
  Context ctx;
  isl::set all = box(ctx, {128});
  isl::aff x = coordinate(all.space(), 0);
  isl::multi_aff digits = tuple(all.space(), {quotient(x, 16), remainder(x, 16)});
  EXPECT_TRUE(sides(mapped_into(all, digits, box(ctx, {8, 16}))));
  isl::set some = mapped_into(all, digits, box(ctx, {7, 15}));
  EXPECT_TRUE(some.is_equal(box(ctx, {7, 15}).preimage(digits).intersect(all)));
  EXPECT_FALSE(some.is_equal(all));
}

TEST(MappedInto, KnowsMultiplesOfRemainders) {
  Context ctx;
  isl::set all = box(ctx, {20, 3});
  isl::aff x = coordinate(all.space(), 0), y = coordinate(all.space(), 1);
  // 3*(x % 7) + y runs from 0 to 20.
  isl::multi_aff folded = tuple(all.space(), {remainder(x, 7).scale(3).add(y)});
  for (long extent : {19L, 20L, 21L, 22L}) {
    isl::set exact = box(ctx, {extent}).preimage(folded).intersect(all);
    EXPECT_TRUE(mapped_into(all, folded, box(ctx, {extent})).is_equal(exact)) << extent;
  }
}

}  // namespace
}  // namespace lathe::poly
