// import_control.cpp: ONNX's branches and loops. A branch whose condition is known is the one body
// that runs; a loop becomes its rounds, one after the other. Nothing of either is left in the
// graph.
#include <algorithm>
#include <limits>

#include "onnx/import_graph.h"

namespace lathe {
namespace {

using onnx::GraphProto;

/// Returns what operands "from" to before "end" stand for.
std::vector<TensorOrList> operands_from(const Site& site, size_t from, size_t end) {
  std::vector<TensorOrList> result;
  for (size_t i = from; i < end; ++i) {
    if (site.is_sequence(i)) {
      result.emplace_back(site.sequence(i));
    } else {
      result.emplace_back(site.input(i));
    }
  }
  return result;
}

ValueId tensor_in(const Site& site, const TensorOrList& value) {
  const auto* id = std::get_if<ValueId>(&value);
  if (id == nullptr) site.wrong("its body has a sequence where a tensor belongs");
  return *id;
}

/// Is a value one of the outputs before output i?
bool is_handed_out(const Site& site, size_t i, ValueId id) {
  const auto& values = site.state().values;
  for (size_t k = 0; k < i; ++k) {
    auto found = values.find(site.node().output(static_cast<int>(k)));
    if (found != values.end() && found->second == id) return true;
  }
  return false;
}

/// Makes what a body computed output i. Values with ids below "first" are older than the body:
/// they keep their names, and so do those that are an output already.
void hand_out(const Site& site, size_t i, const TensorOrList& value, size_t first) {
  if (const auto* list = std::get_if<std::vector<ValueId>>(&value)) {
    site.set_sequence(i, *list);
    return;
  }
  ValueId id = std::get<ValueId>(value);
  if (!site.wants(i)) return;
  bool has_name = id < first || is_handed_out(site, i, id);
  site.set_output(i, has_name ? site.emit("identity", {id}) : id);
}

size_t count_values(const Site& site) { return site.state().graph.unfinished().values.size(); }

/// Computes both branches, and takes the elements of one: the condition is not known yet.
std::vector<TensorOrList> both_branches(const Site& site, const GraphProto& yes,
                                        const GraphProto& no) {
  std::vector<TensorOrList> first = translate_body(site, yes, {}),
                            second = translate_body(site, no, {});
  if (first.size() != second.size()) site.wrong("its branches differ in their outputs");
  ValueId condition = site.reshaped(site.input(0), {});
  for (size_t i = 0; i < first.size(); ++i) {
    ValueId a = tensor_in(site, first[i]), b = tensor_in(site, second[i]);
    bool alike = site.type_of(a) == site.type_of(b) && !site.type_of(a).dynamic;
    if (!alike) {
      site.unsupported("its condition is not known, and its branches differ in their shapes");
    }
    first[i] = site.emit("where", {condition, a, b});
  }
  return first;
}

void branch(const Site& site) {
  size_t before = count_values(site);
  const GraphProto &yes = site.subgraph("then_branch"), &no = site.subgraph("else_branch");
  if (count_of(site.shape(0)) != 1) site.wrong("its condition is not one truth value");
  std::optional<Array> condition = site.constant(0);
  std::vector<TensorOrList> results =
      condition ? translate_body(site, condition->integer() != 0 ? yes : no, {})
                : both_branches(site, yes, no);
  if (results.size() < site.outputs()) site.wrong("its branches have too few outputs");
  for (size_t i = 0; i < site.outputs(); ++i) hand_out(site, i, results[i], before);
}

/// Returns what a loop collects if it has no rounds: no elements of the shape that its body states.
ValueId nothing_collected(const Site& site, const onnx::ValueInfoProto& output, size_t axis) {
  const auto& type = output.type().tensor_type();
  Shape shape;
  for (const auto& dim : type.shape().dim()) {
    if (!dim.has_dim_value() || dim.dim_value() < 0) {
      site.unsupported(fmt::format("without rounds the shape of '{}' is not known", output.name()));
    }
    shape.push_back(dim.dim_value());
  }
  if (!output.type().has_tensor_type() || !type.has_shape() || axis > shape.size()) {
    site.unsupported(fmt::format("without rounds the shape of '{}' is not known", output.name()));
  }
  shape.insert(shape.begin() + static_cast<long>(axis), 0);
  return site.constant_value(Array(element_of_onnx(type.elem_type(), site.where()), shape));
}

/// The rounds of a loop: values that each hands to the next, and values that all of them collect.
class Rounds {
 public:
  /// "skipped" of the body's outputs come before the carried ones.
  Rounds(const Site& site, std::vector<TensorOrList> carried, size_t skipped)
      : site_(site),
        body_(site.subgraph("body")),
        carried_(std::move(carried)),
        skipped_(skipped),
        first_(count_values(site)) {
    size_t own = skipped_ + carried_.size(), all = static_cast<size_t>(body_.output_size());
    if (all < own) site.wrong(fmt::format("its body has {} outputs, but needs {}", all, own));
    collected_.resize(all - own);
  }

  /// Translates one round. Returns the body's outputs that are skipped.
  std::vector<TensorOrList> run(std::vector<TensorOrList> before,
                                const std::vector<TensorOrList>& after) {
    before.insert(before.end(), carried_.begin(), carried_.end());
    before.insert(before.end(), after.begin(), after.end());
    std::vector<TensorOrList> results = translate_body(site_, body_, before);
    size_t own = skipped_ + carried_.size();
    std::copy_n(results.begin() + static_cast<long>(skipped_), carried_.size(), carried_.begin());
    for (size_t k = 0; k < collected_.size(); ++k) {
      collected_[k].push_back(tensor_in(site_, results[own + k]));
    }
    results.resize(skipped_);
    return results;
  }

  size_t collections() const { return collected_.size(); }
  const std::vector<TensorOrList>& carried() const { return carried_; }

  /// Returns what was collected, along a new axis, the last round first if it is "reversed".
  ValueId collected(size_t k, long axis, bool reversed) const {
    std::vector<ValueId> parts = collected_[k];
    const auto& output = body_.output(static_cast<int>(skipped_ + carried_.size() + k));
    size_t rank = parts.empty()
                      ? static_cast<size_t>(output.type().tensor_type().shape().dim_size())
                      : site_.shape_of(parts.front()).size();
    size_t place = site_.axis(axis, rank + 1);
    if (parts.empty()) return nothing_collected(site_, output, place);
    if (reversed) std::reverse(parts.begin(), parts.end());
    return site_.stacked(parts, place);
  }

  void hand_out_carried() const {
    for (size_t i = 0; i < carried_.size(); ++i) hand_out(site_, i, carried_[i], first_);
  }

 private:
  const Site& site_;
  const GraphProto& body_;
  std::vector<TensorOrList> carried_;
  size_t skipped_, first_;
  std::vector<std::vector<ValueId>> collected_;
};

bool holds(const Site& site, ValueId condition) {
  std::optional<Array> known = site.constant_of(condition);
  if (!known) site.unsupported("its condition must be known when the network is imported");
  if (known->count() != 1) site.wrong("its condition is not one truth value");
  return known->integer() != 0;
}

void loop(const Site& site) {
  long most = std::numeric_limits<long>::max();
  if (site.has(0)) {
    Array count = site.required(0, "the trip count");
    if (count.count() != 1) site.wrong("its trip count is not one number");
    most = count.integer();
  }
  std::vector<long> truth{1};
  ValueId condition = site.has(1)
                          ? site.input(1)
                          : site.constant_value(Array::of_integers(Element::boolean, {}, truth));
  Rounds rounds(site, operands_from(site, 2, site.inputs()), 1);
  for (long i = 0; i < most && holds(site, condition); ++i) {
    std::vector<long> round{i};
    ValueId counter = site.constant_value(Array::of_integers(Element::i64, {}, round));
    condition = tensor_in(site, rounds.run({counter, condition}, {}).front());
  }
  rounds.hand_out_carried();
  for (size_t k = 0; k < rounds.collections(); ++k) {
    size_t output = rounds.carried().size() + k;
    if (site.wants(output)) site.set_output(output, rounds.collected(k, 0, false));
  }
}

/// What a scan goes over: a tensor, the axis whose places are its rounds, and whether backwards.
struct Scanned {
  ValueId value;
  size_t axis;
  bool reversed;
};

/// Returns number k of a list with one for each scanned tensor; 0 where the list is left out.
long setting(const Site& site, const std::string& name, size_t k, size_t count) {
  Shape list = site.integers(name);
  if (list.empty()) return 0;
  if (list.size() != count) site.wrong(fmt::format("{} has {} numbers", name, list.size()));
  return list[k];
}

/// Runs a body over the places of the scanned tensors.
Rounds scanned_rounds(const Site& site, const std::vector<TensorOrList>& initial,
                      const std::vector<Scanned>& scanned) {
  long count = site.shape_of(scanned.front().value)[scanned.front().axis];
  for (const Scanned& s : scanned) {
    if (site.shape_of(s.value)[s.axis] != count) site.wrong("its sequences differ in length");
  }
  Rounds rounds(site, initial, 0);
  for (long i = 0; i < count; ++i) {
    std::vector<TensorOrList> parts;
    for (const Scanned& s : scanned) {
      parts.emplace_back(site.element_at(s.value, s.axis, s.reversed ? count - 1 - i : i));
    }
    rounds.run({}, parts);
  }
  return rounds;
}

/// Returns how many of the operands from "first" on are scanned; the others are carried.
size_t count_scanned(const Site& site, size_t first) {
  long count = site.integer("num_scan_inputs", 0);
  if (count < 1 || site.inputs() < first || count > static_cast<long>(site.inputs() - first)) {
    site.wrong(fmt::format("num_scan_inputs={} does not fit its operands", count));
  }
  return static_cast<size_t>(count);
}

void scan(const Site& site) {
  size_t count = count_scanned(site, 0), carried = site.inputs() - count;
  std::vector<Scanned> scanned;
  for (size_t k = 0; k < count; ++k) {
    size_t rank = site.shape(carried + k).size();
    size_t axis = site.axis(setting(site, "scan_input_axes", k, count), rank);
    bool reversed = setting(site, "scan_input_directions", k, count) != 0;
    scanned.push_back({site.input(carried + k), axis, reversed});
  }
  Rounds rounds = scanned_rounds(site, operands_from(site, 0, carried), scanned);
  rounds.hand_out_carried();
  size_t collections = rounds.collections();
  for (size_t k = 0; k < collections; ++k) {
    if (!site.wants(carried + k)) continue;
    long axis = setting(site, "scan_output_axes", k, collections);
    bool reversed = setting(site, "scan_output_directions", k, collections) != 0;
    site.set_output(carried + k, rounds.collected(k, axis, reversed));
  }
}

/// Operator set 8 scans each sample of a batch by itself; its first operand are their lengths.
void scan_of_samples(const Site& site) {
  if (site.has(0)) site.unsupported("sequences of different lengths");
  size_t count = count_scanned(site, 1), carried = site.inputs() - 1 - count;
  long samples = site.shape(1).empty() ? 0 : site.shape(1).front();
  if (samples < 1) site.wrong("its first operand has no samples");
  std::vector<std::vector<ValueId>> outputs(site.outputs());
  for (long n = 0; n < samples; ++n) {
    std::vector<TensorOrList> initial;
    std::vector<Scanned> scanned;
    for (size_t i = 1; i < site.inputs(); ++i) {
      Shape shape = site.shape(i);
      bool is_scanned = i > carried;
      if (shape.size() < (is_scanned ? 2 : 1) || shape[0] != samples) {
        site.wrong(fmt::format("operand {} does not have {} samples", i, samples));
      }
      ValueId sample = site.element_at(site.input(i), 0, n);
      if (!is_scanned) initial.emplace_back(sample);
      bool reversed = is_scanned && setting(site, "directions", i - 1 - carried, count) != 0;
      if (is_scanned) scanned.push_back({sample, 0, reversed});
    }
    Rounds rounds = scanned_rounds(site, initial, scanned);
    for (size_t i = 0; i < site.outputs(); ++i) {
      if (i >= carried + rounds.collections()) site.wrong("its body has too few outputs");
      outputs[i].push_back(i < carried ? tensor_in(site, rounds.carried()[i])
                                       : rounds.collected(i - carried, 0, false));
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i) site.set_output(i, site.stacked(outputs[i], 0));
}

void scan_of_any_version(const Site& site) {
  return site.opset() < 9 ? scan_of_samples(site) : scan(site);
}

}  // namespace

Translations control_translations() {
  return {{"If", branch}, {"Loop", loop}, {"Scan", scan_of_any_version}};
}

}  // namespace lathe
