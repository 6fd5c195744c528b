// unique.cpp: the different elements of a tensor, or its different slices along a dimension.
//
// Outputs: the elements; where each is first; for every element of the input which of them it is;
// how often each is there.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/op_check.h"
#include "ops/op_data.h"

namespace lathe::ops {
namespace {

bool is_flat(const Call& call) { return call.flag("flat"); }

std::vector<Type> types_of_unique(const Call& call) {
  check_number(call, 0);
  call.flag("sorted");
  if (!is_flat(call)) call.axis("axis", call.shape(0).size());
  Type indices{Element::i64, {}, true};
  return {{call.element(0), {}, true}, indices, indices, indices};
}

/// Orders numbers; what is none comes last.
bool is_before(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }
bool is_before(long a, long b) { return a < b; }

/// Equal slices: the first of them, and how many there are.
struct Group {
  long first, count;
};

struct Groups {
  std::vector<Group> list;
  std::vector<long> of_slice;  ///< which group a slice is in
};

/// Groups "count" slices that "before" orders.
template <class Before>
Groups grouped(long count, Before before, bool sorted) {
  std::vector<long> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), before);
  std::vector<std::vector<long>> members;
  for (long slice : order) {
    if (members.empty() || before(members.back().front(), slice)) members.emplace_back();
    members.back().push_back(slice);
  }
  if (!sorted) {
    std::sort(members.begin(), members.end(),
              [](const auto& a, const auto& b) { return a.front() < b.front(); });
  }
  Groups groups{{}, std::vector<long>(order.size())};
  for (const std::vector<long>& equal : members) {
    for (long slice : equal) {
      groups.of_slice[static_cast<size_t>(slice)] = static_cast<long>(groups.list.size());
    }
    groups.list.push_back({equal.front(), static_cast<long>(equal.size())});
  }
  return groups;
}

template <class T>
Groups groups_of(const Array& array, const Lines& lines, bool sorted) {
  std::vector<std::vector<T>> slices(static_cast<size_t>(lines.extent));
  std::vector<T> values = numbers<T>(array);
  lines.each([&](long outer, long inner) {
    for (long i = 0; i < lines.extent; ++i) {
      T value = values[static_cast<size_t>(lines.at(outer, i, inner))];
      slices[static_cast<size_t>(i)].push_back(value);
    }
  });
  auto before = [&](long a, long b) {
    const auto &x = slices[static_cast<size_t>(a)], &y = slices[static_cast<size_t>(b)];
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end(),
                                        [](T s, T t) { return is_before(s, t); });
  };
  return grouped(lines.extent, before, sorted);
}

std::vector<Array> run_unique(const Call& call, const std::vector<Array>& inputs) {
  Array array = is_flat(call) ? inputs[0].with_shape({inputs[0].count()}) : inputs[0];
  size_t axis = is_flat(call) ? 0 : call.axis("axis", array.shape().size());
  Lines lines(array.shape(), axis);
  Groups groups = on_numbers(array.element(), [&](auto zero) {
    return groups_of<decltype(zero)>(array, lines, call.flag("sorted"));
  });
  auto count = static_cast<long>(groups.list.size());
  std::vector<long> first, counts, sources;
  for (const Group& group : groups.list) {
    first.push_back(group.first);
    counts.push_back(group.count);
  }
  for (long outer = 0; outer < lines.outers; ++outer) {
    for (long i : first) {
      for (long inner = 0; inner < lines.inners; ++inner)
        sources.push_back(lines.at(outer, i, inner));
    }
  }
  Shape shape = array.shape();
  shape[axis] = count;
  return {picked(array, shape, sources), array_of(Element::i64, {count}, first),
          array_of(Element::i64, {lines.extent}, groups.of_slice),
          array_of(Element::i64, {count}, counts)};
}

}  // namespace

Op unique() {
  return {.name = "unique",
          .summary = "different elements, or different slices along a dimension",
          .examples = {"unique(i64[6])", "unique(f32[3x4], axis=1, flat=0, sorted=0)"},
          .graph = {.settings = {{"axis", 0L, "the dimension of the slices"},
                                 {"flat", 1L, "1: elements, in whichever dimension they are"},
                                 {"sorted", 1L, "0: in the order in which they are found"}},
                    .infer = types_of_unique,
                    .run = run_unique}};
}

}  // namespace lathe::ops
