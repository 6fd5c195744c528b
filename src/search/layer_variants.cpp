// layer_variants.cpp: recipes composed breadth first. Interface: layer_variants.h.
#include "search/layer_variants.h"

#include <set>

#include "base/error.h"
#include "base/random.h"
#include "nest/canonical.h"
#include "nest/dependence.h"
#include "nest/footprint.h"
#include "ops/op_graph.h"
#include "program/lift.h"
#include "transforms/transform_network.h"
#include "transforms/transform_neural.h"

namespace lathe {
namespace {

/// A nest and the steps that made it.
struct Composed {
  Nest nest;
  Recipe recipe;
};

Composed after(const Composed& made, const Step& step) {
  Composed next{apply(made.nest, step).nest, made.recipe};
  next.recipe.push_back(step);
  return next;
}

/// Returns the step that puts the next statement first, so that neural steps act on that one.
std::optional<Step> next_statement(const Nest& nest, size_t target) {
  std::vector<size_t> in_order = sequence(nest.order);
  auto at = std::find(in_order.begin(), in_order.end(), target);
  for (++at; at != in_order.end(); ++at) {
    size_t s = *at;
    bool accumulates = nest.statements()[s].update != Update::assign;
    bool apart =
        !nest.order[s].loops.empty() && shared_loops(nest.order[target], nest.order[s]) == 0;
    if (!accumulates || !apart) continue;
    auto name = [&](size_t statement) {
      return nest.statements()[statement].name + ":" + nest.order[statement].loops.front().name;
    };
    return Step{"interchange", {name(target), name(s)}};
  }
  return std::nullopt;
}

/// Returns the program steps after which a neural step would mean something else.
std::vector<Step> steering(const Nest& nest) {
  auto target = find_target(nest);
  if (!target) return {};
  const std::vector<Loop>& loops = nest.order[*target].loops;
  std::vector<Step> steps;
  for (size_t first : {0, 1}) {
    for (size_t i = first + 1; i < loops.size(); ++i) {
      if (loops[i].name == batch_loop) continue;
      steps.push_back({"interchange", {loops[first].name, loops[i].name}});
    }
  }
  for (const char* name : {"split_range", "unroll"}) {
    for (const Step& step : find_transform(name).candidates(nest)) {
      bool part = step.args.size() == 2 && step.args[0] == Arg(loops.front().name);
      if (part) steps.push_back(step);
    }
  }
  if (auto next = next_statement(nest, *target)) steps.push_back(*next);
  return steps;
}

/// Is the order that steps made legal?
bool is_legal(const Nest& nest) { return !judge_order(nest).violation; }

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
      if (neural == 1 || options_.draws == 0) {
        for (const Composed& state : states) extend_all(state, next);
      } else {
        for (size_t i = 0; i < options_.draws && !states.empty(); ++i) draw(states, next);
      }
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
  Random random_{0, "variants"};

  /// Returns the state after a program step; nothing if that does not apply, or is not legal.
  static std::optional<Composed> steered(const Composed& state, const Step& step) {
    try {
      Composed next = after(state, step);
      if (is_legal(next.nest)) return next;
    } catch (const UserError&) {
      // It does not apply here.
    }
    return std::nullopt;
  }

  /// Adds all that a neural step makes of the state, at once or after a program step.
  void extend_all(const Composed& state, std::vector<Composed>& next) {
    extend(state, next);
    for (const Step& step : steering(state.nest)) {
      if (auto made = steered(state, step)) extend(*made, next);
    }
  }

  /// Adds what a random program step and a random neural step make of a random state.
  void draw(const std::vector<Composed>& states, std::vector<Composed>& next) {
    const Composed& state = states[random_.below(states.size())];
    std::vector<Step> program = steering(state.nest);
    size_t first = random_.below(program.size() + 1);
    std::optional<Composed> made = first == 0 ? state : steered(state, program[first - 1]);
    if (!made) return;
    std::vector<Step> steps = neural_steps(made->nest);
    if (!steps.empty()) keep(after(*made, steps[random_.below(steps.size())]), next);
  }

  bool is_small(const Nest& nest, const Step& step) const {
    long factor = std::get<long>(step.args.at(0));
    auto target = find_target(nest);
    return factor <= options_.factor || factor == nest.order[*target].loops.front().extent;
  }

  std::vector<Step> neural_steps(const Nest& nest) const {
    std::vector<Step> steps;
    for (const Transform& transform : transforms::all()) {
      if (transform.kind != Transform::Kind::neural) continue;
      for (const Step& step : transform.candidates(nest)) {
        if (is_small(nest, step)) steps.push_back(step);
      }
    }
    return steps;
  }

  /// Adds what one neural step makes of the state.
  void extend(const Composed& state, std::vector<Composed>& next) {
    for (const Step& step : neural_steps(state.nest)) keep(after(state, step), next);
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
    Cost c = cost(made.nest);
    if (c.macs <= 0) return;
    if (c.macs < macs_ && has_form(made.nest)) {
      found_.push_back({made.recipe, meaning_name(original_, made.nest), c.macs, c.weights});
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
