// network_check.cpp: units where they are in a network. Interface: network_check.h.
//
// What a unit must compute is interpreted before it runs: later its inputs may be overwritten.
#include "search/network_check.h"

#include <algorithm>
#include <map>

#include "compile/storage.h"
#include "search/sampled_outputs.h"
#include "search/step_runner.h"

namespace lathe {
namespace {

/// Elements of each value that are looked at again when it is read.
constexpr size_t remembered = 64;

/// Where the tensors of a unit lie while its kernels run: those that its nest reads, then those
/// that it writes. Nothing where no kernel is given it: a weight that was put into another order,
/// say.
struct UnitPlaces {
  std::vector<std::optional<lathe_place>> inputs, outputs;
};

class NetworkCheck {
 public:
  NetworkCheck(const Graph& ready, const Compiled& compiled, const MadeUnits& made,
               const std::set<std::string>& known)
      : graph_(ready),
        compiled_(compiled),
        made_(made),
        units_(collect_units(ready)),
        runner_(compiled),
        seen_(known) {}

  std::vector<UnitCheck> run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) check_node(n);
    return std::move(result_);
  }

 private:
  /// A tensor of a unit's nest.
  struct Face {
    Role role;
    std::vector<Pad> pad;
  };
  /// A unit that is to run, and what it must compute.
  struct Expected {
    size_t check;  // among the results
    const Unit* unit;
    const UnitPlaces* places;
    double error;  // of algebraic steps
    SampledOutputs must;
  };
  const Graph& graph_;
  const Compiled& compiled_;
  const MadeUnits& made_;
  CollectedUnits units_;
  StepRunner runner_;
  std::set<std::string> seen_;
  std::map<std::string, std::vector<Face>> faces_;       // of units, by their keys
  std::map<ValueId, std::vector<std::byte>> handed_on_;  // some elements of each value
  std::vector<UnitCheck> result_;

  void check_node(size_t n) {
    const CompiledNode& node = compiled_.nodes[n];
    const std::vector<size_t>& units = units_.of_node[n];
    if (units.empty()) return;
    std::vector<UnitPlaces> places = places_of(n);
    std::vector<ValueId> ins = there(graph_.nodes[n].inputs), outs = there(graph_.nodes[n].outputs);
    const Unit& own = units_.units[units.back()];
    std::string changed = changed_input(ins, own, places.back());
    std::vector<Expected> expected;
    for (size_t i = 0; i < units.size(); ++i) {
      const Unit& unit = units_.units[units[i]];
      if (!seen_.insert(unit.key).second) continue;
      result_.push_back({node.name, unit.key, "", ""});
      double error = unit.border_only ? 0 : algebraic_error(unit, node.recipe);
      expected.push_back({result_.size() - 1, &unit, &places[i], error,
                          SampledOutputs(unit, given(unit, places[i], ins))});
    }
    for (size_t i = 0; i < node.steps; ++i) runner_.run(node.first + i);
    for (const Expected& each : expected) {
      UnitCheck& check = result_[each.check];
      check.unchecked = each.must.unchecked();
      if (!check.unchecked.empty()) continue;
      check.wrong = each.must.difference(computed(*each.unit, *each.places), each.error);
    }
    if (!changed.empty()) result_.push_back({node.name, own.key, changed, ""});
    for (size_t i = 0; i < outs.size(); ++i) {
      if (const auto& place = places.back().outputs.at(i)) {
        handed_on_[outs[i]] = elements_of({outs[i], outs[i], 0}, *place, own.outputs.at(i), {});
      }
    }
  }

  /// Returns the places that the kernels of a node's units are given, unit by unit.
  std::vector<UnitPlaces> places_of(size_t n) const {
    std::vector<UnitPlaces> result;
    size_t step = compiled_.nodes[n].first;
    for (size_t u : units_.of_node[n]) {
      std::shared_ptr<const Made> made = made_.find(units_.units[u].key);
      check(made != nullptr, "what was compiled is among what was made");
      const NodeCode& code = made->code;
      std::vector<std::optional<lathe_place>> given(code.tensors.size());
      for (size_t k = 0; k < code.kernels.size(); ++k) {
        if (code.once[k]) continue;
        const std::vector<lathe_place>& places = compiled_.steps.at(step++).places;
        std::vector<size_t> arguments = arguments_of(code.kernels[k]);
        for (size_t i = 0; i < arguments.size(); ++i) given[arguments[i]] = places.at(i);
      }
      UnitPlaces& places = result.emplace_back();
      for (size_t t = 0; t < given.size(); ++t) {
        Role role = code.tensors[t].role;
        if (role == Role::output) places.outputs.push_back(given[t]);
        if (role == Role::input || role == Role::weight) places.inputs.push_back(given[t]);
      }
    }
    return result;
  }

  std::vector<ValueId> there(const std::vector<ValueId>& ids) const {
    std::vector<ValueId> result;
    for (ValueId id : ids) {
      if (is_there(graph_, id)) result.push_back(id);
    }
    return result;
  }

  /// Returns where what a unit reads lies: weights as the graph has them, so that what was made of
  /// them for the kernels is compared, too.
  TensorAddresses given(const Unit& unit, const UnitPlaces& places,
                        const std::vector<ValueId>& ins) {
    TensorAddresses result;
    size_t in = 0;
    for (const Face& face : faces_of(unit)) {
      result.push_back(nullptr);
      if (face.role != Role::input && face.role != Role::weight) continue;
      const Value& value = graph_.values[ins.at(in)];
      const auto& place = places.inputs.at(in++);
      if (value.data) {
        result.back() = value.data->bytes().data();
      } else if (place) {
        result.back() = runner_.address(*place);
      }
    }
    return result;
  }

  TensorAddresses computed(const Unit& unit, const UnitPlaces& places) {
    TensorAddresses result;
    size_t out = 0;
    for (const Face& face : faces_of(unit)) {
      result.push_back(nullptr);
      if (face.role != Role::output) continue;
      if (const auto& place = places.outputs.at(out++)) result.back() = runner_.address(*place);
    }
    return result;
  }

  const std::vector<Face>& faces_of(const Unit& unit) {
    auto [found, is_new] = faces_.try_emplace(unit.key);
    if (!is_new) return found->second;
    Context context;
    UnitNest nest = nest_of(context, unit);
    for (const Tensor& tensor : nest.nest.tensors()) {
      found->second.push_back({tensor.role, tensor.pad});
    }
    return found->second;
  }

  /// A value that lies in another one, of which it is some channels; or in itself.
  struct Part {
    ValueId value, whole;
    long first;  // channel of the whole
  };

  /// Returns where a value lies in another one; nothing if it does not.
  std::optional<Part> part_of(ValueId value, ValueId whole) const {
    Part part{value, whole, 0};
    while (value != whole) {
      const Storage& storage = graph_.values[value].storage;
      if (storage.whole == no_value) return std::nullopt;
      part.first += storage.first;
      value = storage.whole;
    }
    return part;
  }

  /// Returns some elements of a part; the whole lies so, behind so much padding.
  std::vector<std::byte> elements_of(const Part& part, const lathe_place& place, Layout layout,
                                     const std::vector<Pad>& pad) {
    const Type& type = graph_.values[part.value].type;
    if (layout.axes.size() != type.shape.size()) {
      layout = row_major_layout(graph_.values[part.whole].type.shape);
    }
    const std::byte* begin = runner_.address(place);
    long bytes = size_of(type.element);
    std::vector<std::byte> result;
    for (long number : sampled_elements(type.shape, remembered, part.value + 1)) {
      std::vector<long> index(type.shape.size());
      for (size_t i = index.size(); i-- > 0; number /= type.shape[i]) {
        index[i] = number % type.shape[i] + (i < pad.size() ? pad[i].before : 0);
        if (i == 1) index[i] += part.first;
      }
      const std::byte* at = begin + offset_of(index, layout) * bytes;
      result.insert(result.end(), at, at + bytes);
    }
    return result;
  }

  /// Says which input is not what its producer left; "" if none is.
  std::string changed_input(const std::vector<ValueId>& ins, const Unit& unit,
                            const UnitPlaces& places) {
    size_t in = 0;
    for (const Face& face : faces_of(unit)) {
      if (face.role != Role::input && face.role != Role::weight) continue;
      ValueId id = ins.at(in);
      const auto& place = places.inputs.at(in);
      const Layout& layout = unit.inputs.at(in++);
      for (const auto& [value, elements] : handed_on_) {
        auto part = place ? part_of(value, id) : std::nullopt;
        if (!part || elements_of(*part, *place, layout, face.pad) == elements) continue;
        return fmt::format("its input '{}' changed after it was computed",
                           graph_.values[value].name);
      }
    }
    return "";
  }
};

}  // namespace

std::vector<UnitCheck> check_at_full_size(const Graph& ready, const Compiled& compiled,
                                          const MadeUnits& made,
                                          const std::set<std::string>& known) {
  return NetworkCheck(ready, compiled, made, known).run();
}

}  // namespace lathe
