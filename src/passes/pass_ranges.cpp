// pass_ranges.cpp: ranges of values, from the nests that compute them. Interface: pass_ranges.h.
#include "passes/pass_ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/op.h"

namespace lathe::passes {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Range any{-infinity, infinity};

/// A range, and whether all numbers in it are integers.
struct Numbers {
  Range range = any;
  bool whole = false;
};

bool is_integer(Element element) { return is_integral(element) && element != Element::boolean; }

Numbers numbers_of(Element element) {
  if (element == Element::boolean) return {{0, 1}, true};
  if (!is_integer(element)) return {};
  return {{static_cast<double>(lowest_of(element)), static_cast<double>(highest_of(element))},
          true};
}

Range product(const Range& a, const Range& b) {
  auto times = [](double x, double y) { return x == 0 || y == 0 ? 0 : x * y; };
  std::vector<double> ends{times(a.least, b.least), times(a.least, b.greatest),
                           times(a.greatest, b.least), times(a.greatest, b.greatest)};
  auto [least, greatest] = std::minmax_element(ends.begin(), ends.end());
  return {*least, *greatest};
}

/// Returns what an expression can be, if its reads can be "reads".
Numbers numbers_of(const Expr& e, const std::vector<Numbers>& reads) {
  using Op = Expr::Op;
  if (e.op == Op::number) return {{e.number, e.number}, e.number == std::round(e.number)};
  if (e.op == Op::read) return reads[e.read];
  std::vector<Numbers> args;
  for (const Expr& arg : e.args) args.push_back(numbers_of(arg, reads));
  Range a = args[0].range, b = args.size() > 1 ? args[1].range : any;
  bool whole =
      std::all_of(args.begin(), args.end(), [](const Numbers& numbers) { return numbers.whole; });
  switch (e.op) {
    case Op::neg:
      return {{-a.greatest, -a.least}, whole};
    case Op::add:
      return {{a.least + b.least, a.greatest + b.greatest}, whole};
    case Op::sub:
      return {{a.least - b.greatest, a.greatest - b.least}, whole};
    case Op::mul:
      return {product(a, b), whole};
    case Op::max:
      return {{std::max(a.least, b.least), std::max(a.greatest, b.greatest)}, whole};
    case Op::min:
      return {{std::min(a.least, b.least), std::min(a.greatest, b.greatest)}, whole};
    case Op::round:
      return {a, true};
    case Op::single:
      return {a, whole};
    default:
      return {};
  }
}

/// Returns how many instances of a statement write one element, at most.
double updates_of_one(const Statement& s) {
  std::vector<long> extents_of_dims = extents(plain_order(s, {0}));
  double count = 1;
  isl_set* others = s.domain.copy();
  for (size_t i = 0; i < s.dims.size(); ++i) {
    if (poly::involves(s.write.at, i)) continue;
    count *= static_cast<double>(extents_of_dims[i]);
    others = isl_set_fix_si(others, isl_dim_set, static_cast<unsigned>(i), 0);
  }
  bool one_each = s.write.at.as_map().intersect_domain(isl::manage(others)).is_injective();
  return one_each ? count : infinity;
}

Range joined(const Range& a, const Range& b) {
  return {std::min(a.least, b.least), std::max(a.greatest, b.greatest)};
}

/// Returns what the only output of a nest can be, before it is stored as its type.
Numbers output_of(const Nest& nest, const std::vector<Numbers>& operands) {
  std::vector<std::optional<Numbers>> tensors;
  size_t next = 0, output = 0;
  for (const Tensor& tensor : nest.tensors()) {
    bool given = tensor.role == Role::input || tensor.role == Role::weight;
    tensors.push_back(given ? std::optional(operands.at(next++)) : std::nullopt);
    if (given && tensor.shape != inner_shape(tensor)) {
      tensors.back()->range = joined(tensors.back()->range, {tensor.padding, tensor.padding});
    }
    if (tensor.role == Role::output) output = tensors.size() - 1;
  }
  for (const Statement& s : nest.statements()) {
    std::vector<Numbers> reads;
    for (const Access& read : s.reads) {
      const auto& known = tensors[read.tensor];
      reads.push_back(known && !picks(s.value) ? *known : Numbers{});
    }
    Numbers value = numbers_of(s.value, reads);
    if (s.update == Update::add) {
      double count = updates_of_one(s);
      value.range = {std::min(0.0, value.range.least) * count,
                     std::max(0.0, value.range.greatest) * count};
    }
    std::optional<Numbers>& to = tensors[s.write.tensor];
    if (!to) {
      to = value;
    } else if (s.update == Update::add) {
      *to = {{to->range.least + value.range.least, to->range.greatest + value.range.greatest},
             to->whole && value.whole};
    } else {
      *to = {joined(to->range, value.range), to->whole && value.whole};
    }
  }
  return tensors[output].value_or(Numbers{});
}

/// Returns what a node computes, before it is stored.
Numbers computed(const Graph& graph, const std::vector<Range>& ranges, const Node& node) {
  Call call = call_of(graph, node);
  if (node.outputs.size() != 1 || !has_nest(call)) return {};
  std::vector<Numbers> operands;
  for (ValueId id : node.inputs) {
    if (id == no_value) continue;
    operands.push_back({ranges[id], is_integral(graph.values[id].type.element)});
  }
  Context context;
  return output_of(nest_of(context, call), operands);
}

bool is_within(const Range& range, const Range& type) {
  return range.least >= type.least && range.greatest <= type.greatest;
}

}  // namespace

Range range_of(const Array& data) {
  std::vector<double> numbers = data.reals();
  if (numbers.empty()) return {0, 0};
  auto [least, greatest] = std::minmax_element(numbers.begin(), numbers.end());
  return {*least, *greatest};
}

std::vector<Range> ranges_of(const Graph& graph) {
  std::vector<Range> ranges;
  for (const Value& value : graph.values) {
    bool known = value.data && is_integer(value.type.element);
    ranges.push_back(known ? range_of(*value.data) : numbers_of(value.type.element).range);
  }
  for (const Node& node : graph.nodes) {
    if (node.outputs.size() != 1) continue;
    const Type& type = graph.values[node.outputs[0]].type;
    if (!is_integer(type.element) || type.dynamic) continue;
    Numbers numbers = computed(graph, ranges, node);
    if (is_within(numbers.range, ranges[node.outputs[0]])) ranges[node.outputs[0]] = numbers.range;
  }
  return ranges;
}

bool fits_its_type(const Graph& graph, const std::vector<Range>& ranges, const Node& node) {
  Element element = graph.values[node.outputs[0]].type.element;
  if (is_float(element)) return true;
  if (!is_integer(element)) return false;
  Numbers numbers = computed(graph, ranges, node);
  return numbers.whole && is_within(numbers.range, numbers_of(element).range);
}

}  // namespace lathe::passes
