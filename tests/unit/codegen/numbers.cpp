// The types in which statements compute, and the dot products among them.
#include "codegen/numbers.h"

#include <gtest/gtest.h>

#include "legality/legality.h"
#include "nest/starts.h"
#include "nest/text.h"
#include "support/random_nest.h"

namespace lathe::test {
namespace {

/// Writes a product of matrices of these types.
std::string product(const std::string& factors, const std::string& sums) {
  return fmt::format(
      "nest t\ntensor W: weight {0}[32, 16]\ntensor X: input {0}[16, 4]\n"
      "tensor S: local {1}[32, 4]\ntensor Y: output f32[32, 4]\n"
      "statement sum[i < 4, j < 32, k < 16]:\n  S[j, i] += W[j, k] * X[k, i]\n"
      "statement out[i < 4, j < 32]:\n  Y[j, i] = S[j, i] * 0.5\n",
      factors, sums);
}

TEST(Numbers, FollowFromWhatAStatementTouches) {
  struct {
    const char *factors, *sums, *target;
    Number sum, out;
  } table[] = {
      {"f32", "f32", "aarch64", Number::f32, Number::f32},
      {"f16", "f32", "aarch64+f16", Number::f32, Number::f32},
      {"f16", "f16", "aarch64+f16", Number::f16, Number::f32},
      {"f16", "f16", "aarch64", Number::f32, Number::f32},
      {"bf16", "bf16", "aarch64+f16", Number::f32, Number::f32},
      {"i8", "i32", "aarch64", Number::i32, Number::f32},
      {"i32", "i32", "aarch64", Number::i32, Number::f32},
      {"i32", "i64", "aarch64", Number::i64, Number::f64},
      {"f64", "f64", "aarch64", Number::f64, Number::f64},
  };
  for (const auto& [factors, sums, target, sum, out] : table) {
    Context ctx;
    Nest nest = parse_nest(ctx, product(factors, sums));
    Target machine = target_named(target);
    std::string what = fmt::format("{} {} {}", factors, sums, target);
    EXPECT_EQ(number_of(nest, nest.statements()[0], machine), sum) << what;
    EXPECT_EQ(number_of(nest, nest.statements()[1], machine), out) << what;
  }
}

/// Returns the code of a sum whose lanes are filters, with "terms" products for each.
std::string dots(const std::string& factors, const std::string& sums, long terms,
                 const std::string& target) {
  Context ctx;
  std::string recipe = fmt::format(
      "split(sum:k, {}) -> reorder(sum:i, sum:k.o, sum:j, sum:k.i) -> pack(W) -> "
      "vectorize(sum:j) -> vectorize(sum:k.i)",
      terms);
  Nest nest = replay(with_starts(parse_nest(ctx, product(factors, sums))), parse_recipe(recipe));
  std::vector<Layout> layouts;
  for (const Tensor& tensor : nest.tensors()) layouts.push_back(row_major_layout(tensor.shape));
  // A column of X lies side by side.
  layouts[1].axes[0].outer = 1;
  layouts[1].axes[1].outer = 16;
  std::string text;
  for (const Code& code : lower(scan(nest, layouts), target_named(target))) text += print(code);
  return text;
}

/// Returns the code of a sum whose loops are those of panels: 4 rows, so many columns of a sum, and
/// products for each.
std::string panels(const std::string& factors, const std::string& sums, long columns, long terms,
                   const std::string& target) {
  Context ctx;
  std::string recipe = fmt::format(
      "split(sum:k, {}) -> split(sum:j, {}) -> reorder(sum:j.o, sum:i, sum:k.o, sum:j.i, sum:k.i) "
      "-> pack(W) -> vectorize(sum:i) -> vectorize(sum:k.o) -> vectorize(sum:j.i) -> "
      "vectorize(sum:k.i)",
      terms, columns);
  Nest nest = replay(with_starts(parse_nest(ctx, product(factors, sums))), parse_recipe(recipe));
  std::vector<Layout> layouts;
  for (const Tensor& tensor : nest.tensors()) layouts.push_back(row_major_layout(tensor.shape));
  layouts[1].axes[0].outer = 1;  // a column of X lies side by side
  layouts[1].axes[1].outer = 16;
  layouts[2].axes[0].outer = 1;  // and one of S
  layouts[2].axes[1].outer = 32;
  std::string text;
  for (const Code& code : lower(scan(nest, layouts), target_named(target))) text += print(code);
  return text;
}

TEST(Panels, AreThereWhereTheTargetHasThem) {
  struct {
    const char *factors, *sums, *target;
    long columns, terms;
    bool wanted;
  } table[] = {
      {"i8", "i32", "x86-64-v4+dot+i8mm", 16, 4, true},
      {"u8", "i32", "x86-64-v4+dot+i8mm", 16, 4, true},
      {"i8", "i32", "x86-64-v4+dot+i8mm", 8, 4, true},
      {"bf16", "f32", "x86-64-v4+bf16+bf16mm", 16, 2, true},
      {"f16", "f32", "x86-64-v4+f16+f16mm", 8, 2, true},
      {"i8", "i32", "x86-64-v4+dot+i8mm", 16, 2, false},
      {"i8", "i32", "x86-64-v4+dot", 16, 4, false},
      {"i8", "i32", "aarch64+dot+i8mm", 16, 4, false},
      {"i8", "i64", "x86-64-v4+dot+i8mm", 16, 4, false},
      {"i16", "i32", "x86-64-v4+i8mm", 16, 2, false},
      {"f32", "f32", "x86-64-v4+bf16mm+f16mm", 16, 2, false},
      {"bf16", "f32", "x86-64-v4+bf16+bf16mm", 16, 4, false},
      {"bf16", "f32", "x86-64-v4+i8mm+f16mm", 16, 2, false},
      {"bf16", "bf16", "x86-64-v4+bf16+bf16mm", 16, 2, false},
      {"f16", "f32", "x86-64-v4+f16+bf16mm", 16, 2, false},
  };
  for (const auto& [factors, sums, target, columns, terms, wanted] : table) {
    std::string text = panels(factors, sums, columns, terms, target);
    EXPECT_EQ(text.find("panel v") != std::string::npos, wanted)
        << factors << " " << sums << " " << target << "\n"
        << text;
  }
}

TEST(Dots, AreThereWhereTheTargetHasThem) {
  struct {
    const char *factors, *sums, *target;
    long terms;
    bool wanted;
  } table[] = {
      {"i8", "i32", "aarch64+dot", 4, true},    {"u8", "i32", "aarch64+dot", 4, true},
      {"i8", "i32", "aarch64", 4, false},       {"i8", "i32", "aarch64+dot", 2, false},
      {"i8", "i64", "aarch64+dot", 4, false},   {"i8", "i32", "x86-64-v4+dot", 4, false},
      {"bf16", "f32", "aarch64+bf16", 2, true}, {"bf16", "f32", "x86-64-v4+bf16", 2, true},
      {"bf16", "f32", "aarch64+dot", 2, false}, {"f16", "f32", "aarch64+f16", 2, false},
  };
  for (const auto& [factors, sums, target, terms, wanted] : table) {
    std::string text = dots(factors, sums, terms, target);
    EXPECT_EQ(text.find("dot(") != std::string::npos, wanted)
        << factors << " " << sums << " " << target << "\n"
        << text;
  }
}

}  // namespace
}  // namespace lathe::test
