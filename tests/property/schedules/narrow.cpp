// Layers of random sizes with narrow factors: what the templates write for this machine computes
// what the interpreter does, within the errors that their steps state, and these are not far above
// what is seen. Integers that a step makes are those of the interpreter.
#include <gtest/gtest.h>

#include <map>

#include "codegen/panels.h"
#include "compile/node.h"
#include "legality/legality.h"
#include "nest/starts.h"
#include "nest/text.h"
#include "ops/op.h"
#include "support/compiled.h"
#include "support/layouts.h"
#include "support/normal_data.h"

namespace lathe::test {
namespace {

/// Writes a layer; many have numbers of channels that suit vectors.
std::string draw_layer(Random& random) {
  auto channels = [&] {
    return random.chance(70) ? 8 * random.between(1, 6) : random.between(1, 40);
  };
  auto side = [&] { return random.between(4, 12); };
  long kernel = random.pick(std::vector<long>{1, 3, 3, 5}), pad = random.between(0, kernel / 2);
  switch (random.between(0, 5)) {
    case 0:
      return fmt::format("matmul(f32[{0}x{1}], weight f32[{1}x{2}])", random.between(1, 20),
                         channels() * random.between(1, 8), channels());
    case 1: {
      long c = channels();
      return fmt::format(
          "conv(f32[1x{0}x{1}x{2}], weight f32[{0}x1x{3}x{3}], groups={0}, pads=[{4}, {4}, {4}, "
          "{4}], strides=[{5}, {5}])",
          c, side() + 4, side() + 4, kernel + 1 - kernel % 2, pad, random.between(1, 2));
    }
    case 2: {
      long groups = random.pick(std::vector<long>{2, 4}), ci = channels(), co = channels();
      return fmt::format(
          "conv(f32[1x{0}x{1}x{2}], weight f32[{3}x{4}x{5}x{5}], groups={6}, pads=[{7}, {7}, {7}, "
          "{7}])",
          groups * ci, side() + 4, side() + 4, groups * co, ci, kernel, groups, pad);
    }
    default:
      return fmt::format(
          "conv(f32[1x{0}x{1}x{2}], weight f32[{3}x{0}x{4}x{4}], weight f32[{3}], pads=[{5}, {5}, "
          "{5}, {5}], strides=[{6}, {6}])",
          channels() * random.between(1, 4), side() + 4, side() + 4, channels(), kernel, pad,
          random.between(1, 2));
  }
}

/// Returns the errors that the steps of a recipe state, added up.
double errors_of(Nest nest, const Recipe& recipe) {
  double sum = 0;
  for (const Step& step : recipe) {
    Applied applied = apply(nest, step);
    sum += applied.error.value_or(0);
    nest = std::move(applied.nest);
  }
  return sum;
}

/// Returns the step that makes factors narrow.
Step narrowing(const std::string& type) { return {type == "int8" ? "quantize" : "cast", {type}}; }

/// Compiles a nest for this machine, with its channels in blocks of a random size.
NodeCode compiled(const Nest& nest, Random& random) {
  long block = random.pick(std::vector<long>{1, 8, 16});
  return lower_node(nest, blocked_layouts(nest, block), native_target());
}

/// How errors compare with their bounds.
struct Seen {
  long cases = 0;
  double largest = 0;  ///< as a part of the bound
};

/// Names what most layers of these factors are on this machine: sums in a matrix unit, if there is
/// one.
std::string products_of(Element factors) {
  bool panels = terms_of_panels(native_target(), factors, factors) > 0;
  return fmt::format("{} {}", name_of(factors), panels ? "panels" : "contraction");
}

constexpr long cases_together = 10, default_batches = 25;

bool is_whole() {
  return environment("LATHE_CASE", -1) < 0 &&
         environment("LATHE_CASES", default_batches) >= default_batches;
}

TEST(Narrow, ErrorsAreBelowWhatIsStatedAndNotFar) {
  std::map<std::string, Seen> seen;  // by type and template
  for_each_case(default_batches, [&](Case& trial) {
    Random& random = trial.random;
    Context ctx;
    Compilation compilation;
    std::vector<std::pair<std::string, double>> bounds;
    for (long i = 0; i < cases_together; ++i) {
      std::string text = draw_layer(random), element = random.pick({"f16", "f16", "bf16", "int8"});
      Nest wide = parse_op(ctx, text);
      Step step = narrowing(element);
      Applied narrow = apply(wide, step);
      NodeCode code = compiled(narrow.nest, random);
      CompiledCase c{code.tensors, code.layouts, code.repackings, code.kernels, {}, ""};
      c.story = fmt::format("{}\n{}\n{}: {}\n", text, print(step), code.schedule, code.recipe);
      c.wanted = reference_of_normal_data(wide, random);
      double error = *narrow.error + errors_of(with_starts(narrow.nest), parse_recipe(code.recipe));
      c.wanted.slack = error * root_mean_square(c.wanted.reals.at("O"));
      bounds.emplace_back(element + " " + code.schedule, c.wanted.slack);
      compilation.add(std::move(c));
    }
    compilation.run(random);
    for (size_t i = 0; i < compilation.errors().size(); ++i) {
      Seen& all = seen[bounds[i].first];
      ++all.cases;
      all.largest = std::max(all.largest, compilation.errors()[i] / bounds[i].second);
    }
  });
  for (const auto& [what, all] : seen) {
    std::cout << fmt::format("{}: {} cases, largest error {:.3f} of its bound\n", what, all.cases,
                             all.largest);
  }
  if (!is_whole() || testing::Test::HasFailure()) return;
  for (const std::string& what : {products_of(Element::f16), std::string("f16 window"),
                                  products_of(Element::bf16), std::string("int8 beforehand")}) {
    EXPECT_GE(seen[what].cases, 5) << what;
    EXPECT_GE(seen[what].largest, 0.1) << what;
  }
}

TEST(Narrow, IntegersAreThoseOfTheInterpreter) {
  std::map<std::string, long> seen;  // by template
  for_each_case(default_batches, [&](Case& trial) {
    Random& random = trial.random;
    Context ctx;
    Compilation compilation;
    for (long i = 0; i < cases_together; ++i) {
      std::string text = draw_layer(random);
      Nest nest = apply(parse_op(ctx, text), narrowing("int8")).nest;
      NodeCode code = compiled(nest, random);
      CompiledCase c{code.tensors, code.layouts, code.repackings, code.kernels, {}, ""};
      c.story = fmt::format("{}\nquantize(int8)\n{}: {}\n", text, code.schedule, code.recipe);
      c.wanted = reference_of_normal_data(nest, random);
      // One step of one factor is 127 times as much, and more than what an f32 rounds.
      c.wanted.slack = 1e-5 * root_mean_square(c.wanted.reals.at("O"));
      ++seen[code.schedule];
      compilation.add(std::move(c));
    }
    compilation.run(random);
  });
  if (!is_whole() || testing::Test::HasFailure()) return;
  EXPECT_GE(seen["beforehand"], 100);
}

}  // namespace
}  // namespace lathe::test
