// import_recurrent.cpp: ONNX's recurrent layers, as their steps one after the other.
//
// What the inputs contribute is one product for all steps; a step adds what the state before it
// contributes. Gates lie side by side in the weights' rows.
#include <algorithm>
#include <cctype>
#include <map>

#include "onnx/site.h"

namespace lathe {
namespace {

/// What a step hands to the next: what it puts out, and for an LSTM its memory.
struct State {
  ValueId hidden, memory = no_value;
};

/// One direction of a layer.
struct Direction {
  const Site& site;
  size_t index;
  long steps, samples, hidden;
  Element element;
  ValueId contributions;         ///< of the inputs: [step, sample, gate * hidden]
  ValueId recurrent;             ///< weights of the state: [hidden, gate * hidden]
  ValueId bias = no_value;       ///< of the state's contribution: [gate * hidden]
  ValueId peepholes = no_value;  ///< from the memory to three gates: [3 * hidden]
  std::vector<std::string> activations = {};
  bool backwards = false;

  ValueId apply(const char* op, ValueId a, ValueId b) const { return site.emit(op, {a, b}); }
  /// Returns gate k of values that lie side by side in the last dimension.
  ValueId gate(ValueId values, long k, long gates = 1) const {
    size_t last = site.shape_of(values).size() - 1;
    return site.sliced(values, last, k * hidden, gates * hidden);
  }
  /// Returns what the state contributes to gates from k on.
  ValueId of_state(ValueId state, long k, long gates) const {
    ValueId sum = apply("matmul", state, gate(recurrent, k, gates));
    return bias == no_value ? sum : apply("add", sum, gate(bias, k, gates));
  }
  ValueId activated(size_t k, ValueId value) const;
};

using Cell = State (*)(const Direction&, ValueId inputs, const State& before);

const std::map<std::string, std::string>& activation_names() {
  static const std::map<std::string, std::string> names{
      {"sigmoid", "sigmoid"},   {"tanh", "tanh"},
      {"relu", "relu"},         {"hardsigmoid", "hard_sigmoid"},
      {"softsign", "softsign"}, {"softplus", "softplus"},
      {"elu", "elu"},           {"leakyrelu", "leaky_relu"}};
  return names;
}

ValueId Direction::activated(size_t k, ValueId value) const {
  double bound = site.real("clip", 0);
  if (bound > 0) value = site.emit("clip", {value}, {{"min", -bound}, {"max", bound}});
  return site.emit(activations[k], {value});
}

/// H = f(x W + H R)
State plain_cell(const Direction& d, ValueId inputs, const State& before) {
  return {d.activated(0, d.apply("add", inputs, d.of_state(before.hidden, 0, 1)))};
}

/// z, r = f(x W + H R);  h = g(x W + (r * H) R);  H = (1 - z) * h + z * H
State gru_cell(const Direction& d, ValueId inputs, const State& before) {
  ValueId both = d.apply("add", d.gate(inputs, 0, 2), d.of_state(before.hidden, 0, 2));
  both = d.activated(0, both);
  ValueId update = d.gate(both, 0), reset = d.gate(both, 1);
  ValueId past = d.site.integer("linear_before_reset", 0) != 0
                     ? d.apply("mul", reset, d.of_state(before.hidden, 2, 1))
                     : d.of_state(d.apply("mul", reset, before.hidden), 2, 1);
  ValueId fresh = d.activated(1, d.apply("add", d.gate(inputs, 2), past));
  ValueId change = d.apply("mul", update, d.apply("sub", before.hidden, fresh));
  return {d.apply("add", fresh, change)};
}

/// i, o, f = f(x W + H R + p * C);  C = f * C + i * g(x W + H R);  H = o * h(C)
State lstm_cell(const Direction& d, ValueId inputs, const State& before) {
  ValueId sums = d.apply("add", inputs, d.of_state(before.hidden, 0, 4));
  auto opened = [&](long k, ValueId memory) {
    ValueId sum = d.gate(sums, k);
    if (d.peepholes == no_value) return d.activated(0, sum);
    return d.activated(0, d.apply("add", sum, d.apply("mul", d.gate(d.peepholes, k), memory)));
  };
  ValueId fresh = d.activated(1, d.gate(sums, 3));
  ValueId added = d.apply("mul", opened(0, before.memory), fresh);
  ValueId kept = d.apply("mul", opened(2, before.memory), before.memory);
  ValueId memory = d.apply("add", kept, added);
  return {d.apply("mul", opened(1, memory), d.activated(2, memory)), memory};
}

/// What tells the three layers apart.
struct Kind {
  Cell cell;
  long gates;
  std::vector<std::string> activations;
  long nodes;  ///< of a step, about
};

/// Returns the names of the activations of one direction.
std::vector<std::string> read_activations(const Site& site, const Kind& kind, size_t direction,
                                          size_t directions) {
  if (!site.reals("activation_alpha").empty() || !site.reals("activation_beta").empty()) {
    site.unsupported("activations with settings of their own");
  }
  std::vector<std::string> given = site.texts("activations"), result = kind.activations;
  if (given.empty()) return result;
  if (given.size() < directions * result.size()) {
    site.wrong(fmt::format("{} activations are given, but it has {}", given.size(),
                           directions * result.size()));
  }
  for (size_t k = 0; k < result.size(); ++k) {
    std::string name = given[direction * result.size() + k];
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    auto found = activation_names().find(name);
    if (found == activation_names().end()) {
      site.unsupported(fmt::format("the activation '{}'", name));
    }
    result[k] = found->second;
  }
  return result;
}

/// The whole layer: its operands in the order [step, sample, feature].
class Layer {
 public:
  Layer(const Site& site, const Kind& kind) : site_(site), kind_(kind) {
    is_sample_first_ = site.integer("layout", 0) != 0;
    inputs_ = is_sample_first_ ? transposed(site.input(0), {1, 0, 2}) : site.input(0);
    const Shape x = site.shape_of(inputs_), w = site.shape(1), r = site.shape(2);
    bool fits = x.size() == 3 && w.size() == 3 && r.size() == 3 && w[0] == r[0] && w[2] == x[2] &&
                w[1] == r[1] && r[1] == kind.gates * r[2] && x[0] > 0;
    if (!fits) {
      site.wrong(fmt::format("inputs {} and weights {}, {} do not go together", print_shape(x),
                             print_shape(w), print_shape(r)));
    }
    steps_ = x[0], samples_ = x[1], hidden_ = r[2];
    directions_ = static_cast<size_t>(w[0]);
    std::string direction = site.text("direction", "forward");
    if (directions_ != (direction == "bidirectional" ? 2U : 1U)) {
      site.wrong(fmt::format("its weights do not fit the direction '{}'", direction));
    }
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
      site.wrong(fmt::format("the direction '{}' is unknown", direction));
    }
    if (site.integer("input_forget", 0) != 0) site.unsupported("coupled gates");
  }

  void run() {
    std::vector<ValueId> outputs, hidden, memory;
    for (size_t k = 0; k < directions_; ++k) {
      auto [every, last] = run_direction(direction(k));
      outputs.push_back(every);
      hidden.push_back(last.hidden);
      memory.push_back(last.memory);
    }
    ValueId all = site_.stacked(outputs, 1);
    if (is_sample_first_) all = site_.transposed(all, {2, 0, 1, 3});
    site_.set_output(0, all);
    if (site_.wants(1)) site_.set_output(1, last_states(hidden));
    if (site_.wants(2) && memory[0] != no_value) site_.set_output(2, last_states(memory));
  }

 private:
  const Site& site_;
  const Kind& kind_;
  ValueId inputs_;
  long steps_, samples_, hidden_;
  size_t directions_;
  bool is_sample_first_;

  ValueId transposed(ValueId value, const Shape& perm) const {
    if (site_.shape_of(value).size() != perm.size()) {
      site_.wrong(fmt::format("{} must have {} dimensions", print_shape(site_.shape_of(value)),
                              perm.size()));
    }
    return site_.transposed(value, perm);
  }

  ValueId last_states(const std::vector<ValueId>& states) const {
    return site_.stacked(states, is_sample_first_ ? 1 : 0);
  }

  /// Returns the part of an operand that belongs to one direction, checked to be of "shape".
  ValueId part(size_t operand, size_t axis, size_t direction, const Shape& shape) const {
    Shape whole = shape;
    whole.insert(whole.begin() + static_cast<long>(axis), static_cast<long>(directions_));
    if (site_.shape(operand) != whole) {
      site_.wrong(fmt::format("operand {} is {}, not {}", operand,
                              print_shape(site_.shape(operand)), print_shape(whole)));
    }
    return site_.element_at(site_.input(operand), axis, static_cast<long>(direction));
  }

  Direction direction(size_t k) const {
    Direction d{site_, k, steps_, samples_, hidden_, site_.element(0), no_value, no_value};
    long rows = kind_.gates * hidden_;
    ValueId weights = part(1, 0, k, {rows, site_.shape(1)[2]});
    d.contributions = site_.emit("matmul", {inputs_, site_.transposed(weights, {1, 0})});
    d.recurrent = site_.transposed(part(2, 0, k, {rows, hidden_}), {1, 0});
    if (site_.has(3)) {
      ValueId both = part(3, 0, k, {2 * rows});
      d.contributions = site_.emit("add", {d.contributions, site_.sliced(both, 0, 0, rows)});
      d.bias = site_.sliced(both, 0, rows, rows);
    }
    if (site_.has(7)) d.peepholes = part(7, 0, k, {3 * hidden_});
    d.activations = read_activations(site_, kind_, k, directions_);
    d.backwards = k == 1 || site_.text("direction", "forward") == "reverse";
    return d;
  }

  /// Returns the state before the first step: an operand, or zeros.
  ValueId initial(size_t operand, size_t direction) const {
    Shape shape{samples_, hidden_};
    if (site_.has(operand)) return part(operand, is_sample_first_ ? 1 : 0, direction, shape);
    return site_.emit("expand", {site_.number(site_.element(0), 0)}, {{"shape", shape}});
  }

  /// Returns which samples still have a step t, if they differ in length.
  ValueId is_running(long t) const {
    if (!site_.has(4)) return no_value;
    if (site_.shape(4) != Shape{samples_}) site_.wrong("sequence_lens does not fit the samples");
    ValueId lengths = site_.reshaped(site_.cast(site_.input(4), Element::i64), {samples_, 1});
    return site_.emit("less", {site_.number(Element::i64, static_cast<double>(t)), lengths});
  }

  /// Returns the outputs of all steps, and the last state.
  std::pair<ValueId, State> run_direction(const Direction& d) const {
    site_.count_unrolled(steps_ * kind_.nodes);
    State state{initial(5, d.index)};
    if (kind_.gates == 4) state.memory = initial(6, d.index);
    ValueId zero = site_.number(d.element, 0);
    std::vector<ValueId> outputs(static_cast<size_t>(steps_));
    for (long i = 0; i < steps_; ++i) {
      long t = d.backwards ? steps_ - 1 - i : i;
      State next = kind_.cell(d, site_.element_at(d.contributions, 0, t), state);
      ValueId runs = is_running(t), output = next.hidden;
      if (runs != no_value) {
        output = site_.emit("where", {runs, next.hidden, zero});
        next.hidden = site_.emit("where", {runs, next.hidden, state.hidden});
        if (next.memory != no_value) {
          next.memory = site_.emit("where", {runs, next.memory, state.memory});
        }
      }
      outputs[static_cast<size_t>(t)] = output;
      state = next;
    }
    return {site_.stacked(outputs, 0), state};
  }
};

Translation recurrent(const Kind& kind) {
  return [kind](const Site& site) { Layer(site, kind).run(); };
}

}  // namespace

Translations recurrent_translations() {
  return {{"RNN", recurrent({plain_cell, 1, {"tanh"}, 6})},
          {"GRU", recurrent({gru_cell, 3, {"sigmoid", "tanh"}, 18})},
          {"LSTM", recurrent({lstm_cell, 4, {"sigmoid", "tanh", "tanh"}, 22})}};
}

}  // namespace lathe
