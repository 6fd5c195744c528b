// Every recipe of up to three steps on tiny convolutions: applied, judged, compared. Prefixes are
// shared, and nests that two recipes make are checked once.
//
//   LATHE_DEPTH=2   recipes of up to two steps
#include <gtest/gtest.h>

#include <set>

#include "support/origins.h"
#include "support/random_recipe.h"

namespace lathe::test {
namespace {

/// Does the step add statements that few recipes need to see, or that have no values on integers?
bool is_rare(const Step& step) {
  auto has = [&](const char* word) {
    return std::find(step.args.begin(), step.args.end(), Arg(word)) != step.args.end();
  };
  return has("expand") || has("deepen") || has("reduce") || step.name == "keep" ||
         (step.name == "bottleneck" && has("repeat"));
}

/// Returns the steps to try: candidates (of equivalent axes one), one of each rare kind, and some
/// that no candidate is.
std::vector<Step> steps_on(const Nest& nest) {
  std::vector<Step> steps;
  for (const Step& step : candidates(nest)) {
    bool bound = step.name == "bind" && std::get<std::string>(step.args[1]) != "thread.x";
    if (!bound && !is_rare(step)) steps.push_back(step);
  }
  for (const std::string& loop : loop_names(nest)) {
    steps.push_back({"split_range", {loop, 1L}});
    steps.push_back({"unroll", {loop, 1L}});
    steps.push_back({"split", {loop, 3L}});
  }
  for (const char* completion : {"repeat", "expand"}) {
    steps.push_back({"bottleneck", {2L, completion}});
  }
  steps.push_back({"keep", {3L}});
  steps.push_back({"keep", {3L, "repeat"}});
  steps.push_back({"group", {2L, "expand"}});
  return steps;
}

/// Walks all recipes, depth first.
class Walker {
 public:
  Walker(isl::ctx ctx, const std::string& text, long depth)
      : ctx_(ctx), original_(load(ctx, text)), wanted_(outputs(original_)) {
    for (const Statement& s : original_.statements()) names_.insert(s.name);
    instances_ = origins(original_, names_);
    walk(original_, {}, depth);
    std::cout << fmt::format("{}: {} recipes, {} nests\n", text, recipes_, seen_.size());
  }

  long recipes() const { return recipes_; }
  long nests() const { return static_cast<long>(seen_.size()); }

 private:
  isl::ctx ctx_;
  Nest original_;
  Outputs wanted_;
  std::set<std::string> names_;
  Origins instances_;
  Recipe recipe_;
  std::map<std::string, long> seen_;  // nests, with the depth that was left
  long recipes_ = 0;

  static bool failed() { return testing::Test::HasFailure(); }

  /// What kinds of steps there were besides program steps.
  struct Past {
    bool algebraic = false, neural = false;
  };

  void walk(const Nest& nest, Past past, long depth) {
    std::string text = print(nest);
    auto [known, is_new] = seen_.try_emplace(text + (past.neural ? "neural" : ""), depth);
    if (is_new) check(nest, text, past);
    if (failed() || (!is_new && known->second >= depth)) return;
    known->second = depth;
    if (depth == 0) return;
    for (const Step& step : steps_on(nest)) try_and_walk(nest, step, past, depth);
  }

  void try_and_walk(const Nest& nest, const Step& step, Past past, long depth) {
    if (failed()) return;
    recipe_.push_back(step);
    ++recipes_;
    try {
      Judged judged = try_step(nest, step);
      past.neural = past.neural || judged.verdict.kind == Verdict::Kind::neural;
      past.algebraic = past.algebraic || judged.verdict.kind == Verdict::Kind::rounded;
      if (judged.verdict.accepted()) {
        // What an algebraic step makes has too many loops to try all that could follow.
        walk(judged.nest, past, past.algebraic ? 0 : depth - 1);
      } else {
        EXPECT_NE(judged.verdict.evidence, "") << print(recipe_);
      }
    } catch (const UserError&) {
      // the arguments do not suit this nest
    } catch (const std::exception& error) {
      ADD_FAILURE() << print(recipe_) << " threw " << error.what();
    }
    recipe_.pop_back();
  }

  void check(const Nest& nest, const std::string& text, Past past) {
    SCOPED_TRACE(print(recipe_) + "\n" + text);
    EXPECT_EQ(refute_places(nest), "");
    EXPECT_EQ(judge_order(nest).violation.has_value(), false);
    verify(nest.tensors(), nest.statements());
    Nest parsed = parse_nest(ctx_, text);
    EXPECT_EQ(print(parsed), text);
    // Other products are added, in other statements, and not of integers alone; there are too many
    // of them to be counted.
    if (past.algebraic) return;
    Cost counts = counted(nest), costs = cost(nest);
    if (has_local(nest)) costs.bytes = counts.bytes;
    EXPECT_EQ(costs, counts);
    Outputs values = outputs(nest);
    EXPECT_EQ(outputs(parsed), values);
    Origins now = origins(nest, names_);
    if (!past.neural) {
      EXPECT_EQ(values, wanted_);
      EXPECT_EQ(now, instances_);
    } else {
      for (const auto& [instance, times] : now) {
        EXPECT_EQ(times, 1) << instance.first;
        EXPECT_TRUE(instances_.contains(instance)) << instance.first;
      }
    }
  }
};

/// Checks all recipes. There are a few more recipes and nests than this: a new step makes them
/// more, and fewer mean that the walk no longer reaches what it did.
void check_all(const std::string& text, long depth, long recipes, long nests) {
  Context ctx;
  long limit = environment("LATHE_DEPTH", depth);
  Walker walker(ctx, text, std::min(depth, limit));
  if (limit < depth || testing::Test::HasFailure()) return;
  EXPECT_GE(walker.recipes(), recipes);
  EXPECT_GE(walker.nests(), nests);
}

TEST(Recipes, OfThreeStepsOnTwoChannelLoops) {
  check_all("conv(co=4, ci=2, oh=1, ow=1, k=1)", 3, 27000, 14000);
}
TEST(Recipes, OfThreeStepsOnAWindow) {
  check_all("conv(co=2, ci=1, oh=2, ow=1, kh=2, kw=1)", 3, 50000, 22000);
}
TEST(Recipes, OfTwoSteps) { check_all("conv(co=4, ci=4, oh=2, ow=2, k=2)", 2, 10000, 6000); }
TEST(Recipes, OfTwoStepsWithABias) {
  check_all("conv(co=4, ci=2, oh=2, ow=1, k=1, bias=1)", 2, 2600, 1600);
}

}  // namespace
}  // namespace lathe::test
