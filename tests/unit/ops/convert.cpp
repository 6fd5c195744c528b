// Operators between element types: cast, quantize, dequantize.
#include "support/run_call.h"

namespace lathe::test {
namespace {

TEST(Cast, DropsFractionsAndFindsTruth) {
  lathe::Array x = reals({5}, {-2.7, -0.5, 0, 0.5, 3.9});
  expect_elements(CallRun("cast(f64[5], to=\"i32\")", {x}).outputs[0], {-2, 0, 0, 0, 3});
  expect_elements(CallRun("cast(f64[5], to=\"bool\")", {x}).outputs[0], {1, 1, 0, 1, 1});
  expect_elements(CallRun("cast(f64[5])", {x}).outputs[0], {-2.7, -0.5, 0, 0.5, 3.9}, 1e-6);
}

TEST(Cast, KeepsLongIntegers) {
  long large = (1L << 61) + 1;
  lathe::Array x = integers({1, 2}, {large, 300});
  EXPECT_EQ(CallRun("cast(i64[1x2], to=\"u64\")", {x}).outputs[0].integers()[0], large);
  expect_elements(CallRun("cast(i64[1x2], to=\"u8\")", {x}).outputs[0], {1, 44});
}

TEST(Cast, GoesBetweenAllNumericTypes) {
  for (Element from : all_elements()) {
    for (Element to : all_elements()) {
      if (from == Element::string || to == Element::string) continue;
      std::string text = fmt::format("cast({}[2x2], to=\"{}\")", name_of(from), name_of(to));
      SCOPED_TRACE(text);
      lathe::Array x = integers({2, 2}, {0, 1, 1, 0}, from);
      CallRun run(text, {x});
      EXPECT_EQ(run.outputs[0], x.with_element(to));
    }
  }
}

TEST(Cast, RefusesText) {
  expect_call_error("cast(f32[2], to=\"string\")", "cast: to=\"string\" must be one of: f16");
  expect_call_error("cast(f32[2], to=\"f8\")", "cast: to=\"f8\" must be one of: f16");
  expect_call_error("cast(string[2])", "cast: operand 0 is text");
}

TEST(Quantize, RoundsHalfToEvenAndSaturates) {
  lathe::Array x = reals({8}, {-1, 0, 0.25, 0.75, 1.25, 1.3, 200, 64});
  CallRun plain("quantize(f64[8], f64[])", {x, reals({}, {0.5})});
  expect_elements(plain.outputs[0], {0, 0, 0, 2, 2, 3, 255, 128});
  lathe::Array zero = integers({1}, {-100}, Element::i8);
  CallRun shifted("quantize(f64[8], f64[1], i8[1], to=\"i8\")", {x, reals({1}, {0.5}), zero});
  expect_elements(shifted.outputs[0], {-102, -100, -100, -98, -98, -97, 127, 28});
  lathe::Array wide = reals({2}, {-1e9, 1e9});
  expect_elements(CallRun("quantize(f64[2], f64[], to=\"u16\")", {wide, reals({}, {2})}).outputs[0],
                  {0, 65535});
  expect_elements(CallRun("quantize(f64[2], f64[], to=\"i16\")", {wide, reals({}, {2})}).outputs[0],
                  {-32768, 32767});
}

TEST(Quantize, HasAScaleForEachChannel) {
  lathe::Array x = reals({2, 2}, {1, 2, 3, 4}), scale = reals({2, 1}, {1, 0.5});
  lathe::Array zero = integers({2, 1}, {10, 20}, Element::u8);
  CallRun run("quantize(f64[2x2], f64[2x1], u8[2x1])", {x, scale, zero});
  expect_elements(run.outputs[0], {11, 12, 26, 28});
  CallRun back("dequantize(u8[2x2], f64[2x1], u8[2x1])", {run.outputs[0], scale, zero});
  expect_elements(back.outputs[0], {1, 2, 3, 4});
}

TEST(Dequantize, SubtractsTheZero) {
  lathe::Array x = integers({3}, {0, 128, 255}, Element::u8);
  CallRun run("dequantize(u8[3], f32[], u8[])",
              {x, lathe::Array::of_reals(Element::f32, {}, std::vector<double>{2}),
               integers({}, {128}, Element::u8)});
  EXPECT_EQ(run.outputs[0].element(), Element::f32);
  expect_elements(run.outputs[0], {-256, 0, 254});
  CallRun plain("dequantize(i32[1], f64[])", {integers({1}, {-7}, Element::i32), reals({}, {0.5})});
  expect_elements(plain.outputs[0], {-3.5});
}

TEST(Quantize, RefusesWhatMakesNoSense) {
  expect_call_error("quantize(f32[2], f32[], to=\"i32\")", "must be one of: u8 i8 u16 i16");
  expect_call_error("quantize(f32[2], f32[], i8[])",
                    "quantize: the zero is of the type i8, but to=\"u8\"");
  expect_call_error("quantize(f32[2], f32[2x2])", "operand 1, 2x2, does not broadcast to 2");
  expect_call_error("dequantize(f32[2], f32[])", "operand 0 must be of an integral type, not f32");
  expect_call_error("dequantize(u8[2], f32[], i8[])", "the types u8 and i8 do not go together");
}

}  // namespace
}  // namespace lathe::test
