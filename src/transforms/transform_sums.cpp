// transform_sums.cpp: sums in two stages. Interface: transform_sums.h.
#include "transforms/transform_sums.h"

#include <algorithm>

#include "transforms/transform_loops.h"
#include "transforms/transform_neural.h"

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

/// Checks that nothing uses the sums before their totals are there: these come behind all that
/// shares so many loops with the sum and the place inside them.
void check_unused(const Nest& nest, const Sum& sum, size_t around, const std::string& loop) {
  const Statement& main = nest.statements()[sum.statement];
  const std::vector<long>& place = nest.order[sum.statement].at;
  for (size_t i = 0; i < nest.statements().size(); ++i) {
    const Statement& s = nest.statements()[i];
    const std::vector<long>& at = nest.order[i].at;
    bool is_beside =
        i != sum.statement && at.size() > around &&
        std::equal(at.begin(), at.begin() + static_cast<long>(around) + 1, place.begin());
    bool adds = s.write.tensor == main.write.tensor && s.update != Update::assign;
    bool uses = adds || std::any_of(s.reads.begin(), s.reads.end(), [&](const Access& read) {
                  return read.tensor == main.write.tensor;
                });
    if (is_beside && uses) {
      fail("inside loop '{}', {} uses the sums of {} before they would be complete", loop, s.name,
           main.name);
    }
  }
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

/// Places a statement beside the sum, inside so many loops of it; it lacks some of the others.
Order order_like(const Order& order, const Statement& s, const Sum& sum, size_t inside,
                 long further) {
  std::vector<long> at(order.at.begin(), order.at.begin() + static_cast<long>(inside) + 1);
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

}  // namespace

PartialSums with_sums_apart(const Nest& nest, const std::string& loop, std::optional<Element> type,
                            Total where) {
  Sum sum = find_sum(nest, loop);
  size_t inside = sum.depth + 1, around = where == Total::inside ? inside : sum.depth;
  check_unused(nest, sum, around, loop);
  auto [in_loops, plain] = rebased(nest.statements()[sum.statement], nest.order[sum.statement]);
  std::vector<Tensor> tensors = nest.tensors();
  std::string total_name = tensors[in_loops.write.tensor].name;
  Element element = type.value_or(tensors[in_loops.write.tensor].element);
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
  Statement handed = over_kept_loops(nest, in_loops, sum, ".part");
  if (where == Total::after) {
    total.reads[0].tensor = tensors.size();
    handed.write = {tensors.size(), poly::identity(space)};
    handed.reads = {{part, poly::identity(space)}};
    handed.value = read(0);
    partial.name = fresh_name(nest, total_name + ".parts");
    tensors.push_back(partial);
  }

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
  Order before = order_like(order, start, sum, inside, -1);
  Order last = order_like(order, handed, sum, inside, 1);
  Order after = order_like(order, total, sum, around, 1);
  // Listed first: the first statement of a tensor says what it starts at.
  statements.push_back(std::move(start));
  orders.push_back(std::move(before));
  if (where == Total::after) {
    statements.push_back(std::move(handed));
    orders.push_back(std::move(last));
  }
  statements.push_back(std::move(total));
  orders.push_back(std::move(after));
  Nest apart =
      assemble_nest(nest.name, std::move(tensors), std::move(statements), std::move(orders));
  return {std::move(apart), sum.products};
}

}  // namespace lathe::transforms
