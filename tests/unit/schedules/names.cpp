// Names of loops mean nothing to the templates: a nest whose loops are called otherwise gets the
// same template and the same code.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "codegen/code.h"
#include "compile/node.h"
#include "compile/sums.h"
#include "nest/text.h"
#include "ops/op.h"
#include "schedules/schedule_counting.h"

namespace lathe::test {
namespace {

/// Layers, and the templates for them.
const std::vector<std::pair<std::string, std::string>> layers = {
    {"conv(n=2, co=32, ci=16, oh=9, ow=8, k=3, stride=2, bias=1)", "contraction"},
    {"conv(n=1, co=24, ci=3, oh=13, ow=13, k=3, bias=1)", "contraction"},
    {"conv(n=2, co=64, ci=48, oh=7, ow=7, k=1)", "contraction"},
    {"conv(n=2, co=32, ci=32, oh=7, ow=7, k=3, stride=2, groups=4, bias=1)", "contraction"},
    {"fully_connected(n=3, co=100, ci=33, bias=1)", "contraction"},
    {"matmul(i=13, j=17, k=19)", "contraction"},
    {"matmul(n=4, i=16, j=24, k=32)", "contraction"},
    {"adjoint(f32[6x16x9x8], _, _, f32[6x24x9x8], "
     "of=\"conv(f32[6x16x9x8], weight f32[24x16x3x3], pads=[1, 1, 1, 1])\", by=1)",
     "contraction"},
    {"depthwise(n=2, c=32, oh=14, ow=14, k=3, bias=1)", "window"},
    {"conv(n=2, co=32, ci=32, oh=14, ow=14, k=3, groups=32, bias=1)", "window"},
    {"max_pool(f32[2x16x9x9], kernel=[3, 3], strides=[2, 2])", "window"},
    {"conv(n=1, co=32, ci=32, oh=14, ow=14, k=3, bias=1)", "winograd"},
    {"conv(n=2, co=64, ci=32, oh=15, ow=13, k=3, bias=1, groups=2)", "winograd"},
    {"fused(f32[1x32x16x16], weight f32[32x32x3x3], weight f32[32], f32[1x32x14x14], "
     "calls=[\"conv(%0, %1, %2)\", \"add(#0, %3)\", \"relu(#1)\"])",
     "winograd"},
    {"fused(f32[1x8x14x14], weight f32[32x8x1x1], weight f32[32x1x3x3], "
     "calls=[\"conv(%0, %1)\", \"relu(#0)\", "
     "\"conv(#1, %2, groups=32, pads=[1, 1, 1, 1], strides=[2, 2])\"])",
     "chain"},
    {"fused(f32[2x16x7x9], f32[2x16x7x9], calls=[\"add(%0, %1)\", \"relu(#0)\"])", "elements"},
};

using Naming = std::function<std::string(const Statement& statement, const std::string& loop)>;

/// Returns the nest with other names of loops.
Nest renamed(const Nest& nest, const Naming& name) {
  std::vector<Statement> statements = nest.statements();
  std::vector<Order> order = nest.order;
  for (size_t i = 0; i < statements.size(); ++i) {
    const Statement& old = nest.statements()[i];
    for (std::string& loop : statements[i].dims) loop = name(old, loop);
    for (Loop& loop : order[i].loops) loop.name = name(old, loop.name);
  }
  return make_nest(nest.name, nest.tensors(), std::move(statements), std::move(order));
}

/// Returns a nest whose loops have the names that operators use, each for something else.
Nest misnamed(const Nest& nest) {
  const std::vector<std::string> names = {"kw", "v", "co", "t", "n", "ih", "g", "ci", "u", "oh"};
  std::vector<std::string> old = loop_names(nest);
  return renamed(nest, [&](const Statement&, const std::string& loop) {
    auto at = static_cast<size_t>(std::find(old.begin(), old.end(), loop) - old.begin());
    std::string again = at < names.size() ? "" : std::to_string(at / names.size() + 1);
    return names[at % names.size()] + again;
  });
}

/// Returns a nest in which every statement calls its loops as no other does.
Nest named_apart(const Nest& nest) {
  return renamed(
      nest, [](const Statement& s, const std::string& loop) { return loop + "_of_" + s.name; });
}

/// Returns a nest in which loops exchange their names, in one statement of two.
Nest exchanged(const Nest& nest) {
  return renamed(nest, [&](const Statement& s, const std::string& loop) {
    if (s.name == nest.statements().front().name) return loop;
    auto at = std::find(s.dims.begin(), s.dims.end(), loop) - s.dims.begin();
    return s.dims[s.dims.size() - 1 - static_cast<size_t>(at)];
  });
}

std::vector<Layout> layouts_of(const Nest& nest, long block) {
  std::vector<Layout> layouts;
  for (const Tensor& tensor : nest.tensors()) {
    bool data = tensor.role == Role::input || tensor.role == Role::output;
    long together = data && tensor.shape.size() == 4 ? std::gcd(tensor.shape[1], block) : 1;
    layouts.push_back(tensor.role == Role::local ? Layout{}
                                                 : blocked_layout(tensor.shape, together));
  }
  return layouts;
}

struct Result {
  std::string schedule, code, recipe;
};

Result result_of(Nest nest, long block, const Target& target) {
  std::vector<Layout> layouts = layouts_of(nest, block);
  nest = with_blocked_sums(nest, layouts);
  NodeCode code = lower_node(nest, layouts, target);
  Result result{code.schedule, "", code.recipe};
  for (const Code& kernel : code.kernels) result.code += print(kernel) + "\n";
  return result;
}

/// Targets, and how many channels lie together.
const std::vector<std::pair<std::string, long>> machines = {
    {"aarch64", 16}, {"x86-64-v4", 16}, {"aarch64", 1}};

/// Expects that every layer gets the template and the code that it has with its own names.
void expect_same_code(const std::function<Nest(const Nest& nest)>& with_other_names) {
  for (const auto& [layer, schedule] : layers) {
    Context ctx;
    Nest nest = parse_op(ctx, layer), other = with_other_names(nest);
    for (const auto& [name, block] : machines) {
      // Where a chain does not fit, a template for one sum also cuts loops of the other sum.
      if (schedule == "chain" && block == 1) continue;
      SCOPED_TRACE(fmt::format("{} for {}, blocks of {}", layer, name, block));
      Target target = target_named(name);
      target.workers = 4;
      Result wanted = result_of(nest, block, target), found = result_of(other, block, target);
      EXPECT_TRUE(block == 1 || wanted.schedule == schedule) << wanted.schedule;
      EXPECT_EQ(found.schedule, wanted.schedule) << wanted.recipe << "\n" << found.recipe;
      EXPECT_EQ(found.code, wanted.code) << wanted.recipe << "\n" << found.recipe;
    }
  }
}

TEST(Names, MayMisleadWithoutHarm) { expect_same_code(misnamed); }

TEST(Names, MayDifferFromStatementToStatement) { expect_same_code(named_apart); }

TEST(Names, MayBeExchangedInOneStatement) { expect_same_code(exchanged); }

TEST(Counting, SamplesAreFoundWhateverTheyAreCalled) {
  struct {
    const char *nest, *wanted;
  } table[] = {
      {"conv(n=2, co=4, ci=4, oh=3, ow=3, k=3)", "n"},
      {"conv(co=4, ci=4, oh=3, ow=3, k=3)", ""},
      {"fully_connected(n=3, co=4, ci=5)", "n"},
      {"matmul(n=4, i=2, j=3, k=5)", ""},  // several products
      {"max_pool(n=2, c=4, oh=3, ow=3, k=2)", "n"},
      {"adjoint(f32[6x4x5x5], _, _, f32[6x3x3x3], "
       "of=\"conv(f32[6x4x5x5], weight f32[3x4x3x3])\", by=1)",
       "n"},  // they are summed up
  };
  for (const auto& [text, wanted] : table) {
    Context ctx;
    Nest nest = parse_op(ctx, text);
    size_t main = schedules::main_statement(nest);
    EXPECT_EQ(schedules::samples_loop(nest, main), wanted) << text;
    Nest other =
        renamed(nest, [](const Statement&, const std::string& loop) { return "x" + loop; });
    std::string name = *wanted == 0 ? "" : "x" + std::string(wanted);
    EXPECT_EQ(schedules::samples_loop(other, main), name) << text;
  }
}

TEST(Counting, LoopsOfOtherNamesAreFound) {
  Context ctx;
  Nest nest = parse_nest(ctx, R"(nest t
tensor I: input f32[2, 6, 9]
tensor W: weight f32[8, 3]
tensor O: local f32[2, 8, 9]
tensor R: output f32[2, 8, 9]
statement S[n < 2, g < 2, f < 4, k < 3, x < 9]:
  O[n, 4*g + f, x] += W[4*g + f, k] * I[n, 3*g + k, x]
statement T[x < 2, c < 8, y < 9]:
  R[x, c, y] = max(O[x, c, y], 0)
)");
  EXPECT_TRUE(schedules::count_together(nest, 0, "g", "f"));
  EXPECT_FALSE(schedules::count_together(nest, 0, "f", "g"));
  EXPECT_FALSE(schedules::count_together(nest, 0, "n", "x"));
  schedules::RecipeWriter writer(nest);
  schedules::name_alike(writer, 0);
  EXPECT_EQ(print(writer.recipe()), "rename(T:x, n) -> rename(T:c, f) -> rename(T:y, x)");
}

}  // namespace
}  // namespace lathe::test
