// Arrays: conversions between element types, and the random numbers that must agree everywhere.
#include "base/array.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"

namespace lathe::test {
namespace {

double through(Element element, double value) {
  std::vector<double> list{value};
  return Array::of_reals(element, {}, list).real();
}

TEST(Array, RoundsToHalfPrecision) {
  EXPECT_EQ(through(Element::f16, 0), 0);
  EXPECT_EQ(through(Element::f16, 1), 1);
  EXPECT_EQ(through(Element::f16, -0.1), -0.0999755859375);
  EXPECT_EQ(through(Element::f16, 65504), 65504);
  EXPECT_EQ(through(Element::f16, 65519), 65504);
  EXPECT_EQ(through(Element::f16, 65520), std::numeric_limits<double>::infinity());
  EXPECT_EQ(through(Element::f16, 0x1p-24), 0x1p-24);
  EXPECT_EQ(through(Element::f16, 0x1p-26), 0);
  EXPECT_EQ(through(Element::f16, 2047.5), 2048);  // half to even, into the next power of two
  // Ten binary places, half to even, and the range of f32.
  EXPECT_EQ(through(Element::tf32, 1.0 + 0x1p-11), 1);
  EXPECT_EQ(through(Element::tf32, 1.0 + 3 * 0x1p-11), 1.0 + 0x1p-9);
  EXPECT_EQ(through(Element::tf32, -0.1), -0.0999755859375);
  EXPECT_EQ(through(Element::tf32, 1e30), 0x1.94p+99);
  EXPECT_TRUE(std::isnan(through(Element::tf32, std::nan(""))));
  EXPECT_TRUE(std::isnan(through(Element::f16, std::nan(""))));
  for (int bits = 0; bits < 1 << 16; ++bits) {
    auto half = static_cast<uint16_t>(bits);
    double value = from_f16(half);
    if (std::isnan(value)) continue;
    ASSERT_EQ(to_f16(value), half) << bits;
  }
}

TEST(Array, RoundsToBrainPrecision) {
  EXPECT_EQ(through(Element::bf16, 1.00390625), 1);  // half to even
  EXPECT_EQ(through(Element::bf16, 1.01171875), 1.015625);
  EXPECT_EQ(through(Element::bf16, -3.5), -3.5);
  EXPECT_TRUE(std::isnan(through(Element::bf16, std::nan(""))));
}

TEST(Array, TruncatesToIntegers) {
  EXPECT_EQ(through(Element::i32, -2.9), -2);
  EXPECT_EQ(through(Element::u8, 300), 300 - 256);
  EXPECT_EQ(through(Element::boolean, 0.1), 1);
  EXPECT_EQ(through(Element::i64, std::nan("")), 0);
}

TEST(Array, KnowsItsLimits) {
  EXPECT_THROW(count_of({-1, 2}), UserError);
  EXPECT_THROW(count_of({1L << 40, 1L << 40}), UserError);
  EXPECT_EQ(count_of({0, 1L << 40}), 0);
  EXPECT_EQ(count_of({}), 1);
  EXPECT_EQ(print_shape({}), "scalar");
}

TEST(Array, SharesItsDataAndComparesThem) {
  Array a = Array::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  Array b = a.with_shape({3, 2});
  EXPECT_EQ(a.bytes().data(), b.bytes().data());
  EXPECT_FALSE(a == b);
  EXPECT_TRUE(a == b.with_shape({2, 3}));
  EXPECT_EQ(a.with_element(Element::i64).integers(), (std::vector<long>{1, 2, 3, 4, 5, 6}));
}

TEST(Random, IsTheSameOnEveryMachine) {
  Random random(1, "layer.weight");
  EXPECT_EQ(random.bits(), 8444364343831882098ULL);
  EXPECT_EQ(random.normal(), 0.70235608213188827);
}

TEST(Random, IsNormal) {
  Random random(3);
  double sum = 0, squares = 0, fourths = 0;
  constexpr int count = 200000;
  for (int i = 0; i < count; ++i) {
    double x = random.normal();
    sum += x;
    squares += x * x;
    fourths += x * x * x * x;
  }
  EXPECT_NEAR(sum / count, 0, 0.01);
  EXPECT_NEAR(squares / count, 1, 0.02);
  EXPECT_NEAR(fourths / count, 3, 0.1);
}

}  // namespace
}  // namespace lathe::test
