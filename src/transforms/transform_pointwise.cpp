// transform_pointwise.cpp: 1x1 convolutions behind and before what a neural step left. Interface:
// expanded() and reduced() of transform_neural.h.
//
// Behind it, alone (expand) or with a batch normalisation and a ReLU between (deepen):
//
//   O.narrow[co, ..] += W[co, ..] * I[..]
//   O.active[co, ..] = max((O.narrow[co, ..] - mean[co]) / sqrt(variance[co] + 1e-05) * scale[co]
//                          + shift[co], 0)
//   O[co, ..] += E[co, cm] * O.active[cm, ..]
//
// Before it, always with both between (reduce):
//
//   I.narrow[cm, ..] += D[cm, ci] * I[ci, ..]
//   I.active[cm, ..] = max((I.narrow[cm, ..] - mean[cm]) / ..., 0)
//   O[..] += W[.., ci, ..] * I.active[ci, ..]
#include <algorithm>

#include "nest/builder.h"
#include "program/convolution.h"
#include "transforms/transform_neural.h"

namespace lathe {
namespace {

constexpr double epsilon = 1e-5;  // what batch_norm adds if nothing is said

/// Names the loops over a tensor's dimensions like the target's loops that count them; where none
/// does alone, by a letter and the dimension's number.
std::vector<std::string> loop_names(const NeuralTarget& target, const Access& access, char letter) {
  const Statement& s = target.statement;
  std::vector<std::string> names;
  for (unsigned d = 0; d < access.at.size(); ++d) {
    auto at = coordinate_of(s, access.at.at(static_cast<int>(d)));
    names.push_back(at ? s.dims[*at] : fmt::format("{}{}", letter, d));
  }
  return names;
}

/// Tensors and statements while a completion adds them to a nest.
class Addition {
 public:
  /// Channels are dimension "dimension" of all that is added, and as many as "channels".
  Addition(const Nest& nest, size_t dimension, long channels)
      : nest_(nest), tensors_(nest.tensors()), dimension_(dimension), channels_(channels) {}

  const Tensor& tensor(size_t t) const { return tensors_[t]; }
  std::vector<Tensor> tensors() && { return std::move(tensors_); }

  /// Adds a local tensor that is like another one, but for its channels.
  size_t add_like(size_t other, const std::string& suffix) {
    Tensor local = tensors_[other];
    local.name = fresh_name(nest_, nest_.tensors()[other].name + "." + suffix);
    local.role = Role::local;
    local.shape[dimension_] = channels_;
    tensors_.push_back(std::move(local));
    return tensors_.size() - 1;
  }

  /// The same without padding.
  size_t add_bare(size_t other, const std::string& suffix) {
    size_t added = add_like(other, suffix);
    tensors_[added].shape = inner_shape(tensors_[added]);
    tensors_[added].pad.assign(tensors_[added].shape.size(), {});
    return added;
  }

  size_t add_weight(const char* name, const std::vector<long>& shape, Element element) {
    std::vector<Pad> none(shape.size());
    tensors_.push_back({fresh_name(nest_, name), Role::weight, element, shape, none, 0});
    return tensors_.size() - 1;
  }

  /// Builds  to[.., c, ..] += weight[c, r] * from[.., r, ..]  over all of "to" but its padding;
  /// "reads" names loop r, "loops" the others.
  Statement pointwise(const char* name, std::vector<std::string> loops, const std::string& reads,
                      size_t to, size_t weight, size_t from) const {
    Statement s;
    s.name = fresh_name(nest_, name);
    std::vector<long> extents = inner_shape(tensors_[to]);
    auto behind = static_cast<long>(dimension_) + 1;
    extents.insert(extents.begin() + behind, inner_shape(tensors_[from])[dimension_]);
    loops.insert(loops.begin() + behind, reads);
    s.dims = std::move(loops);
    s.domain = poly::box(nest_.ctx(), extents);
    isl::space space = s.domain.space();
    isl::aff written = poly::coordinate(space, dimension_);
    isl::aff read_at = poly::coordinate(space, dimension_ + 1);
    std::vector<isl::aff> others;
    for (size_t i = 0; i < extents.size(); ++i) {
      if (i != dimension_ + 1) others.push_back(poly::coordinate(space, i));
    }
    std::vector<isl::aff> sources = others;
    sources[dimension_] = read_at;
    s.write = {to, inside(to, space, others)};
    s.update = Update::add;
    s.reads = {{weight, poly::tuple(space, {written, read_at})},
               {from, inside(from, space, sources)}};
    s.value = call(Expr::Op::mul, {read(0), read(1)});
    s.origin = {s.name, poly::identity(space)};
    return s;
  }

  /// Builds  to[.., c, ..] = max((from[.., c, ..] - mean[c]) / sqrt(..) * scale[c] + shift[c], 0),
  /// and adds its weights.
  Statement normalisation(std::vector<std::string> loops, size_t to, size_t from) {
    Element element = tensors_[to].element;
    auto of_channel = [&](const char* name) { return add_weight(name, {channels_}, element); };
    size_t scales = of_channel("scale"), shifts = of_channel("shift");
    size_t means = of_channel("mean"), variances = of_channel("variance");
    Statement s;
    s.name = fresh_name(nest_, "normalise");
    s.dims = std::move(loops);
    s.domain = poly::box(nest_.ctx(), inner_shape(tensors_[to]));
    isl::space space = s.domain.space();
    std::vector<isl::aff> all = poly::parts(poly::identity(space));
    isl::multi_aff channel = poly::tuple(space, {poly::coordinate(space, dimension_)});
    auto read_of = [&](size_t tensor, const isl::multi_aff& at) {
      s.reads.push_back({tensor, at});
      return read(s.reads.size() - 1);
    };
    Expr x = read_of(from, inside(from, space, all)), scale = read_of(scales, channel);
    Expr shift = read_of(shifts, channel), mean = read_of(means, channel);
    Expr variance = read_of(variances, channel);
    Expr deviation = call(Expr::Op::sqrt, {variance + number(epsilon)});
    s.write = {to, inside(to, space, all)};
    s.update = Update::assign;
    s.value = call(Expr::Op::max, {(x - mean) / deviation * scale + shift, number(0)});
    s.origin = {s.name, poly::identity(space)};
    return s;
  }

 private:
  const Nest& nest_;
  std::vector<Tensor> tensors_;
  size_t dimension_;
  long channels_;

  /// Returns the access to the elements behind the padding of a tensor.
  isl::multi_aff inside(size_t tensor, const isl::space& space, std::vector<isl::aff> at) const {
    for (size_t d = 0; d < at.size(); ++d) {
      at[d] = at[d].add_constant(tensors_[tensor].pad[d].before);
    }
    return poly::tuple(space, at);
  }
};

/// A read of a statement, and the dimension of its tensor that counts channels.
struct ChannelRead {
  size_t read, dimension;
};

/// Finds what loop "depth" of the target counts the channels of.
ChannelRead find_channels(const Nest& nest, const NeuralTarget& target, size_t depth) {
  const Statement& s = target.statement;
  std::vector<ChannelRead> found;
  for (size_t r = 0; r < s.reads.size(); ++r) {
    if (nest.tensors()[s.reads[r].tensor].role == Role::weight) continue;
    for (unsigned d = 0; d < s.reads[r].at.size(); ++d) {
      if (poly::involves(s.reads[r].at.at(static_cast<int>(d)), depth)) found.push_back({r, d});
    }
  }
  if (found.size() != 1) {
    fail("loop '{}' indexes {} dimensions of what is read, and reduce makes the channels of one",
         target.order.loops[depth].name, found.size());
  }
  return found.front();
}

/// Checks that a completion does not add real weights among integers that stand for real numbers.
void require_real(const Nest& nest, const Statement& s, const std::string& how) {
  Element sum = nest.tensors()[s.write.tensor].element;
  bool same = std::all_of(s.reads.begin(), s.reads.end(), [&](const Access& read) {
    return nest.tensors()[read.tensor].element == sum;
  });
  if (same || is_float(sum)) return;
  fail("'{}' adds up integers, and {} brings weights that are none; let it come before quantize",
       s.name, how);
}

}  // namespace

Nest expanded(const Nest& nest, const NeuralTarget& target, std::pair<Statement, Order> changed,
              const Narrow& narrow, Completion completion, std::string& note) {
  size_t wide = changed.first.write.tensor, dimension = narrow.dimension;
  const std::string& how = completion_names()[static_cast<size_t>(completion)];
  require_real(nest, target.statement, how);
  auto channels =
      first_reached(changed.first, changed.first.write.at.at(static_cast<int>(dimension)));
  if (!channels) fail("{} needs the first channels to be left; use repeat", how);
  std::vector<std::string> loops = loop_names(target, target.statement.write, 'o');
  Addition add(nest, dimension, *channels);
  size_t source = add.add_like(wide, narrow.suffix);
  changed.first.write.tensor = source;
  Added added;
  std::string by = "a 1x1 convolution makes";
  if (completion == Completion::deepen) {
    size_t active = add.add_like(wide, "active");
    added.after.push_back(add.normalisation(loops, active, source));
    source = active;
    by = "batch normalisation, ReLU and a 1x1 convolution make";
  }
  const Tensor output = add.tensor(wide);
  size_t weight = add.add_weight("E", {output.shape[dimension], *channels}, output.element);
  added.after.push_back(add.pointwise("expand", loops, "cm", wide, weight, source));
  note += fmt::format("; {} {} of {} ({})", by, output.name,
                      add.tensor(changed.first.write.tensor).name, how);
  return assemble_with(nest, target, changed, std::move(add).tensors(), std::move(added));
}

Nest reduced(const Nest& nest, const NeuralTarget& target, std::pair<Statement, Order> changed,
             size_t depth, std::string& note) {
  require_real(nest, target.statement, "reduce");
  auto [read, dimension] = find_channels(nest, target, depth);
  Access& access = changed.first.reads[read];
  auto channels = first_reached(changed.first, access.at.at(static_cast<int>(dimension)));
  if (!channels) {
    fail(
        "reduce needs the first input channels to be left; let it come before the step that puts "
        "them into groups");
  }
  size_t input = access.tensor;
  const Tensor whole = nest.tensors()[input];
  std::vector<std::string> loops = loop_names(target, target.statement.reads[read], 'i');
  const std::string all = target.order.loops[depth].name;
  loops[dimension] = "cm";
  Addition add(nest, dimension, *channels);
  // Windows read the padding of what is made, as they read that of the input: it stays zero.
  size_t narrow = add.add_bare(input, "narrow"), active = add.add_like(input, "active");
  size_t weight = add.add_weight("D", {*channels, inner_shape(whole)[dimension]}, whole.element);
  Added added;
  added.before.push_back(add.pointwise("reduce", loops, all, narrow, weight, input));
  added.before.push_back(add.normalisation(loops, active, narrow));
  access.tensor = active;
  note += fmt::format("; a 1x1 convolution, batch normalisation and ReLU make {} of {} (reduce)",
                      add.tensor(active).name, whole.name);
  return assemble_with(nest, target, changed, std::move(add).tensors(), std::move(added));
}

}  // namespace lathe
