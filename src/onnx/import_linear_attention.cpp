// import_linear_attention.cpp: ONNX's operators whose past is a state of fixed size: attention that
// sums what it saw, and a convolution that sees a few steps back.
#include <cmath>

#include "onnx/heads.h"

namespace lathe {
namespace {

constexpr long nodes_of_round = 16;  // about

/// Attention without a softmax: a matrix for each head sums the products of keys and values.
///
///   S = exp(decay) * S;  v = beta * (v - k^T S);  S = S + k v^T;  output = scale * q^T S
class LinearAttention {
 public:
  explicit LinearAttention(const Site& site)
      : site_(site), heads_(site.integer("q_num_heads", 0)), own_(site.integer("kv_num_heads", 0)) {
    query_ = read(0, heads_);
    key_ = read(1, own_);
    value_ = read(2, own_);
    const Shape q = site.shape_of(query_), k = site.shape_of(key_), v = site.shape_of(value_);
    if (q[0] != k[0] || q[0] != v[0] || q[2] != k[2] || q[2] != v[2] || q[3] != k[3]) {
      site.wrong("its query, key and value do not go together");
    }
    steps_ = q[2];
    if (steps_ < 1) site.wrong("its sequence is empty");
    read_rule();
    read_state({q[0], own_, k[3], v[3]});
  }

  void run() {
    double scale = site_.real("scale", 0);
    if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(site_.shape_of(key_)[3]));
    std::vector<ValueId> outputs;
    for (long t = 0; t < steps_; ++t) {
      site_.count_unrolled(nodes_of_round);
      update(t);
      ValueId seen = repeated_heads(site_, state_, heads_);
      outputs.push_back(site_.emit("matmul", {at(query_, t), seen}));
    }
    ValueId all = site_.emit("mul", {site_.joined(outputs, 2), site_.number(Element::f32, scale)});
    site_.set_output(0, site_.cast(without_heads(site_, all), site_.element(0)));
    site_.set_output(1, site_.cast(state_, site_.element(site_.has(3) ? 3 : 0)));
  }

 private:
  const Site& site_;
  long heads_, own_, steps_ = 0;
  ValueId query_, key_, value_, state_ = no_value, decay_ = no_value, beta_ = no_value;

  /// States are sums over many steps: they are computed in 32 bits.
  ValueId read(size_t i, long heads) const {
    return with_heads(site_, site_.cast(site_.input(i), Element::f32), heads);
  }

  void read_rule() {
    std::string rule = site_.text("update_rule", "gated_delta");
    bool is_gated = rule == "gated" || rule == "gated_delta";
    bool is_delta = rule == "delta" || rule == "gated_delta";
    if (!is_gated && !is_delta && rule != "linear") {
      site_.wrong(fmt::format("the update rule '{}' is unknown", rule));
    }
    if (site_.has(4) != is_gated) site_.wrong(fmt::format("'{}' and decay do not fit", rule));
    if (site_.has(5) != is_delta) site_.wrong(fmt::format("'{}' and beta do not fit", rule));
    if (is_gated) decay_ = site_.emit("exp", {read(4, own_)});
    if (is_delta) beta_ = read(5, site_.shape(5).back() == 1 ? 1 : own_);
  }

  void read_state(const Shape& shape) {
    if (!site_.has(3)) {
      state_ = site_.emit("expand", {site_.number(Element::f32, 0)}, {{"shape", shape}});
      return;
    }
    if (site_.shape(3) != shape) {
      site_.wrong(fmt::format("its state must be {}", print_shape(shape)));
    }
    state_ = site_.cast(site_.input(3), Element::f32);
  }

  /// Returns step t as a row of each head; as a column.
  ValueId at(ValueId value, long t) const { return site_.sliced(value, 2, t, 1); }
  ValueId column_at(ValueId value, long t) const {
    return site_.transposed(at(value, t), {0, 1, 3, 2});
  }

  void update(long t) {
    if (decay_ != no_value) state_ = site_.emit("mul", {state_, column_at(decay_, t)});
    ValueId value = at(value_, t);
    if (beta_ != no_value) {
      ValueId known = site_.emit("matmul", {at(key_, t), state_});
      value = site_.emit("mul", {at(beta_, t), site_.emit("sub", {value, known})});
    }
    ValueId product = site_.emit("mul", {column_at(key_, t), value});
    state_ = site_.emit("add", {state_, product});
  }
};

void linear_attention(const Site& site) {
  if (site.shape(0).size() != 3) site.wrong("its query must have 3 dimensions");
  LinearAttention(site).run();
}

/// A convolution of each channel with the steps before; the last ones are put out for the next
/// call.
void causal_conv(const Site& site) {
  const Shape input = site.shape(0), weight = site.shape(1);
  if (input.size() != 3 || weight.size() != 3 || weight[2] < 1) {
    site.wrong("its input and weights must have 3 dimensions");
  }
  long before = weight[2] - 1;
  ValueId whole = site.has(3)
                      ? site.joined({site.input(3), site.input(0)}, 2)
                      : site.emit("pad", {site.input(0)}, {{"pads", Shape{0, 0, before, 0, 0, 0}}});
  long steps = site.shape_of(whole)[2];
  if (steps < before) site.wrong("its state is too short");
  ValueId result =
      site.emit("conv", {whole, site.input(1), site.optional_input(2)}, {{"groups", input[1]}});
  std::string activation = site.text("activation", "none");
  if (activation == "silu" || activation == "swish") {
    result = site.emit("swish", {result});
  } else if (activation != "none") {
    site.wrong(fmt::format("the activation '{}' is unknown", activation));
  }
  site.set_output(0, result);
  if (site.wants(1)) site.set_output(1, site.sliced(whole, 2, steps - before, before));
}

}  // namespace

Translations linear_attention_translations() {
  return {{"LinearAttention", linear_attention}, {"CausalConvWithState", causal_conv}};
}

}  // namespace lathe
