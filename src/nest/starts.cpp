// starts.cpp: what accumulates begins at its neutral element. Interface: starts.h.
#include "nest/starts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/array.h"
#include "poly/relation.h"

namespace lathe {
namespace {

double neutral_of(Update update, Element element) {
  if (update != Update::maximum) return 0;
  // Memory of integers cannot hold an infinity.
  if (is_integral(element)) return static_cast<double>(lowest_of(element));
  return -std::numeric_limits<double>::infinity();
}

/// Returns the statement that sets every element of a tensor.
Statement filling(const Nest& nest, size_t tensor, double value) {
  const std::vector<long>& shape = nest.tensors()[tensor].shape;
  Statement s;
  s.name = fresh_name(nest, "start");
  s.domain = poly::box(nest.ctx(), shape);
  for (size_t i = 0; i < shape.size(); ++i) s.dims.push_back(fmt::format("i{}", i));
  s.write = {tensor, poly::identity(s.domain.space())};
  s.value = number(value);
  s.origin = {s.name, poly::identity(s.domain.space())};
  return s;
}

/// Returns the statement that sets the elements which "writer" updates, over those of its own
/// coordinates that tell them apart; nothing if they do not tell.
std::optional<Statement> starting(const Nest& nest, const Statement& writer) {
  if (writer.domain.is_empty()) return std::nullopt;
  Statement s;
  s.name = fresh_name(nest, "start");
  std::vector<long> extents;
  std::vector<size_t> used;
  long instances = 1;
  for (size_t i = 0; i < writer.dims.size(); ++i) {
    if (!poly::involves(writer.write.at, i)) continue;
    used.push_back(i);
    s.dims.push_back(writer.dims[i]);
    // Windows at a border are cut, but each element has one: its coordinates make a box.
    poly::Interval side = poly::range(writer.domain, i);
    if (side.lower != 0) return std::nullopt;
    extents.push_back(side.upper + 1);
    instances *= extents.back();
  }
  if (instances != count_of(nest.tensors()[writer.write.tensor].shape)) return std::nullopt;
  if (poly::count_image(writer.domain, writer.write.at) != instances) return std::nullopt;
  s.domain = poly::box(nest.ctx(), extents);
  isl::space space = s.domain.space();
  std::vector<isl::aff> all(writer.dims.size(), poly::constant(space, 0));
  for (size_t k = 0; k < used.size(); ++k) all[used[k]] = poly::coordinate(space, k);
  s.write = {writer.write.tensor, writer.write.at.pullback(poly::tuple(space, all))};
  s.value = number(neutral_of(writer.update, nest.tensors()[writer.write.tensor].element));
  s.origin = {s.name, poly::identity(space)};
  return s;
}

/// Counts the elements of all images together.
long count_elements(const std::vector<poly::Image>& images) {
  return images.size() == 1 ? poly::count_image(images[0].set, images[0].function)
                            : poly::count_union(images);
}

/// Does a statement add to elements of a tensor that none has set before?
bool adds_to_unset(const Nest& nest, size_t tensor) {
  const std::vector<Statement>& statements = nest.statements();
  for (size_t u = 0; u < statements.size(); ++u) {
    if (statements[u].write.tensor != tensor || statements[u].update == Update::assign) continue;
    std::vector<poly::Image> set;
    for (size_t a = 0; a < statements.size(); ++a) {
      const Statement& s = statements[a];
      bool sets = s.write.tensor == tensor && s.update == Update::assign;
      if (sets && nest.order[a].at < nest.order[u].at) set.push_back({s.domain, s.write.at});
    }
    if (set.empty()) return true;
    long count = count_elements(set);
    if (count == count_of(nest.tensors()[tensor].shape)) continue;
    set.push_back({statements[u].domain, statements[u].write.at});
    if (count_elements(set) > count) return true;
  }
  return false;
}

/// Returns the statement that a tensor needs before all others, if it needs one.
std::optional<Statement> start_of(const Nest& nest, size_t tensor) {
  std::vector<const Statement*> writers;
  for (const Statement& s : nest.statements()) {
    if (s.write.tensor == tensor) writers.push_back(&s);
  }
  if (writers.empty()) return std::nullopt;
  const Statement& first = *writers.front();
  const Tensor& t = nest.tensors()[tensor];
  if (first.update != Update::assign) {
    std::optional<Statement> own;
    if (writers.size() == 1) own = starting(nest, first);
    return own ? own : filling(nest, tensor, neutral_of(first.update, t.element));
  }
  bool padded = std::any_of(t.pad.begin(), t.pad.end(), [](Pad p) { return p != Pad{}; });
  if (t.role == Role::local) {
    bool is_set = first.value.op == Expr::Op::number;  // by an earlier start
    if (padded && !is_set) return filling(nest, tensor, t.padding);
    return adds_to_unset(nest, tensor) ? std::optional(filling(nest, tensor, 0)) : std::nullopt;
  }
  std::vector<poly::Image> assigned;
  for (const Statement* s : writers) {
    if (s->update == Update::assign) assigned.push_back({s->domain, s->write.at});
  }
  if (count_elements(assigned) == count_of(t.shape)) return std::nullopt;
  return filling(nest, tensor, 0);
}

/// Returns the outermost place of the first statement that touches a tensor.
long first_place(const Nest& nest, size_t tensor) {
  long first = std::numeric_limits<long>::max();
  for (size_t i = 0; i < nest.statements().size(); ++i) {
    const Statement& s = nest.statements()[i];
    bool touches = s.write.tensor == tensor ||
                   std::any_of(s.reads.begin(), s.reads.end(),
                               [&](const Access& a) { return a.tensor == tensor; });
    if (touches) first = std::min(first, nest.order[i].at[0]);
  }
  return first;
}

}  // namespace

Nest with_starts(const Nest& nest) {
  Nest result = nest;
  for (size_t tensor = 0; tensor < nest.tensors().size(); ++tensor) {
    auto start = start_of(result, tensor);
    if (!start) continue;
    std::vector<Statement> statements = result.statements();
    std::vector<Order> order = result.order;
    // Just before the first that touches the tensor, so that they can share loops.
    std::vector<long> at(start->dims.size() + 1, 0);
    at[0] = first_place(result, tensor);
    for (Order& o : order) o.at[0] += o.at[0] >= at[0] ? 1 : 0;
    // Listed first: the first statement of a tensor says what it starts at.
    order.insert(order.begin(), plain_order(*start, at));
    statements.insert(statements.begin(), std::move(*start));
    result = assemble_nest(nest.name, nest.tensors(), std::move(statements), std::move(order));
  }
  return result;
}

}  // namespace lathe
