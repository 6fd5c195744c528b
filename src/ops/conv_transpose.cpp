// conv_transpose.cpp: the convolution with input and output exchanged: every element of the input
// adds the kernel, scaled, to the output.
//
//   O[co, s*ih + d*kh, s*iw + d*kw] += W[ci, co, kh, kw] * I[ci, ih, iw]
//
// Padding cuts a border off the result. Then P takes the place of O, and O gets what remains:
//
//   O[co, oh, ow] = P[co, oh + before, ow + before] + B[co]
//
// so that no loop needs a condition. Groups are those of conv.cpp.
#include <algorithm>
#include <optional>

#include "ops/op_dims.h"
#include "ops/op_shape.h"
#include "ops/op_window.h"

namespace lathe::ops {
namespace {

/// One dimension that the kernel spreads along.
struct Spread {
  std::string name;  ///< of the dimension: h for the loops oh, ih, kh
  long inputs, elements;
  long stride, dilation;
  long before;   ///< elements that are cut off in front
  long outputs;  ///< elements that remain

  /// Returns the elements that the kernels reach, or more where the output does.
  long reach() const {
    return std::max((inputs - 1) * stride + (elements - 1) * dilation + 1, before + outputs);
  }
  bool is_cut() const { return reach() > outputs; }
};

struct Transposed {
  long n, co, ci, groups;
  std::vector<Spread> dims;
};

std::vector<Spread> spreads(const Call& call) {
  const Shape &input = call.shape(0), &weight = call.shape(1);
  size_t dims = input.size() - 2;
  Shape strides = window_list(call, "strides", dims, 1);
  Shape dilations = window_list(call, "dilations", dims, 1);
  Shape pads = window_list(call, "pads", 2 * dims, 0);
  Shape more = window_list(call, "output_pads", dims, 0);
  std::vector<std::string> names = dim_names(input.size());
  std::vector<Spread> result;
  for (size_t i = 0; i < dims; ++i) {
    Spread s{names[i + 2], input[i + 2], weight[i + 2], strides[i], dilations[i], pads[i], 0};
    if (std::min(s.inputs, s.elements) < 1 || std::max(s.inputs, s.elements) > most_in_window) {
      call.refuse("{} and {} have a dimension that is empty or too large", print_shape(input),
                  print_shape(weight));
    }
    s.outputs = (s.inputs - 1) * s.stride + (s.elements - 1) * s.dilation + 1 + more[i] - pads[i] -
                pads[i + dims];
    if (s.outputs < 1) call.refuse("pads={} leave no output", print_attribute(pads));
    result.push_back(s);
  }
  return result;
}

Transposed transposed(const Call& call) {
  const Shape &input = call.shape(0), &weight = call.shape(1);
  check_same_element(call, 1);
  if (input.size() < 3) {
    call.refuse("the input {} needs a batch, channels and rows", print_shape(input));
  }
  long groups = call.integer("groups");
  bool fits = weight.size() == input.size() && weight[0] == input[1] && weight[1] > 0;
  if (!fits || groups < 1 || input[1] % groups != 0 || input[1] == 0) {
    call.refuse("weights {} in {} groups do not fit the input {}", print_shape(weight), groups,
                print_shape(input));
  }
  Transposed t{input[0], weight[1] * groups, input[1], groups, spreads(call)};
  if (call.has(2) && (call.shape(2) != Shape{t.co} || call.element(2) != call.element(0))) {
    call.refuse("the bias {} must have {} elements of the input's type", print_shape(call.shape(2)),
                t.co);
  }
  return t;
}

std::vector<Type> types_of_conv_transpose(const Call& call) {
  Transposed t = transposed(call);
  Shape shape{t.n, t.co};
  for (const Spread& s : t.dims) shape.push_back(s.outputs);
  return {{call.element(0), shape}};
}

/// Adds every product to "to", which is indexed from the first element that kernels reach.
void scatter(NestBuilder& b, const Transposed& t, size_t I, size_t W, size_t to) {
  long co = t.co / t.groups, ci = t.ci / t.groups;
  StatementBuilder::Extents loops{{"n", t.n}, {"g", t.groups}, {"co", co}, {"ci", ci}};
  for (const Spread& d : t.dims) loops.emplace_back("i" + d.name, d.inputs);
  for (const Spread& d : t.dims) loops.emplace_back("k" + d.name, d.elements);
  auto& s = b.statement("conv_transpose", loops);
  Index filter = s["g"] * co + s["co"], channel = s["g"] * ci + s["ci"];
  std::vector<Index> kernel{channel, s["co"]}, input{s["n"], channel}, output{s["n"], filter};
  for (const Spread& d : t.dims) {
    Index i = s["i" + d.name], k = s["k" + d.name];
    kernel.push_back(k);
    input.push_back(i);
    output.push_back(i * d.stride + k * d.dilation);
  }
  Expr weight = s.read(W, kernel), element = s.read(I, input);
  s.add(to, output, weight * element);
}

/// Copies what remains of P to O, with the bias.
void cut(NestBuilder& b, const Transposed& t, size_t P, std::optional<size_t> B, size_t O) {
  StatementBuilder::Extents loops{{"n", t.n}, {"co", t.co}};
  for (const Spread& d : t.dims) loops.emplace_back("o" + d.name, d.outputs);
  auto& s = b.statement("cut", loops);
  std::vector<Index> from{s["n"], s["co"]};
  for (const Spread& d : t.dims) from.push_back(s["o" + d.name] + d.before);
  Expr value = s.read(P, from);
  if (B) value = value + s.read(*B, {s["co"]});
  s.assign(O, at(s, loops), value);
}

Nest nest_of_conv_transpose_call(isl::ctx ctx, const Call& call) {
  Transposed t = transposed(call);
  Type type = types_of_conv_transpose(call).front();
  NestBuilder b(ctx, "conv_transpose");
  size_t I = declare(b, call, 0, "I");
  size_t W = b.tensor("W", Role::weight, call.shape(1), type.element);
  std::optional<size_t> B;
  if (call.has(2)) B = b.tensor("B", Role::weight, {t.co}, type.element);
  size_t O = declare_output(b, type);
  if (std::any_of(t.dims.begin(), t.dims.end(), [](const Spread& d) { return d.is_cut(); })) {
    Shape reached{t.n, t.co};
    for (const Spread& d : t.dims) reached.push_back(d.reach());
    size_t P = b.tensor("P", Role::local, reached, type.element);
    scatter(b, t, I, W, P);
    cut(b, t, P, B, O);
    return b.build();
  }
  if (B) {
    StatementBuilder::Extents loops{{"n", t.n}, {"co", t.co}};
    for (const Spread& d : t.dims) loops.emplace_back("o" + d.name, d.outputs);
    auto& s = b.statement("bias", loops);
    s.assign(O, at(s, loops), s.read(*B, {s["co"]}));
  }
  scatter(b, t, I, W, O);
  return b.build();
}

}  // namespace

Op conv_transpose() {
  return {.name = "conv_transpose",
          .summary = "convolution with input and output exchanged",
          .examples = {"conv_transpose(f32[1x2x3x4], f32[2x3x3x2])",
                       "conv_transpose(f32[2x4x5], f32[4x1x3], f32[2], groups=2, strides=[2], "
                       "pads=[1, 2], output_pads=[1])",
                       "conv_transpose(f32[1x1x3x3], f32[1x2x2x2], f32[2], dilations=[2, 1], "
                       "output_pads=[0, 1], strides=[1, 3])"},
          .graph = {.least = 2,
                    .most = 3,
                    .settings = window_settings(
                        {{"output_pads", Shape{}, "elements more at each end; all 0",
                          Setting::Need::optional, 0L},
                         {"groups", 1L, "independent groups of channels"}}),
                    .infer = types_of_conv_transpose,
                    .nest = nest_of_conv_transpose_call}};
}

}  // namespace lathe::ops
