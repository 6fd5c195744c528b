// transform_expand.cpp: a 1x1 convolution behind what a neural step left, alone (expand) or with a
// batch normalisation and a ReLU before it (deepen). Interface: expanded() of transform_neural.h.
//
//   O.narrow[co, ..] += W[co, ..] * I[..]
//   O.active[co, ..] = max((O.narrow[co, ..] - mean[co]) / sqrt(variance[co] + 1e-05) * scale[co]
//                          + shift[co], 0)
//   O[co, ..] += E[co, cm] * O.active[cm, ..]
#include "nest/builder.h"
#include "transforms/transform_neural.h"

namespace lathe {
namespace {

constexpr double epsilon = 1e-5;  // what batch_norm adds if nothing is said

/// Names the loop over a dimension of the written tensor like the target's loop that counts it.
std::string loop_name(const NeuralTarget& target, size_t dimension) {
  const Statement& s = target.statement;
  auto at = coordinate_of(s, s.write.at.at(static_cast<int>(dimension)));
  return at ? s.dims[*at] : fmt::format("o{}", dimension);
}

/// Builds  O[.., co, ..] += E[co, cm] * N[.., cm, ..]  over all of O.
Statement expansion(const Nest& nest, const NeuralTarget& target, size_t dimension, long channels,
                    size_t narrow_tensor, size_t weight) {
  size_t tensor = target.statement.write.tensor;
  const std::vector<long>& shape = nest.tensors()[tensor].shape;
  Statement s;
  s.name = fresh_name(nest, "expand");
  std::vector<long> extents;
  std::vector<size_t> coordinate;  // of each dimension of O
  for (size_t d = 0; d < shape.size(); ++d) {
    coordinate.push_back(extents.size());
    s.dims.push_back(loop_name(target, d));
    extents.push_back(shape[d]);
    if (d == dimension) {
      s.dims.push_back("cm");
      extents.push_back(channels);
    }
  }
  s.domain = poly::box(nest.ctx(), extents);
  isl::space space = s.domain.space();
  std::vector<isl::aff> out, in;
  for (size_t d = 0; d < shape.size(); ++d) {
    out.push_back(poly::coordinate(space, coordinate[d]));
    in.push_back(poly::coordinate(space, coordinate[d] + (d == dimension ? 1 : 0)));
  }
  isl::aff wide = out[dimension], middle = in[dimension];
  s.write = {tensor, poly::tuple(space, out)};
  s.update = Update::add;
  s.reads = {{weight, poly::tuple(space, {wide, middle})}, {narrow_tensor, poly::tuple(space, in)}};
  s.value = call(Expr::Op::mul, {read(0), read(1)});
  s.origin = {s.name, poly::identity(space)};
  return s;
}

/// The weights of a batch normalisation, as tensors of a nest.
struct NormWeights {
  size_t scale, shift, mean, variance;
};

/// Builds  A[.., c, ..] = max((N[.., c, ..] - mean[c]) / sqrt(..) * scale[c] + shift[c], 0).
Statement normalisation(const Nest& nest, const NeuralTarget& target, const Tensor& narrow,
                        size_t dimension, size_t from, size_t to, const NormWeights& weights) {
  Statement s;
  s.name = fresh_name(nest, "normalise");
  for (size_t d = 0; d < narrow.shape.size(); ++d) s.dims.push_back(loop_name(target, d));
  s.domain = poly::box(nest.ctx(), narrow.shape);
  isl::space space = s.domain.space();
  isl::multi_aff all = poly::identity(space);
  isl::multi_aff channel = poly::tuple(space, {poly::coordinate(space, dimension)});
  auto read_of = [&](size_t tensor, const isl::multi_aff& at) {
    s.reads.push_back({tensor, at});
    return read(s.reads.size() - 1);
  };
  Expr x = read_of(from, all), scale = read_of(weights.scale, channel);
  Expr shift = read_of(weights.shift, channel), mean = read_of(weights.mean, channel);
  Expr variance = read_of(weights.variance, channel);
  Expr deviation = call(Expr::Op::sqrt, {variance + number(epsilon)});
  s.write = {to, all};
  s.update = Update::assign;
  s.value = call(Expr::Op::max, {(x - mean) / deviation * scale + shift, number(0)});
  s.origin = {s.name, poly::identity(space)};
  return s;
}

}  // namespace

Nest expanded(const Nest& nest, const NeuralTarget& target, std::pair<Statement, Order> changed,
              const Narrow& narrow, Completion completion, std::string& note) {
  size_t wide = changed.first.write.tensor, dimension = narrow.dimension;
  const std::string& how = completion_names()[static_cast<size_t>(completion)];
  auto written = first_written(changed.first, dimension);
  if (!written) fail("{} needs the first channels to be left; use repeat", how);
  long channels = *written;
  std::vector<Tensor> tensors = nest.tensors();
  auto add = [&](Tensor tensor, const std::string& name) {
    tensor.name = fresh_name(nest, name);
    tensors.push_back(std::move(tensor));
    return tensors.size() - 1;
  };
  auto add_weight = [&](const char* name, const std::vector<long>& shape) {
    std::vector<Pad> none(shape.size());
    return add({"", Role::weight, tensors[wide].element, shape, none, 0}, name);
  };
  const std::string name = tensors[wide].name;
  Tensor local = tensors[wide];
  local.role = Role::local;
  local.shape[dimension] = channels;
  size_t source = add(local, name + "." + narrow.suffix);
  changed.first.write.tensor = source;
  std::vector<Statement> after;
  std::string by = "a 1x1 convolution makes";
  if (completion == Completion::deepen) {
    size_t active = add(local, name + ".active");
    std::vector<long> shape{channels};
    NormWeights weights{add_weight("scale", shape), add_weight("shift", shape),
                        add_weight("mean", shape), add_weight("variance", shape)};
    after.push_back(normalisation(nest, target, local, dimension, source, active, weights));
    source = active;
    by = "batch normalisation, ReLU and a 1x1 convolution make";
  }
  size_t weight = add_weight("E", {tensors[wide].shape[dimension], channels});
  after.push_back(expansion(nest, target, dimension, channels, source, weight));
  note +=
      fmt::format("; {} {} of {} ({})", by, name, tensors[changed.first.write.tensor].name, how);
  return assemble_with(nest, target, changed, std::move(tensors), std::move(after));
}

}  // namespace lathe
