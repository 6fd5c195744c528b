// import_sequence.cpp: ONNX's lists of tensors, and values that may be left out. Lengths and places
// are known, and so is what is there: neither is left in the graph.
#include <algorithm>

#include "onnx/import_graph.h"

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
  for (ValueId part : parts) {
    if (site.shape_of(part).size() != rank) site.wrong("its tensors differ in rank");
  }
  ValueId whole = adds ? site.stacked(parts, axis) : site.joined(parts, axis);
  site.set_output(0, parts.size() == 1 ? site.emit("identity", {whole}) : whole);
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
    if (size < 0 || size > shape[axis] - start) site.wrong("its parts do not fit");
    ValueId part = site.sliced(site.input(0), axis, start, size);
    start += size;
    Shape extents = site.shape_of(part);
    if (drops) extents.erase(extents.begin() + static_cast<long>(axis));
    parts.push_back(site.reshaped(part, extents));
  }
  site.set_sequence(0, parts);
}

/// Hands on a tensor or a list.
void identity(const Site& site) {
  if (site.is_sequence(0)) {
    site.set_sequence(0, site.sequence(0));
  } else {
    site.set_output(0, site.emit("identity", {site.input(0)}));
  }
}

/// Applies a body to every element of a list, with those of other lists beside it.
void map(const Site& site) {
  size_t count = site.sequence(0).size();
  std::vector<std::vector<ValueId>> lists(site.outputs());
  for (size_t k = 0; k < count; ++k) {
    std::vector<TensorOrList> inputs;
    for (size_t i = 0; i < site.inputs(); ++i) {
      bool is_list = site.is_sequence(i);
      if (is_list && site.sequence(i).size() != count) site.wrong("its lists differ in length");
      inputs.emplace_back(is_list ? site.sequence(i)[k] : site.input(i));
    }
    std::vector<TensorOrList> results = translate_body(site, site.subgraph("body"), inputs);
    for (size_t i = 0; i < lists.size(); ++i) {
      const auto* id = i < results.size() ? std::get_if<ValueId>(&results[i]) : nullptr;
      if (id == nullptr) site.wrong(fmt::format("its body computes no tensor {}", i));
      lists[i].push_back(*id);
    }
  }
  for (size_t i = 0; i < lists.size(); ++i) site.set_sequence(i, lists[i]);
}

void optional(const Site& site) {
  if (!site.has(0)) site.unsupported("a value that is left out");
  identity(site);
}

void has_element(const Site& site) {
  std::vector<long> answer{site.has(0) ? 1 : 0};
  site.set_output(0, site.constant_value(Array::of_integers(Element::boolean, {}, answer)));
}

}  // namespace

Translations sequence_translations() {
  return {{"SequenceConstruct", construct},
          {"SequenceEmpty", empty},
          {"SequenceInsert", insert},
          {"SequenceErase", erase},
          {"SequenceAt", at},
          {"SequenceLength", length},
          {"SequenceMap", map},
          {"ConcatFromSequence", concat},
          {"SplitToSequence", split},
          {"Identity", identity},
          {"Optional", optional},
          {"OptionalHasElement", has_element},
          {"OptionalGetElement", identity}};
}

}  // namespace lathe
