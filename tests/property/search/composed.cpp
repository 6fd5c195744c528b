// Random recipes of the space that searches choose from: compiled, the layer that a recipe makes
// computes what the interpreter says of its nest, and its cost and its name can be told. For a long
// run:
//
//   LATHE_SEED=7 LATHE_CASES=100000 build/release/tests/property_tests --gtest_filter='Composed.*'
#include <gtest/gtest.h>

#include "base/error.h"
#include "legality/legality.h"
#include "nest/canonical.h"
#include "nest/dependence.h"
#include "nest/footprint.h"
#include "search/moves.h"
#include "search/variant_family.h"
#include "support/lifted_layer.h"
#include "support/random_recipe.h"
#include "transforms/transform_network.h"

namespace lathe::test {
namespace {

/// Writes a small convolution that moves can divide.
std::string random_layer(Random& random) {
  std::vector<long> channels{4, 4, 8, 8, 6};
  long ci = random.pick(channels), co = random.pick(channels);
  long rows = 2 * random.between(1, 3), columns = 2 * random.between(1, 2);
  long k = 2 * random.between(0, 1) + 1, stride = random.chance(20) ? 2 : 1;
  std::string out = fmt::format("conv(f32[1x{}x{}x{}], f32[{}x{}x{}x{}]", ci, rows * stride,
                                columns * stride, co, ci, k, k);
  if (random.chance(30)) out += fmt::format(", f32[{}]", co);
  if (k == 3) out += ", pads=[1, 1, 1, 1]";
  if (stride == 2) out += ", strides=[2, 2]";
  return out + ")";
}

/// Composes a random recipe of moves, cuts, and program steps between them.
class RandomComposition {
 public:
  RandomComposition(Random& random, const Nest& nest) : random_(random), nest_(nest) {
    for (long moves = random_.between(1, 3); moves > 0; --moves) compose();
  }

  const Nest& nest() const { return nest_; }
  const Recipe& recipe() const { return recipe_; }

 private:
  Random& random_;
  Nest nest_;
  Recipe recipe_;
  bool is_cut_ = false;

  void compose() {
    std::vector<Step> cuts = cuts_of(nest_);
    if (!is_cut_ && !cuts.empty() && random_.chance(25)) is_cut_ = take({random_.pick(cuts)});
    auto next = next_statement(nest_);
    if (next && random_.chance(50)) take({*next});
    if (random_.chance(20)) take_program_step();
    std::vector<Move> moves = moves_on(nest_, {.factor = 8});
    if (!moves.empty()) take(random_.pick(moves).steps);
  }

  void take_program_step() {
    const Transform& t = find_transform(random_.pick({"interchange", "split", "fuse"}));
    std::vector<Step> steps = t.candidates(nest_);
    if (!steps.empty()) take({random_.pick(steps)});
  }

  /// Takes all steps, or none of them if one does not apply or is not legal.
  bool take(const Recipe& steps) {
    Nest now = nest_;
    try {
      for (const Step& step : steps) {
        now = apply(now, step).nest;
        if (judge_order(now).violation) return false;
      }
    } catch (const UserError&) {
      return false;
    }
    nest_ = now;
    recipe_.insert(recipe_.end(), steps.begin(), steps.end());
    return true;
  }
};

/// Returns the MACs that three moves leave at most: each may add a 1x1 convolution of all channels,
/// before the layer or behind it.
long most_macs(const Nest& original) {
  long result = operations(original).macs;
  for (const Tensor& tensor : original.tensors()) {
    if (tensor.shape.size() != 4 || tensor.role == Role::weight) continue;
    result += 3 * tensor.shape[1] * count_of(inner_shape(tensor));
  }
  return result;
}

TEST(Composed, LayersComputeWhatTheInterpreterSays) {
  long with_form = 0, all = 0;
  for_each_case(150, [&](Case& trial) {
    std::string text = random_layer(trial.random);
    trial.story = text + "\n";
    Context context;
    Graph graph = one_layer(text);
    Nest original = samples_inward(nest_of(context, call_of(graph, graph.nodes.front())));
    RandomComposition composition(trial.random, original);
    const Nest& nest = composition.nest();
    trial.story += print(composition.recipe()) + "\n" + print(nest);
    EXPECT_LE(operations(nest).macs, most_macs(original));
    EXPECT_NE(meaning_name(original, nest), "");
    family_of(original, nest);
    ++all;
    if (output_shapes(nest) != output_shapes(original)) return;
    Graph lifted, with_weights = with_added_weights(graph, nest);
    try {
      lifted = with_nest(with_weights, 0, nest);
    } catch (const UserError&) {
      return;  // it has no form in standard operators, and no search takes it
    }
    ++with_form;
    expect_lifted_computes(with_weights, nest, lifted);
  });
  std::cout << fmt::format("{} of {} recipes have a form in standard operators\n", with_form, all);
  constexpr long enough = 50;  // for a share to say something
  if (all >= enough) {
    EXPECT_GT(2 * with_form, all);
  }
}

}  // namespace
}  // namespace lathe::test
