// variant_composer.cpp: what a layer can become, composed of moves. Interface: variants_of() of
// layer_variants.h.
//
// Moves are composed breadth first: all single ones, then pairs, and so on. Two moves that can
// change places mean the same in both orders, and one order is taken. Rare moves are made alone:
// with others they would be thousands. The parts of a layer that is cut get the same sort of move
// each. What is left is told apart by its meaning.
#include <map>
#include <set>

#include "base/error.h"
#include "nest/canonical.h"
#include "nest/dependence.h"
#include "nest/footprint.h"
#include "ops/op_graph.h"
#include "program/lift.h"
#include "search/layer_variants.h"
#include "search/moves.h"
#include "transforms/transform.h"
#include "transforms/transform_network.h"

namespace lathe {
namespace {

/// What a layer became by some steps, and the last move among them.
struct Composed {
  Nest nest;
  Recipe recipe;
  std::optional<Move> last = std::nullopt;
  long factor = 1;       // of all moves together
  bool is_cut = false;   // into parts
  bool widened = false;  // by a 1x1 convolution
};

/// Returns the layer as a network: its first operand is the input, the others are weights.
Graph network_of(const Call& layer) {
  GraphBuilder graph("layer");
  std::vector<ValueId> operands;
  for (size_t i = 0; i < layer.inputs(); ++i) {
    if (!layer.has(i)) {
      operands.push_back(no_value);
      continue;
    }
    const Type& type = layer.operand(i).type;
    operands.push_back(i == 0 ? graph.input("x", type)
                              : graph.weight("w" + std::to_string(i), type.shape, {}));
  }
  graph.output(graph.call(layer.name(), operands, layer.attributes(), "layer"));
  return graph.build();
}

bool is_bottleneck(MoveSort sort) {
  return sort == MoveSort::filters || sort == MoveSort::reads || sort == MoveSort::position;
}

bool is_group(MoveSort sort) { return sort == MoveSort::group || sort == MoveSort::shuffle; }

bool is_power_of_two(long n) { return (n & (n - 1)) == 0; }

/// Does a move after another one mean something that the other order, or one move, does not?
bool goes_on(const Move& last, const Move& next) {
  if (last.sort == MoveSort::rare || next.sort == MoveSort::rare) return false;
  if (last.sort == MoveSort::stripe || next.sort == MoveSort::stripe) {
    return last.sort == next.sort && last.factor == next.factor;
  }
  if (last.sort == MoveSort::position) {
    return next.sort == MoveSort::position && next.loop > last.loop;
  }
  if (is_bottleneck(last.sort) && is_bottleneck(next.sort)) return next.sort > last.sort;
  if (is_group(last.sort) && is_group(next.sort)) return false;
  return !(last.widens && next.sort == MoveSort::filters);
}

class Composer {
 public:
  Composer(const Call& layer, const Nest& nest, const VariantOptions& options)
      : options_(options),
        original_(nest),
        network_(network_of(layer)),
        shapes_(output_shapes(nest)) {
    Cost all = cost(nest);
    macs_ = all.macs;
    found_.push_back({{}, meaning_name(nest, nest), all.macs, all.weights});
    known_.insert(canonical(nest));
  }

  std::vector<LayerVariant> run() {
    std::vector<Composed> states{{samples_inward(original_), {}}};
    for (size_t neural = 1; neural <= options_.neural; ++neural) {
      std::vector<Composed> next;
      for (const Composed& state : states) extend(state, next);
      states = std::move(next);
    }
    return std::move(found_);
  }

 private:
  VariantOptions options_;
  const Nest& original_;
  Graph network_;
  std::vector<Shape> shapes_;
  long macs_ = 0;
  std::vector<LayerVariant> found_;
  std::set<std::string> known_;

  /// Nests after program steps, which several moves share; nothing if a step is not legal.
  using Prefixes = std::map<std::string, std::optional<Nest>>;

  /// Adds all that one more move makes of a state.
  void extend(const Composed& state, std::vector<Composed>& next) {
    MoveOptions how{options_.factor, options_.program};
    if (state.is_cut) {
      extend_other_part(state, how, next);
      return;
    }
    add_moves(state, how, next);
    if (state.last) return;
    for (const Step& cut : cuts_of(state.nest)) {
      if (auto parts = after_program(state, cut)) {
        parts->is_cut = true;
        add_moves(*parts, {how.factor, how.program - 1}, next);
        if (how.program > 1) extend_other_part(*parts, {how.factor, how.program - 1}, next);
      }
    }
  }

  /// Adds what moves make of the next part of a layer that is cut.
  void extend_other_part(const Composed& state, const MoveOptions& how,
                         std::vector<Composed>& next) {
    auto step = next_statement(state.nest);
    if (!step) return;
    if (auto other = after_program(state, *step)) {
      add_moves(*other, {how.factor, how.program - 1}, next);
    }
  }

  void add_moves(const Composed& state, const MoveOptions& how, std::vector<Composed>& next) {
    Prefixes prefixes;
    for (const Move& move : moves_on(state.nest, how)) {
      if (!is_worth_it(state, move)) continue;
      if (auto made = moved(state, move, prefixes)) keep(std::move(*made), next);
    }
  }

  /// May the move mean something new, and leave enough of the layer?
  bool is_worth_it(const Composed& state, const Move& move) const {
    if (move.widens && state.widened) return false;
    if (state.is_cut) {
      if (state.last) return is_group(move.sort) && !move.widens && move.sort == state.last->sort;
      return (is_group(move.sort) || move.sort == MoveSort::reads) && !move.widens;
    }
    if (!state.last) return true;
    bool small = is_power_of_two(move.factor) && state.factor * move.factor <= options_.factor;
    return goes_on(*state.last, move) && (small || move.all);
  }

  /// Returns the state after a program step; nothing if it does not apply, or is not legal.
  static std::optional<Composed> after_program(const Composed& state, const Step& step) {
    auto nest = applied(state.nest, step);
    if (!nest || judge_order(*nest).violation) return std::nullopt;
    Composed next = state;
    next.nest = std::move(*nest);
    next.recipe.push_back(step);
    return next;
  }

  static std::optional<Nest> applied(const Nest& nest, const Step& step) {
    try {
      return apply(nest, step).nest;
    } catch (const UserError&) {
      return std::nullopt;  // it does not apply here
    }
  }

  /// Returns the nest after the first "count" steps of a move.
  static const std::optional<Nest>& prefix(const Composed& state, const Recipe& steps, size_t count,
                                           Prefixes& known) {
    auto [at, is_new] = known.try_emplace(print(Recipe(steps.begin(), steps.begin() + count)));
    if (!is_new) return at->second;
    if (count == 0) {
      at->second = state.nest;
    } else if (const auto& before = prefix(state, steps, count - 1, known)) {
      auto nest = applied(*before, steps[count - 1]);
      if (nest && !judge_order(*nest).violation) at->second = std::move(nest);
    }
    return at->second;
  }

  static std::optional<Composed> moved(const Composed& state, const Move& move,
                                       Prefixes& prefixes) {
    const auto& before = prefix(state, move.steps, move.steps.size() - 1, prefixes);
    if (!before) return std::nullopt;
    auto nest = applied(*before, move.steps.back());
    if (!nest) return std::nullopt;
    Composed next{std::move(*nest),           state.recipe, move,
                  state.factor * move.factor, state.is_cut, state.widened || move.widens};
    next.recipe.insert(next.recipe.end(), move.steps.begin(), move.steps.end());
    return next;
  }

  /// Is there a network of standard operators that computes it?
  bool has_form(const Nest& nest) const {
    try {
      with_nest(network_, 0, nest);
      return true;
    } catch (const UserError&) {
      return false;
    }
  }

  void keep(Composed made, std::vector<Composed>& next) {
    if (output_shapes(made.nest) != shapes_) return;  // others would have to change with it
    if (!known_.insert(canonical(made.nest)).second) return;
    long macs = operations(made.nest).macs;
    if (macs <= 0) return;
    if (macs < macs_ && has_form(made.nest)) {
      found_.push_back({made.recipe, meaning_name(original_, made.nest), macs,
                        cost(made.nest).weights, std::nullopt, family_of(original_, made.nest)});
    }
    next.push_back(std::move(made));
  }
};

}  // namespace

std::vector<LayerVariant> variants_of(const Call& layer, const VariantOptions& options) {
  Context context;
  Nest nest = nest_of(context, layer);
  return Composer(layer, nest, options).run();
}

}  // namespace lathe
