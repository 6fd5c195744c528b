// import_sequence.cpp: ONNX's lists of tensors. Lengths and places are known, so no list is left in
// the graph.
#include <algorithm>

#include "onnx/site.h"

namespace lathe {
namespace {

/// Returns a place in a list of "count"; operand i says which, negative ones count from the end.
size_t place(const Site& site, size_t i, size_t count, size_t last) {
  if (!site.has(i)) return last;
  long at = site.required(i, "the position").integer();
  auto n = static_cast<long>(count);
  if (at < -n || at > static_cast<long>(last)) {
    site.wrong(fmt::format("position {} in a sequence of {}", at, n));
  }
  return static_cast<size_t>(at < 0 ? at + n : at);
}

void construct(const Site& site) {
  std::vector<ValueId> list;
  for (size_t i = 0; i < site.inputs(); ++i) list.push_back(site.input(i));
  site.set_sequence(0, list);
}

void empty(const Site& site) { site.set_sequence(0, {}); }

void insert(const Site& site) {
  std::vector<ValueId> list = site.sequence(0);
  size_t at = place(site, 2, list.size(), list.size());
  list.insert(list.begin() + static_cast<long>(at), site.input(1));
  site.set_sequence(0, list);
}

void erase(const Site& site) {
  std::vector<ValueId> list = site.sequence(0);
  if (list.empty()) site.wrong("the sequence is empty");
  list.erase(list.begin() + static_cast<long>(place(site, 1, list.size(), list.size() - 1)));
  site.set_sequence(0, list);
}

void at(const Site& site) {
  const std::vector<ValueId>& list = site.sequence(0);
  if (list.empty()) site.wrong("the sequence is empty");
  ValueId value = list[place(site, 1, list.size(), list.size() - 1)];
  site.set_output(0, site.emit("identity", {value}));
}

void length(const Site& site) {
  std::vector<long> count{static_cast<long>(site.sequence(0).size())};
  site.set_output(0, site.constant_value(Array::of_integers(Element::i64, {}, count)));
}

void concat(const Site& site) {
  std::vector<ValueId> parts = site.sequence(0);
  if (parts.empty()) site.wrong("the sequence is empty");
  size_t rank = site.shape_of(parts.front()).size();
  bool adds = site.integer("new_axis", 0) == 1;
  size_t axis = site.axis(site.integer("axis", 0), adds ? rank + 1 : rank);
  for (ValueId& value : parts) {
    Shape shape = site.shape_of(value);
    if (adds) shape.insert(shape.begin() + static_cast<long>(axis), 1);
    value = site.reshaped(value, shape);
  }
  site.set_output(0, site.emit("concat", parts, {{"axis", static_cast<long>(axis)}}));
}

void split(const Site& site) {
  const Shape shape = site.shape(0);
  size_t axis = site.axis(site.integer("axis", 0), shape.size());
  Shape sizes;
  bool drops = false;
  if (!site.has(1)) {
    sizes.assign(static_cast<size_t>(site.storable({shape[axis]})), 1);
    drops = site.integer("keepdims", 1) == 0;
  } else {
    Array given = site.required(1, "split");
    if (given.rank() == 1) {
      sizes = given.integers();
    } else {
      long each = given.integer();
      if (each < 1) site.wrong("its parts must have elements");
      site.storable({shape[axis] / each});
      for (long left = shape[axis]; left > 0; left -= each) sizes.push_back(std::min(left, each));
    }
  }
  std::vector<ValueId> parts;
  long start = 0;
  for (long size : sizes) {
    Shape starts(shape.size(), 0), extents = shape;
    starts[axis] = start;
    extents[axis] = size;
    ValueId part = site.emit("slice", {site.input(0)}, {{"starts", starts}, {"sizes", extents}});
    start += size;
    if (drops) extents.erase(extents.begin() + static_cast<long>(axis));
    parts.push_back(site.reshaped(part, extents));
  }
  site.set_sequence(0, parts);
}

}  // namespace

Translations sequence_translations() {
  return {{"SequenceConstruct", construct}, {"SequenceEmpty", empty},  {"SequenceInsert", insert},
          {"SequenceErase", erase},         {"SequenceAt", at},        {"SequenceLength", length},
          {"ConcatFromSequence", concat},   {"SplitToSequence", split}};
}

}  // namespace lathe
