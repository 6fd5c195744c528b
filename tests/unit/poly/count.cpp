// Counting: exact, against enumeration and against known numbers.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "poly/relation.h"

namespace lathe::poly {
namespace {

TEST(Count, BoxesAndTriangles) {
  Context context;
  isl::ctx ctx = context;
  EXPECT_EQ(count(box(ctx, {64, 64, 56, 56, 3, 3})), 115605504);
  EXPECT_EQ(count(isl::set(ctx, "{ [i, j] : 0 <= i < 4 and 0 <= j <= i }")), 10);
  EXPECT_EQ(count(isl::set(ctx, "{ [i] : 0 <= i < 10 and i mod 3 = 1 }")), 3);
  EXPECT_EQ(count(isl::set(ctx, "{ [i] : 0 <= i < 4; [i] : 2 <= i < 8 }")), 8);
  EXPECT_EQ(count(isl::set(ctx, "{ [i] : 1 = 0 }")), 0);
  EXPECT_EQ(
      count(isl::set(ctx, "{ [a, b, c] : 0 <= 16a + b < 50 and 0 <= b < 16 and 0 <= c < 1000 }")),
      50000);
}

TEST(Count, ImagesOfWindows) {
  Context context;
  isl::ctx ctx = context;
  isl::set layer = box(ctx, {2, 32, 32, 56, 56, 3, 3});
  isl::multi_aff weights(ctx, "{ [g,co,ci,oh,ow,kh,kw] -> [32g + co, 32g + ci, kh, kw] }");
  isl::multi_aff input(ctx, "{ [g,co,ci,oh,ow,kh,kw] -> [32g + ci, 2oh + kh, ow + kw] }");
  EXPECT_EQ(count_image(layer, weights), 2 * 32 * 32 * 9);
  EXPECT_EQ(count_image(layer, input), 64 * 113 * 58);
}

TEST(Count, UnionsOfImages) {
  Context context;
  isl::ctx ctx = context;
  isl::set half = box(ctx, {8});
  isl::multi_aff low(ctx, "{ [i] -> [i] }"), high(ctx, "{ [i] -> [i + 8] }"),
      across(ctx, "{ [i] -> [i + 4] }");
  EXPECT_EQ(count_union({{half, low}, {half, high}}), 16);
  EXPECT_EQ(count_union({{half, low}, {half, low}}), 8);
  EXPECT_EQ(count_union({{half, low}, {half, across}}), 12);
}

TEST(Count, StridesThatInterlockAreCountedTogether) {
  // 16 images take every 16th of 512 channels; one of all channels includes them.
  Context context;
  isl::ctx ctx = context;
  isl::set part = box(ctx, {32, 8, 8}), whole = box(ctx, {512, 8, 8});
  auto at = [&](long stride, long first) {
    return isl::multi_aff(ctx, "{ [c, h, w] -> [" + std::to_string(stride) + " c + " +
                                   std::to_string(first) + ", h, w] }");
  };
  std::vector<Image> images;
  for (long g = 0; g < 15; ++g) images.push_back({part, at(16, g)});
  EXPECT_EQ(count_union(images), 15 * 32 * 64);
  images.push_back({whole, at(1, 0)});
  EXPECT_EQ(count_union(images), 512 * 64);
  images.push_back({part, at(3, 500)});  // 500, 503, ...: four of 32 are below 512
  EXPECT_EQ(count_union(images), (512 + 28) * 64);
}

/// Counts the values of a linear function on a box by running through it.
size_t enumerate(const std::vector<long>& extents, const std::vector<std::vector<long>>& rows) {
  std::set<std::vector<long>> values;
  std::vector<long> x(extents.size(), 0);
  for (;;) {
    std::vector<long> value;
    for (const auto& row : rows) {
      long sum = 0;
      for (size_t i = 0; i < x.size(); ++i) sum += row[i] * x[i];
      value.push_back(sum);
    }
    values.insert(value);
    size_t i = 0;
    while (i < x.size() && ++x[i] == extents[i]) x[i++] = 0;
    if (i == x.size()) return values.size();
  }
}

TEST(Count, RandomLinearImagesAgreeWithEnumeration) {
  Context context;
  std::mt19937 random(7);
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<long> extents;
    for (size_t i = 0; i < 1 + random() % 4; ++i)
      extents.push_back(1 + static_cast<long>(random() % 5));
    isl::space space = tuples(context, extents.size());
    std::vector<std::vector<long>> rows(1 + random() % 3);
    std::vector<isl::aff> parts;
    for (auto& row : rows) {
      isl::aff sum = constant(space, 0);
      for (size_t i = 0; i < extents.size(); ++i) {
        row.push_back(static_cast<long>(random() % 9) - 3);
        sum = sum.add(coordinate(space, i).scale(row.back()));
      }
      parts.push_back(sum);
    }
    long counted = count_image(box(context, extents), tuple(space, parts));
    EXPECT_EQ(static_cast<size_t>(counted), enumerate(extents, rows)) << "trial " << trial;
  }
}

}  // namespace
}  // namespace lathe::poly
