// Random nests after random recipes, with their tensors laid out at random, as machine code: the
// kernels compute what the interpreter does, from any parts of their parallel loops in any order,
// and write nothing else.
#include <gtest/gtest.h>

#include "nest/starts.h"
#include "nest/wide_sums.h"
#include "support/code_features.h"
#include "support/compiled.h"
#include "support/random_recipe.h"

namespace lathe::test {
namespace {

/// Returns the examples of all operators that have nests to interpret.
std::vector<std::string> all_examples() {
  std::vector<std::string> result;
  Context ctx;
  for (const Op& op : operators()) {
    for (const std::string& example : op.examples) {
      try {
        interpreted(parse_op(ctx, example));
        result.push_back(example);
      } catch (const UserError&) {
        continue;  // it runs without a nest, or is not for reals
      }
    }
  }
  return result;
}

/// Writes an operator with loops long enough to be split into vectors and tiles.
std::string random_layer(Random& random) {
  auto size = [&](long least, long most) { return random.between(least, most); };
  switch (random.between(0, 6)) {
    case 0:
      return fmt::format("matmul(i={}, j={}, k={})", size(1, 20), size(1, 20), size(1, 12));
    case 1:
      return fmt::format("depthwise(c={}, oh={}, ow={}, k=3, pad=1, stride={}, bias={})",
                         size(1, 20), size(2, 6), size(2, 9), size(1, 2), size(0, 1));
    case 2:
      return fmt::format("max_pool(c={}, oh={}, ow={}, k={}, stride={})", size(1, 20), size(1, 5),
                         size(1, 9), size(1, 3), size(1, 2));
    case 3:
      return fmt::format("softmax(f32[{}x{}], axis={})", size(1, 9), size(1, 40), size(0, 1));
    case 4:
      return fmt::format(
          "fused(f32[1x{0}x{2}x5], weight f32[{1}x{0}x3x3], weight f32[{1}], "
          "f32[1x{1}x{2}x5], calls=[\"conv(%0, %1, %2, pads=[1, 1, 1, 1])\", "
          "\"add(#0, %3)\", \"relu(#1)\"])",
          size(1, 8), size(1, 20), size(2, 5));
    default: {
      long groups = random.pick(std::vector<long>{1, 1, 1, 2, 4});
      return fmt::format(
          "conv(co={}, ci={}, oh={}, ow={}, k={}, pad={}, stride={}, groups={}, bias={})",
          groups * size(1, 9), groups * size(1, 5), size(2, 4), size(2, 9), size(2, 3), size(0, 1),
          size(1, 2), groups, size(0, 1));
    }
  }
}

/// Returns a call with its reals, or all its numbers, of another type.
std::string with_elements(Random& random, std::string text) {
  std::string to = random.pick({"f64", "i32", "i64", "u8", "i8", "f16", "bf16", "bool"});
  for (size_t at = 0; (at = text.find("f32[", at)) != std::string::npos; at += to.size()) {
    text.replace(at, 3, to);
  }
  return text;
}

/// Which of its locals does a nest read before it sets them? Only the interpreter's are 0 then: the
/// nest is taken with outputs instead.
std::string with_set_locals(isl::ctx ctx, const std::string& text) {
  if (text.find(": local") == std::string::npos) return text;
  Nest nest = parse_nest(ctx, text);
  std::string result = text;
  for (size_t t = 0; t < nest.tensors().size(); ++t) {
    const Tensor& tensor = nest.tensors()[t];
    if (tensor.role != Role::local) continue;
    auto writes = [&](const Statement& s) { return s.write.tensor == t; };
    auto first = std::find_if(nest.statements().begin(), nest.statements().end(), writes);
    if (first != nest.statements().end() && first->update != Update::assign) continue;
    size_t at = result.find("tensor " + tensor.name + ": local");
    result.replace(result.find("local", at), 5, "output");
  }
  return result;
}

/// Draws a nest: any, or an operator, maybe of another element type.
Nest draw_nest(Random& random, isl::ctx ctx, const std::vector<std::string>& examples,
               std::string& story) {
  long kind = random.between(0, 9);
  std::string text = kind < 3   ? with_set_locals(ctx, random_nest(random))
                     : kind < 6 ? random.pick(examples)
                                : random_layer(random);
  if (text.find("f32[") != std::string::npos && !text.starts_with("nest") && random.chance(40)) {
    std::string other = with_elements(random, text);
    try {
      Nest nest = parse_op(ctx, other);
      interpreted(nest);  // some functions are of reals only
      story += other + "\n";
      return nest;
    } catch (const UserError&) {
      // The operator is not for this type.
    }
  }
  story += text + "\n";
  return load(ctx, text);
}

/// Applies up to "count" random steps of one kind that are accepted, without those that no CPU has:
/// blocks and threads.
Nest walked(Random& random, Nest nest, Transform::Kind kind, long count, std::string& story) {
  std::vector<const Transform*> transforms;
  for (const Transform& t : transforms::all()) {
    if (t.kind == kind) transforms.push_back(&t);
  }
  for (; count > 0; --count) {
    const Transform& t = *random.pick(transforms);
    std::vector<Step> seen = integer_candidates(t, nest);
    bool draw = seen.empty() || random.chance(30);
    Step step = draw ? random_arguments(random, nest, t) : random.pick(seen);
    try {
      Judged judged = try_step(nest, step);
      if (!judged.verdict.accepted() || t.name == "bind") continue;
      nest = judged.nest;
      story += (story.ends_with("\n") ? "" : " -> ") + print(step);
    } catch (const UserError&) {
      continue;
    }
  }
  if (!story.ends_with("\n")) story += "\n";
  return nest;
}

/// Lets a nest multiply integers, where it adds products of real numbers. Not numbers that it has
/// computed: where these lie between two integers, the last bit decides which is taken.
Nest quantised(const Nest& nest, std::string& story) {
  for (const Statement& s : nest.statements()) {
    for (const Access& read : s.reads) {
      if (nest.tensors()[read.tensor].role == Role::local) return nest;
    }
  }
  Step step{"quantize", {std::string("int8")}};
  try {
    Nest result = apply(nest, step).nest;
    story += print(step) + "\n";
    return result;
  } catch (const UserError&) {
    return nest;
  }
}

/// Marks a loop at the end, where a random recipe seldom does.
Nest with_mark(Random& random, const Nest& nest, const std::string& mark, std::string& story) {
  std::vector<Step> seen = find_transform(mark).candidates(nest);
  if (seen.empty()) return nest;
  Step step = mark == "parallel" ? seen.front() : random.pick(seen);
  Judged judged = try_step(nest, step);
  if (!judged.verdict.accepted()) return nest;
  story += print(step) + "\n";
  return judged.nest;
}

std::string print_layouts(const Nest& nest, const std::vector<Layout>& layouts) {
  std::string text;
  for (size_t t = 0; t < layouts.size(); ++t) {
    text += fmt::format("{}: {} of {} elements", nest.tensors()[t].name, layouts[t].origin,
                        layouts[t].size);
    for (const Layout::Axis& axis : layouts[t].axes) {
      text += fmt::format(", {}/{}/{}", axis.block, axis.outer, axis.inner);
    }
    text += "\n";
  }
  return text;
}

/// Which outputs does a nest read, maybe before it sets them? They start at 0, as the
/// interpreter's.
std::vector<bool> read_outputs(const Nest& nest) {
  std::vector<bool> result(nest.tensors().size(), false);
  for (const Statement& s : nest.statements()) {
    for (const Access& read : s.reads) {
      auto first =
          std::find_if(nest.statements().begin(), nest.statements().end(),
                       [&](const Statement& writer) { return writer.write.tensor == read.tensor; });
      bool assigned = first != nest.statements().end() && first->update == Update::assign;
      if (assigned && nest.tensors()[read.tensor].role == Role::output) result[read.tensor] = true;
    }
  }
  return result;
}

/// Draws a case and lowers it.
CompiledCase draw_case(Random& random, isl::ctx ctx, const std::vector<std::string>& examples,
                       Features& features) {
  CompiledCase c;
  Nest nest = draw_nest(random, ctx, examples, c.story);
  if (random.chance(20)) nest = walked(random, nest, Transform::Kind::neural, 2, c.story);
  if (random.chance(10)) nest = quantised(nest, c.story);
  c.wanted = interpreted(nest, static_cast<unsigned>(random.between(1, 1000)));
  c.zeroed = read_outputs(nest);
  nest = with_wide_sums(nest);  // as units have it: narrow sums would be rounded on the way
  bool started = random.chance(70);
  if (started) nest = with_starts(nest);
  nest = walked(random, nest, Transform::Kind::program, random.between(0, 8), c.story);
  if (random.chance(30)) nest = with_mark(random, nest, "parallel", c.story);
  if (random.chance(20)) nest = with_mark(random, nest, "vectorize", c.story);
  if (!started) nest = with_starts(nest);
  for (const Tensor& tensor : nest.tensors()) {
    // Constants are part of the code: they lie as they are listed.
    c.layouts.push_back(tensor.role == Role::constant ? row_major_layout(tensor.shape)
                                                      : random_layout(random, tensor.shape));
  }
  c.tensors = nest.tensors();
  c.zeroed.resize(c.tensors.size(), false);
  for (size_t t = 0; t < c.tensors.size(); ++t) {
    bool written = std::any_of(nest.statements().begin(), nest.statements().end(),
                               [&](const Statement& s) { return s.write.tensor == t; });
    if (!written) c.tensors[t].role = Role::input;  // it is given, whatever it says
  }
  c.story += print_layouts(nest, c.layouts);
  LoopTree tree = scan(nest, c.layouts);
  c.story += print(tree);
  c.kernels = lower(tree, native_target());
  features.add(c.kernels, tree);
  return c;
}

constexpr long cases_together = 25, default_batches = 200;

TEST(Compiled, KernelsComputeWhatTheInterpreterDoes) {
  std::vector<std::string> examples = all_examples();
  Features features;
  for_each_case(default_batches, [&](Case& trial) {
    Context ctx;
    Compilation compilation;
    for (long i = 0; i < cases_together; ++i) {
      compilation.add(draw_case(trial.random, ctx, examples, features));
    }
    compilation.run(trial.random);
  });
  std::cout << features.print() << "\n";
  bool whole = environment("LATHE_CASE", -1) < 0 &&
               environment("LATHE_CASES", default_batches) >= default_batches;
  if (!whole || testing::Test::HasFailure()) return;
  // The random cases have all that is hard, and often.
  EXPECT_GT(features.guards, 250);
  EXPECT_GT(features.ranges, 50);
  EXPECT_GT(features.parts, 250);
  EXPECT_GT(features.vectors, 500);
  EXPECT_GT(features.tiles, 500);
  EXPECT_GT(features.floors, 250);
  EXPECT_GT(features.products, 500);
  EXPECT_GT(features.lanes, 50);
  EXPECT_GT(features.prefetches, 250);
  EXPECT_GT(features.scratch, 100);
  EXPECT_GT(features.parallel, 500);
  EXPECT_GT(features.strided, 100);
  EXPECT_GT(features.shared_locals, 100);
}

}  // namespace
}  // namespace lathe::test
