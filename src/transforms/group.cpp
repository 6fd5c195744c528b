// group.cpp: slices the two outermost loops and keeps the instances whose slices are the same
// (the paper, section 5.1 and Algorithm 2).
//
//   group(G):   for i < N: for j < M: S(i, j)
//            -> for g < G: for i < N/G: for j < M/G: S(g*N/G + i, g*M/G + j)
//
// On (co, ci) this is the grouped convolution, and with G = Co = Ci the depthwise one. On any other
// two loops it makes operators that no list contains. Where both loops index what is written, parts
// of it are no longer written: the second argument must then be "repeat". Where one of them is a
// filter, no filter reads what the other groups do any more: "expand" and "deepen" mix the channels
// again, by a 1x1 convolution behind it.
#include <numeric>

#include "nest/roles.h"
#include "transforms/transform_neural.h"

namespace lathe::transforms {
namespace {

/// Slices the two outermost loops of the target; slices of one iteration are no loops.
std::pair<Statement, Order> sliced(const Nest& nest, const NeuralTarget& target, long groups) {
  const std::vector<Loop>& old_loops = target.order.loops;
  std::vector<Loop> loops;
  loops.push_back({fresh_name(nest, "g"), groups, old_loops[0].value, Mark::serial, {}});
  for (size_t i = 0; i < old_loops.size(); ++i) {
    Loop loop = old_loops[i];
    if (i < 2) loop.extent /= groups;
    if (i >= 2 || loop.extent > 1) loops.push_back(std::move(loop));
  }
  isl::space space = poly::tuples(target.statement.domain.ctx(), loops.size());
  isl::aff group = poly::coordinate(space, 0);
  std::vector<isl::aff> old;
  for (size_t i = 0, next = 1; i < old_loops.size(); ++i) {
    long slice = old_loops[i].extent / groups;
    bool dropped = i < 2 && slice == 1;
    isl::aff inside = dropped ? poly::constant(space, 0) : poly::coordinate(space, next++);
    old.push_back(i < 2 ? group.scale(slice).add(inside) : inside);
  }
  return reindexed(target.statement, loops, poly::tuple(space, old), {target.order.at[0]});
}

/// Builds the statement that fills the other slices: where the first loop is in slice g and the
/// second in another one, slice g of the second is copied.
Statement fill_slices(const Nest& nest, const NeuralTarget& target, long groups) {
  const Statement& old = target.statement;
  long first = target.order.loops[0].extent / groups,
       second = target.order.loops[1].extent / groups;
  Statement s;
  s.name = fresh_name(nest, "fill");
  s.dims = {fresh_name(nest, "g"), fresh_name(nest, "r"), old.dims[0], old.dims[1]};
  std::vector<long> extents{groups, groups - 1, first, second};
  std::vector<size_t> others;
  for (size_t i = 2; i < old.dims.size(); ++i) {
    if (!poly::involves(old.write.at, i)) continue;
    others.push_back(i);
    s.dims.push_back(old.dims[i]);
    extents.push_back(target.order.loops[i].extent);
  }
  s.domain = poly::box(nest.ctx(), extents);
  isl::space space = s.domain.space();
  auto at = [&](size_t i) { return poly::coordinate(space, i); };
  std::vector<isl::aff> from(old.dims.size(), poly::constant(space, 0));
  from[0] = at(0).scale(first).add(at(2));
  from[1] = at(0).scale(second).add(at(3));
  for (size_t k = 0; k < others.size(); ++k) from[others[k]] = at(4 + k);
  std::vector<isl::aff> to = from;
  isl::aff other_slice = poly::remainder(at(0).add(at(1)).add_constant(1), groups);
  to[1] = other_slice.scale(second).add(at(3));
  s.write = {old.write.tensor, old.write.at.pullback(poly::tuple(space, to))};
  s.update = Update::assign;
  s.reads = {{old.write.tensor, old.write.at.pullback(poly::tuple(space, from))}};
  s.value = read(0);
  s.origin = {s.name, poly::identity(space)};
  return s;
}

bool both_index_what_is_written(const NeuralTarget& target) {
  const isl::multi_aff& written = target.statement.write.at;
  return poly::involves(written, 0) && poly::involves(written, 1);
}

/// Which of the two outermost loops counts filters, if one does?
std::optional<size_t> filter_loop(const Nest& nest, const NeuralTarget& target) {
  for (size_t i : {0, 1}) {
    if (role_of(target.statement, nest.tensors(), i) == CoordinateRole::filter) return i;
  }
  return std::nullopt;
}

/// Which dimension of the written tensor are the channels that a 1x1 convolution can mix? Fails if
/// there is none.
size_t channel_dimension(const Nest& nest, const NeuralTarget& target,
                         const std::string& completion) {
  auto filter = filter_loop(nest, target);
  const std::vector<Loop>& loops = target.order.loops;
  if (!filter) {
    fail("{} mixes channels, and neither '{}' nor '{}' counts filters", completion, loops[0].name,
         loops[1].name);
  }
  const isl::multi_aff& written = target.statement.write.at;
  std::optional<size_t> found;
  for (unsigned d = 0; d < written.size(); ++d) {
    if (!poly::involves(written.at(static_cast<int>(d)), *filter)) continue;
    if (found) {
      fail("loop '{}' indexes two dimensions of {}", loops[*filter].name,
           nest.tensors()[target.statement.write.tensor].name);
    }
    found = d;
  }
  check(found.has_value(), "a filter indexes what is written");
  return *found;
}

/// Mixes the channels of what the groups made.
Applied mixed(const Nest& nest, const NeuralTarget& target,
              const std::pair<Statement, Order>& changed, const std::string& completion,
              std::string note) {
  size_t tensor = target.statement.write.tensor;
  if (completion != "expand" && completion != "deepen") {
    fail("every element of {} is still written: there is nothing to {}",
         nest.tensors()[tensor].name, completion);
  }
  require_only_writer(nest, target);
  size_t dimension = channel_dimension(nest, target, completion);
  Nest result =
      expanded(nest, target, changed, {dimension, "grouped"}, completion_named(completion), note);
  return {result, note};
}

Applied slice(const Nest& nest, const Arguments& args) {
  NeuralTarget target = take_target(nest);
  if (target.order.loops.size() < 2) {
    fail("statement '{}' has one loop; group slices two", target.statement.name);
  }
  if (args.has(1) && args.name(1) == "reduce") {
    fail(
        "reduce is for channels that nobody reads any more, and group reads all of them; use "
        "bottleneck on a loop of input channels");
  }
  long groups = args.number(0);
  for (size_t i : {0, 1}) {
    require_network_loop(target.order.loops[i]);
    require_divisor(target.order.loops[i], groups);
  }
  const std::string &a = target.order.loops[0].name, &b = target.order.loops[1].name;
  const std::string& tensor = nest.tensors()[target.statement.write.tensor].name;
  auto changed = sliced(nest, target, groups);
  std::string note = fmt::format("{} and {} in {} slices, each with its own", a, b, groups);
  bool gaps = both_index_what_is_written(target) && !writes_all(target, changed.first);
  if (!gaps) {
    if (args.has(1)) return mixed(nest, target, changed, args.name(1), note);
    return {assemble(nest, target, changed), note};
  }
  if (!args.has(1) || args.name(1) != "repeat") {
    fail(
        "'{}' and '{}' both index {}, so parts of it would not be written; only group({}, repeat) "
        "fills them",
        a, b, tensor, groups);
  }
  require_only_writer(nest, target);
  if (!poly::is_box_from_zero(target.statement.domain)) {
    fail(
        "the loops have a remainder, and slices of different sizes cannot be copied; split evenly");
  }
  note += fmt::format("; the rest of {} is copied from it (repeat)", tensor);
  Statement fill = without_computed(fill_slices(nest, target, groups), target, changed.first);
  return {assemble_with(nest, target, changed, nest.tensors(), {{}, {std::move(fill)}}), note};
}

std::vector<Step> candidates_of_group(const Nest& nest) {
  auto target = try_take_target(nest);
  if (!target) return {};
  const auto& loops = target->order.loops;
  if (loops.size() < 2 || loops[0].name == batch_loop || loops[1].name == batch_loop) return {};
  bool both = both_index_what_is_written(*target);
  std::vector<Step> steps;
  for (long groups : divisors(std::gcd(loops[0].extent, loops[1].extent))) {
    Step step{"group", {groups}};
    bool gaps = both && !applies(nest, step);
    if (gaps) step.args.push_back("repeat");
    if (!gaps || applies(nest, step)) steps.push_back(std::move(step));
    if (gaps || !filter_loop(nest, *target)) continue;
    for (const char* completion : {"expand", "deepen"}) {
      Step mixing{"group", {groups, completion}};
      if (applies(nest, mixing)) steps.push_back(std::move(mixing));
    }
  }
  return steps;
}

}  // namespace

Transform group() {
  return {"group",
          Transform::Kind::neural,
          {{Takes::factor}, {Takes::completion, true}},
          "for i < N: for j < M: S(i, j)  ->  for g < G: S on slice g of i and of j",
          slice,
          candidates_of_group};
}

}  // namespace lathe::transforms
