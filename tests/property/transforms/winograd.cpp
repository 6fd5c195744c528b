// winograd(m) on random convolutions, plain or after other steps. Interpreted on integers, with the
// matrices scaled to integers, it is exact; compiled, its error is below the bound that it states,
// and the bound is not far above what is seen.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "legality/legality.h"
#include "nest/starts.h"
#include "nest/text.h"
#include "ops/op.h"
#include "support/compiled.h"
#include "support/layouts.h"
#include "support/normal_data.h"
#include "support/random_recipe.h"
#include "transforms/transform_toom.h"

namespace lathe::test {
namespace {

/// A convolution, and the outputs of a tile's row.
struct Drawn {
  long kh, kw, m;
  std::string text;
};

/// Draws a convolution of up to "channels" channels, of "least" by "least" outputs or more.
Drawn draw_convolution(Random& random, long channels, long least) {
  auto side = [&] { return random.chance(75) ? 3L : 5L; };
  long kh = side(), kw = random.chance(85) ? kh : side();
  bool narrow = kh == 3 && kw == 3;
  long m = random.pick(narrow ? std::vector<long>{2, 4, 6} : std::vector<long>{2, 4});
  long groups = random.pick(std::vector<long>{1, 1, 2, 4});
  long n = random.chance(80) ? 1 : 2, co = groups * random.between(1, 4);
  long ci = groups * random.between(1, std::max(1L, channels / groups));
  std::vector<long> pads, inputs;
  for (long k : {kh, kw, kh, kw}) pads.push_back(random.chance(40) ? 0 : random.between(0, k - 1));
  for (size_t i : {0u, 1u}) {
    long outputs = random.between(least, least + 9);
    inputs.push_back(std::max(1L, outputs + (i == 0 ? kh : kw) - 1 - pads[i] - pads[i + 2]));
  }
  std::string bias = random.chance(50) ? fmt::format("weight f32[{}], ", co) : "";
  return {kh, kw, m,
          fmt::format("conv(f32[{}x{}x{}x{}], weight f32[{}x{}x{}x{}], {}groups={}, pads=[{}])", n,
                      ci, inputs[0], inputs[1], co, ci / groups, kh, kw, bias, groups,
                      fmt::join(pads, ", "))};
}

/// Applies up to two steps that change the channels, the range or the order of the loops.
Nest prepared(Random& random, Nest nest, std::string& story) {
  for (long count = random.between(0, 2); count > 0; --count) {
    std::string name = random.pick({"group", "bottleneck", "split_range", "interchange", "reorder",
                                    "unroll", "split", "fuse", "merge"});
    std::vector<Step> seen = integer_candidates(find_transform(name), nest);
    if (seen.empty()) continue;
    Step step = random.pick(seen);
    Judged judged = try_step(nest, step);
    if (!judged.verdict.accepted()) continue;
    nest = judged.nest;
    story += print(step) + "\n";
  }
  return nest;
}

/// Applies winograd if it can be: the reason is told otherwise.
std::optional<Applied> rewritten(const Nest& nest, long m, std::string& story) {
  Step step{"winograd", {m}};
  story += print(step);
  try {
    Applied applied = apply(nest, step);
    story += "\n";
    return applied;
  } catch (const UserError& error) {
    story += fmt::format(": {}\n", error.what());
    return std::nullopt;
  }
}

/// Is a convolution left that was not rewritten?
bool has_direct_products(const Nest& nest) {
  auto is_read = [&](const Statement& s, Role role) {
    return std::any_of(s.reads.begin(), s.reads.end(), [&](const Access& read) {
      return nest.tensors()[read.tensor].role == role;
    });
  };
  return std::any_of(nest.statements().begin(), nest.statements().end(), [&](const Statement& s) {
    return is_read(s, Role::weight) && is_read(s, Role::input);
  });
}

/// Returns the least number that makes all values integers.
long scale_of(const std::vector<double>& values) {
  auto is_integral = [&](long scale) {
    return std::all_of(values.begin(), values.end(), [&](double x) {
      double scaled = x * static_cast<double>(scale);
      return std::abs(scaled - std::round(scaled)) < 1e-9;
    });
  };
  long scale = 1;
  while (!is_integral(scale)) ++scale;
  return scale;
}

/// Returns what the outputs are multiplied by if all matrices are scaled.
long scale_of(const Drawn& drawn) {
  long scale = 1;
  for (long window : {drawn.kh, drawn.kw}) {
    Toom t = toom(drawn.m, window);
    scale *= scale_of(t.A.values) * scale_of(t.B.values) * scale_of(t.G.values);
  }
  return scale;
}

/// Returns the nest with its constants scaled to integers.
Nest with_integers(const Nest& nest) {
  std::vector<Tensor> tensors = nest.tensors();
  for (Tensor& tensor : tensors) {
    auto scale = static_cast<double>(scale_of(tensor.values));
    for (double& x : tensor.values) x = std::round(x * scale);
  }
  auto meaning = std::make_shared<Meaning>(std::move(tensors), nest.statements(), nest.order);
  return {nest.name, std::move(meaning), nest.order};
}

/// Interprets a nest on integers; the bias is multiplied by "scale".
std::vector<long> outputs_of(const Nest& nest, long scale) {
  Buffers<long> buffers = make_buffers<long>(nest);
  fill_inputs(nest, buffers, 1);
  auto bias = find_tensor(nest, "B");
  if (bias && nest.tensors()[*bias].role == Role::weight) {
    for (long& x : buffers[*bias]) x *= scale;
  }
  interpret(nest, buffers);
  return buffers[find_tensor(nest, "O").value()];
}

TEST(Winograd, IsExactOnIntegers) {
  std::map<std::string, long> after;  // cases, by a step before
  long applied = 0;
  for_each_case(250, [&](Case& trial) {
    Random& random = trial.random;
    Context ctx;
    Drawn drawn = draw_convolution(random, 4, 1);
    trial.story = drawn.text + "\n";
    Nest nest = prepared(random, parse_op(ctx, drawn.text), trial.story);
    auto changed = rewritten(nest, drawn.m, trial.story);
    if (!changed || has_direct_products(changed->nest)) return;
    ++applied;
    for (const char* step : {"group(", "bottleneck(", "split_range(", "interchange(", "unroll("}) {
      after[step] += trial.story.find(step) == std::string::npos ? 0 : 1;
    }
    EXPECT_NO_THROW(verify(changed->nest.tensors(), changed->nest.statements()));
    std::vector<long> wanted = outputs_of(nest, 1);
    long scale = scale_of(drawn);
    for (long& x : wanted) x *= scale;
    EXPECT_EQ(outputs_of(with_integers(changed->nest), scale), wanted);
  });
  if (environment("LATHE_CASE", -1) >= 0 || environment("LATHE_CASES", 250) < 250) return;
  EXPECT_GE(applied, 150);
  for (const auto& [step, count] : after) EXPECT_GE(count, 5) << step;
}

TEST(Winograd, FollowsOtherSteps) {
  const Drawn drawn{3, 3, 4, "conv(co=8, ci=8, oh=8, ow=6, k=3, pad=1, bias=1)"};
  for (const char* recipe :
       {"split(oh, 2)", "split(ow, 4) -> interchange(co, ow.o)", "split(kh, 2)", "fuse(oh, ow)",
        "group(4)", "bottleneck(2)", "bottleneck(2, expand)", "bottleneck(2, repeat)",
        "interchange(co, ci) -> bottleneck(2)", "split_range(oh, 3)",
        "split(oh, 4) -> interchange(co, oh.o) -> group(2) -> interchange(ci, oh.i)",
        "split(oh, 4) -> interchange(co, oh.o) -> group(2) -> interchange(ci, oh.i) -> "
        "fuse(g, oh.i, oh)",
        "unroll(co, 4) -> group(2) -> interchange(co.1, ci)",
        "split_range(co, 1/2) -> group(2) -> interchange(conv.0:co.0, conv.1:co.1) -> group(4)"}) {
    SCOPED_TRACE(recipe);
    Context ctx;
    Nest nest = replay(parse_op(ctx, drawn.text), parse_recipe(recipe));
    Nest changed = apply(nest, {"winograd", {drawn.m}}).nest;
    EXPECT_FALSE(has_direct_products(changed));
    std::vector<long> wanted = outputs_of(nest, 1);
    for (long& x : wanted) x *= scale_of(drawn);
    EXPECT_EQ(outputs_of(with_integers(changed), scale_of(drawn)), wanted);
  }
}

/// Returns the code of the rewritten nest as it stands, or what a template makes of the nest.
CompiledCase lowered(Random& random, const Nest& nest, const Nest& changed, long m,
                     std::string& story) {
  std::vector<Layout> layouts = blocked_layouts(nest, random.pick(std::vector<long>{4, 8, 16}));
  Choice choice{"winograd", {{"outputs", m}}};
  if (random.chance(70)) {
    NodeCode code = lower_node(nest, layouts, native_target(), Listing::none, Unset::zero, choice);
    story += code.recipe + "\n";
    if (code.as_chosen) {
      return {code.tensors, code.layouts, code.repackings, code.kernels, {}, "template"};
    }
  }
  Nest started = with_starts(changed);
  story += "as it is\n";
  LoopTree tree = scan(started, row_major_layouts(started));
  return {started.tensors(), tree.layouts, {}, lower(tree, native_target()), {}, ""};
}

/// How errors compare with their bounds.
struct Errors {
  long cases = 0;
  double largest = 0;  ///< as a part of the bound
};

constexpr long cases_together = 10, default_batches = 10;

TEST(Winograd, ErrorsAreBelowTheBoundAndNotFar) {
  std::map<long, Errors> errors;  // by outputs of a tile's row
  long of_templates = 0;
  for_each_case(default_batches, [&](Case& trial) {
    Random& random = trial.random;
    Context ctx;
    Compilation compilation;
    std::vector<std::pair<long, double>> bounds;
    for (long i = 0; i < cases_together; ++i) {
      Drawn drawn = draw_convolution(random, random.chance(90) ? 8 : 48, 8);
      std::string story = drawn.text + "\n";
      Nest nest = prepared(random, parse_op(ctx, drawn.text), story);
      auto changed = rewritten(nest, drawn.m, story);
      if (!changed) continue;
      CompiledCase c = lowered(random, nest, changed->nest, drawn.m, story);
      c.wanted = reference_of_normal_data(nest, random);
      c.wanted.slack = *changed->error * root_mean_square(c.wanted.reals.at("O"));
      if (c.story == "template") ++of_templates;
      c.story = story;
      bounds.emplace_back(drawn.m, c.wanted.slack);
      compilation.add(std::move(c));
    }
    compilation.run(random);
    for (size_t i = 0; i < compilation.errors().size(); ++i) {
      Errors& all = errors[bounds[i].first];
      ++all.cases;
      all.largest = std::max(all.largest, compilation.errors()[i] / bounds[i].second);
    }
  });
  for (const auto& [m, all] : errors) {
    std::cout << fmt::format("winograd({}): {} cases, largest error {:.3f} of its bound\n", m,
                             all.cases, all.largest);
  }
  bool whole = environment("LATHE_CASE", -1) < 0 &&
               environment("LATHE_CASES", default_batches) >= default_batches;
  std::cout << fmt::format("{} cases with recipes of templates\n", of_templates);
  if (!whole || testing::Test::HasFailure()) return;
  EXPECT_GE(of_templates, 5);
  for (long m : {2L, 4L, 6L}) {
    EXPECT_GE(errors[m].cases, 10) << m;
    EXPECT_GE(errors[m].largest, 0.1) << m;
  }
}

}  // namespace
}  // namespace lathe::test
