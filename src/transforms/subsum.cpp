// subsum.cpp: adds up the products of a loop's body on their own, in a narrower type.
//
//   subsum(i, f16):   for i: for j: S += W[i, j] * I[i, j]
//                 ->  for i: { P[i] = 0;  for j: P[i] += W[i, j] * I[i, j];  S += P[i] }
//
// P is of f16, and so is the arithmetic on it, of which a processor does twice as much in a cycle.
// Its sums are short, so they lose little; S stays as it was.
#include <algorithm>

#include "transforms/transform_loops.h"
#include "transforms/transform_neural.h"
#include "transforms/transform_toom.h"

namespace lathe::transforms {
namespace {

/// The sum that is taken apart.
struct Sum {
  size_t statement, depth;   // of the loop in whose body products are added up
  std::vector<size_t> kept;  // loops that tell the partial sums apart
  long products = 1;         // of one partial sum
};

/// Finds the loops of a sum inside another loop; none: it adds one product only.
Sum sum_inside(const Nest& nest, const LoopRef& ref) {
  auto [in_loops, plain] = rebased(nest.statements()[ref.statement], nest.order[ref.statement]);
  Sum sum{ref.statement, ref.depth, {}, 1};
  for (size_t i = 0; i < in_loops.dims.size(); ++i) {
    if (i <= ref.depth || poly::involves(in_loops.write.at, i)) {
      sum.kept.push_back(i);
    } else {
      sum.products *= plain.loops[i].extent;
    }
  }
  return sum;
}

Sum find_sum(const Nest& nest, const std::string& loop) {
  for (const LoopRef& ref : resolve(nest, loop)) {
    const Statement& s = nest.statements()[ref.statement];
    if (s.update != Update::add || !is_product(s.value)) continue;
    Sum sum = sum_inside(nest, ref);
    if (sum.products > 1) return sum;
  }
  fail("inside loop '{}' no products are added up", loop);
}

/// Returns a statement over the loops that are kept, which has no reads and no value yet.
Statement over_kept_loops(const Nest& nest, const Statement& in_loops, const Sum& sum,
                          const char* name) {
  Statement s;
  s.name = fresh_name(nest, in_loops.name + name);
  isl_set* domain = in_loops.domain.copy();
  for (size_t i = in_loops.dims.size(); i-- > 0;) {
    if (std::find(sum.kept.begin(), sum.kept.end(), i) != sum.kept.end()) continue;
    domain = isl_set_project_out(domain, isl_dim_set, static_cast<unsigned>(i), 1);
  }
  s.domain = poly::boxed(isl::manage(domain));
  for (size_t i : sum.kept) s.dims.push_back(in_loops.dims[i]);
  s.origin = {s.name, poly::identity(s.domain.space())};
  return s;
}

/// Returns where the sum is, as a function of the loops that are kept.
isl::multi_aff of_kept_loops(const isl::multi_aff& at, const Statement& in_loops, const Sum& sum,
                             const isl::space& space) {
  std::vector<isl::aff> all(in_loops.dims.size(), poly::constant(space, 0));
  for (size_t k = 0; k < sum.kept.size(); ++k) all[sum.kept[k]] = poly::coordinate(space, k);
  return at.pullback(poly::tuple(space, all));
}

/// Places a statement in the body of the loop, like the sum but for the loops that it lacks.
Order order_like(const Order& order, const Statement& s, const Sum& sum, long further) {
  std::vector<long> at(order.at.begin(), order.at.begin() + static_cast<long>(sum.depth) + 2);
  at.back() += further;
  Order result = plain_order(s, at);
  for (size_t k = 0; k < sum.kept.size(); ++k) {
    const Loop& loop = order.loops[sum.kept[k]];
    result.loops[k].extent = loop.extent;
    result.loops[k].mark = loop.mark;
    if (sum.kept[k] <= sum.depth) result.loops[k].prefetches = loop.prefetches;
  }
  return result;
}

Applied take_apart(const Nest& nest, const Arguments& args) {
  Sum sum = find_sum(nest, args.name(0));
  Element element = *element_named(args.name(1));
  auto [in_loops, plain] = rebased(nest.statements()[sum.statement], nest.order[sum.statement]);
  std::vector<Tensor> tensors = nest.tensors();
  std::string total_name = tensors[in_loops.write.tensor].name;
  size_t part = tensors.size();
  Tensor partial{fresh_name(nest, total_name + ".part"), Role::local, element, {}, {}, 0};
  for (size_t i : sum.kept) partial.shape.push_back(plain.loops[i].extent);
  partial.pad.resize(partial.shape.size());
  tensors.push_back(partial);

  Statement start = over_kept_loops(nest, in_loops, sum, ".start");
  isl::space space = start.domain.space();
  start.write = {part, poly::identity(space)};
  start.value = number(0);
  Statement total = over_kept_loops(nest, in_loops, sum, ".total");
  total.write = {in_loops.write.tensor, of_kept_loops(in_loops.write.at, in_loops, sum, space)};
  total.update = Update::add;
  total.reads = {{part, poly::identity(space)}};
  total.value = read(0);

  std::vector<Statement> statements = nest.statements();
  std::vector<Order> orders = nest.order;
  for (Order& o : orders) {
    for (long& at : o.at) at = 3 * at + 1;
  }
  Statement& user = statements[sum.statement];
  const Order& order = orders[sum.statement];
  std::vector<isl::aff> index;
  for (size_t i : sum.kept) index.push_back(order.loops[i].value);
  user.write = {part, poly::tuple(user.domain.space(), index)};
  Order before = order_like(order, start, sum, -1), after = order_like(order, total, sum, 1);
  // Listed first: the first statement of a tensor says what it starts at.
  statements.push_back(std::move(start));
  orders.push_back(std::move(before));
  statements.push_back(std::move(total));
  orders.push_back(std::move(after));
  double error = expected_error_of_sum(sum.products, unit_of(element));
  std::string note = fmt::format(
      "{} products at a time are added up in {}; the error stays below {:.1e} of the outputs' root "
      "mean square, for data without structure",
      sum.products, args.name(1), error);
  return {assemble_nest(nest.name, std::move(tensors), std::move(statements), std::move(orders)),
          note, error};
}

std::vector<Step> candidates_of_subsum(const Nest& nest) {
  std::vector<Step> steps;
  for (const std::string& loop : loop_names(nest)) {
    Step step{"subsum", {loop, std::string("f16")}};
    if (applies(nest, step)) steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace

Transform subsum() {
  return {"subsum",
          Transform::Kind::algebraic,
          {{Takes::loop}, {Takes::element}},
          "for i: for j: S += x  ->  for i: { P[i] = 0; for j: P[i] += x; S += P[i] }",
          take_apart,
          candidates_of_subsum};
}

}  // namespace lathe::transforms
