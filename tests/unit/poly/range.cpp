// Ranges of functions on sets: as the elements say, whichever way they are found.
#include <gtest/gtest.h>

#include <algorithm>

#include "poly/relation.h"
#include "support/random_case.h"

namespace lathe::poly {
namespace {

TEST(Range, CoordinatesThatEqualOthers) {
  Context context;
  isl::set pairs = box(context, {64, 9, 64, 9});
  auto at = [&](size_t i) { return coordinate(pairs.space(), i); };
  pairs = pairs.intersect(at(0).eq_set(at(2)));
  auto distance = [&](long block) { return quotient(at(2), block).sub(quotient(at(0), block)); };
  Interval same = range(pairs, distance(16)), other = range(pairs, at(3).sub(at(1)));
  EXPECT_EQ(same.lower, 0);
  EXPECT_EQ(same.upper, 0);
  EXPECT_EQ(constant_on(pairs, distance(16)), 0);
  EXPECT_EQ(constant_on(pairs, at(3).sub(at(1))), std::nullopt);
  EXPECT_TRUE(shows_zero(pairs, distance(16)));
  EXPECT_TRUE(shows_zero(box(context, {64, 9, 64, 9}), at(1).sub(at(1))));
  EXPECT_FALSE(shows_zero(pairs, at(3).sub(at(1))));
  EXPECT_FALSE(shows_zero(pairs, distance(16).add_constant(1)));
  EXPECT_EQ(other.lower, -8);
  EXPECT_EQ(other.upper, 8);
}

/// Draws a sum of coordinates, with a floor now and then.
isl::aff random_sum(test::Random& random, const isl::space& space) {
  isl::aff sum = constant(space, random.between(-3, 3));
  for (size_t i = 0; i < 4; ++i) {
    isl::aff term = coordinate(space, i);
    if (random.chance(30)) term = quotient(term, random.between(2, 4));
    sum = sum.add(term.scale(random.between(-2, 2)));
  }
  return sum;
}

/// Draws a box, cut by equalities and now and then by an inequality.
isl::set random_set(test::Random& random, isl::ctx context) {
  isl::set set = box(context, {random.between(1, 5), random.between(1, 5), random.between(1, 4),
                               random.between(1, 4)});
  auto at = [&](size_t i) { return coordinate(set.space(), i); };
  for (long n = random.between(0, 3); n > 0; --n) {
    size_t i = static_cast<size_t>(random.between(0, 3)), k = (i + 1) % 4;
    isl::aff value =
        at(k).scale(random.between(-1, 3)).add(constant(set.space(), random.between(-1, 2)));
    set = set.intersect(random.chance(80) ? at(i).eq_set(value) : at(i).ge_set(value));
  }
  return set;
}

TEST(Range, IsThatOfTheElements) {
  test::for_each_case(1000, [](test::Case& trial) {
    Context context;
    isl::set set = random_set(trial.random, context);
    if (set.is_empty()) return;
    isl::aff of = random_sum(trial.random, set.space());
    trial.story = text(of, std::vector<std::string>{"a", "b", "c", "d"}) + "\n";
    auto pieces = constraints(set);
    Affine function = take_apart(of);
    Interval wanted{1000, -1000};
    for (long x = 0; x < 5 * 5 * 4 * 4; ++x) {
      std::vector<long> element{x % 5, x / 5 % 5, x / 25 % 4, x / 100};
      if (!contains(pieces, element)) continue;
      long value = evaluate(function, element);
      wanted = {std::min(wanted.lower, value), std::max(wanted.upper, value)};
    }
    Interval found = range(set, of);
    EXPECT_EQ(found.lower, wanted.lower);
    EXPECT_EQ(found.upper, wanted.upper);
    std::optional<long> everywhere = constant_on(set, of);
    if (everywhere) {
      EXPECT_EQ(wanted.lower, *everywhere);
      EXPECT_EQ(wanted.upper, *everywhere);
    }
    if (shows_zero(set, of)) {
      EXPECT_LE(wanted.upper, 0);
      EXPECT_GE(wanted.lower, 0);
    }
  });
}

}  // namespace
}  // namespace lathe::poly
