// compile.cpp: the pipeline from a graph to kernels, steps and memory. Interface: compile.h.
#include "compile/compile.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <utility>

#include "backends/backend_grid.h"
#include "base/error.h"
#include "compile/memory.h"
#include "compile/padding.h"
#include "compile/ready.h"
#include "compile/storage.h"
#include "compile/units.h"
#include "compile/weights.h"

namespace lathe {
namespace {

/// Puts steps, weights and memory together.
class Assembly {
 public:
  Assembly(const Graph& graph, const CompileOptions& options)
      : graph_(graph), options_(options), units_(collect_units(graph)) {
    result_.name = graph.name;
    result_.target = options.target;
  }

  NodeListing list(size_t n) {
    Context context;
    if (units_.of_node[n].empty()) return {"", "", "", "in place: nothing is done\n", {}};
    const Unit& unit = units_.units[units_.of_node[n].back()];
    Made made = lowered(context, unit, options_.target, Listing::text, choice_for(options_, unit),
                        options_.max_error);
    NodeListing listing{made.code.schedule, made.code.recipe, made.code.nest, made.code.loops, {}};
    for (const Code& code : made.code.kernels) {
      listing.kernels.push_back({fmt::format("kernel_{}", listing.kernels.size()), code});
    }
    return listing;
  }

  Compiled run() {
    made_ = make_units(units_.units, options_);
    find_places();
    for (size_t n = 0; n < graph_.nodes.size(); ++n) add_steps(n);
    put_first_steps_first();
    place_buffers();
    for (ValueId id : graph_.inputs) {
      result_.inputs.push_back({graph_.values[id].name, graph_.values[id].type});
    }
    for (ValueId id : graph_.outputs) {
      result_.outputs.push_back({graph_.values[id].name, graph_.values[id].type});
    }
    return std::move(result_);
  }

 private:
  /// Where a value lies; offsets in the arena are known at the end.
  struct Where {
    lathe_where kind = LATHE_ARENA;
    size_t index = 0;  // of the input, output or arena buffer
    long offset = 0;
  };
  const Graph& graph_;
  const CompileOptions& options_;
  Compiled result_;
  CollectedUnits units_;
  std::vector<std::shared_ptr<const Made>> made_;
  std::map<ValueId, Where> places_;
  std::vector<Lifetime> buffers_;
  std::map<std::string, long> constants_;  // offsets among the weights, by what they hold
  std::map<std::string, size_t> objects_;
  std::vector<CompiledStep> once_;  // steps that run when the network is loaded
  long staying_bytes_ = 0;          // of buffers that are never used for something else

  static constexpr size_t always = std::numeric_limits<size_t>::max() / 2;  // the last step

  // ---- places -----------------------------------------------------------------------------

  void find_places() {
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      places_[graph_.inputs[i]] = {LATHE_INPUT, i, 0};
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      places_.try_emplace(graph_.outputs[i], Where{LATHE_OUTPUT, i, 0});
    }
  }

  Where& place_of(ValueId id, size_t step) {
    ValueId root = root_of(graph_, id);
    auto [at, is_new] = places_.try_emplace(root);
    if (is_new) {
      at->second = {LATHE_ARENA, buffers_.size(), 0};
      long bytes = layout_of(graph_, root).size * size_of(graph_.values[root].type.element);
      buffers_.push_back({bytes, step, step});
    }
    if (at->second.kind == LATHE_ARENA) {
      Lifetime& life = buffers_[at->second.index];
      life.first = std::min(life.first, step);
      life.last = std::max(life.last, step);
    }
    return at->second;
  }

  long add_constant(const std::string& key, long bytes,
                    const std::function<void(long offset)>& fill) {
    auto found = constants_.find(key);
    if (found != constants_.end()) return found->second;
    long offset = rounded_to_lines(static_cast<long>(result_.weights.size()));
    result_.weights.resize(static_cast<size_t>(offset + bytes));
    result_.pieces.push_back({offset, bytes});
    fill(offset);
    constants_.emplace(key, offset);
    return offset;
  }

  /// Adds the data of a value: as they are, or as a repacking has them.
  long add_data(const std::string& key, ValueId id, long bytes,
                const std::optional<Repacking>& repacking) {
    const Value& value = graph_.values[id];
    return add_constant(key, bytes, [&](long offset) {
      CompiledWeight weight{value.name, value.type, offset, repacking};
      if (value.data) {
        write(weight, *value.data, result_.weights.data());
      } else {
        result_.later.push_back(std::move(weight));
      }
    });
  }

  // ---- steps ------------------------------------------------------------------------------

  void add_steps(size_t n) {
    const Node& node = graph_.nodes[n];
    CompiledNode record{node.name, node.op, "", "", 0, result_.steps.size(), 0};
    for (size_t u : units_.of_node[n]) {
      const Made& made = *made_[u];
      if (!made.object.empty() && objects_.try_emplace(made.symbols.front(), 0).second) {
        result_.objects.push_back(made.object);
      }
      record.flops += made.flops;
      if (!units_.units[u].border_only) {
        record.schedule = made.code.schedule;
        record.recipe = made.code.recipe;
      }
      add_kernels(n, units_.units[u], made);
    }
    record.steps = result_.steps.size() - record.first;
    result_.nodes.push_back(std::move(record));
  }

  /// Returns the value of each tensor of a unit; no_value for locals.
  std::vector<ValueId> values_of(const Node& node, const Unit& unit, const NodeCode& code) const {
    std::vector<ValueId> result;
    size_t in = 0, out = 0;
    std::vector<ValueId> inputs, outputs;
    for (ValueId id : node.inputs) {
      if (is_there(graph_, id)) inputs.push_back(id);
    }
    for (ValueId id : node.outputs) {
      if (!is_there(graph_, id)) continue;
      if (!unit.border_only || (is_padded(graph_.values[id].storage.border) &&
                                graph_.values[id].type == unit.border_type)) {
        outputs.push_back(id);
      }
    }
    for (const Tensor& tensor : code.tensors) {
      bool own = tensor.role == Role::local || tensor.role == Role::constant;
      result.push_back(own                           ? no_value
                       : tensor.role == Role::output ? outputs.at(out++)
                                                     : inputs.at(in++));
    }
    return result;
  }

  void add_kernels(size_t n, const Unit& unit, const Made& made) {
    const Node& node = graph_.nodes[n];
    const NodeCode& code = made.code;
    std::vector<ValueId> values = values_of(node, unit, code);
    std::map<size_t, lathe_place> places;  // of tensors that no run changes
    for (const Repacking& p : code.repackings)
      places[p.to] = {LATHE_WEIGHTS, 0, repack_constant(p, code, values)};
    for (size_t k = 0; k < code.kernels.size(); ++k) {
      if (code.once[k]) reserve_prepared(code, k, places);
    }
    std::map<size_t, size_t> locals;  // buffers
    for (size_t k = 0; k < code.kernels.size(); ++k) {
      CompiledStep step{
          node.name, made.symbols[k], {}, code.kernels[k].count(), grid_of(code.kernels[k])};
      size_t now = result_.steps.size();
      for (size_t t : arguments_of(code.kernels[k])) {
        auto found = places.find(t);
        step.places.push_back(found != places.end() ? found->second
                                                    : argument(t, code, unit, values, locals, now));
      }
      result_.scratch_bytes = std::max(result_.scratch_bytes, code.kernels[k].scratch_bytes);
      result_.needs.insert(code.kernels[k].needs.begin(), code.kernels[k].needs.end());
      bool once = code.once[k] || (unit.border_only && stays(values));
      (once ? once_ : result_.steps).push_back(std::move(step));
    }
  }

  /// Lets padded values have memory that nothing else is put into: then their borders are written
  /// once. A GPU has the memory, and each launch costs as much as a small layer.
  bool stays(const std::vector<ValueId>& values) {
    constexpr long most_bytes = 256L << 20;
    if (!options_.target.is_gpu()) return false;
    for (ValueId id : values) {
      if (id == no_value) continue;
      const Where& where = places_.at(root_of(graph_, id));
      if (where.kind != LATHE_ARENA) return false;
      Lifetime& life = buffers_[where.index];
      if (life.last == always) continue;
      if (staying_bytes_ + life.bytes > most_bytes) return false;
      staying_bytes_ += life.bytes;
      life.first = 0;
      life.last = always;
    }
    return true;
  }

  /// Gives the local tensors of a kernel that runs once a place of their own.
  void reserve_prepared(const NodeCode& code, size_t kernel,
                        std::map<size_t, lathe_place>& places) {
    for (size_t t : arguments_of(code.kernels[kernel])) {
      if (code.tensors[t].role != Role::local || places.contains(t)) continue;
      result_.prepared_bytes = rounded_to_lines(result_.prepared_bytes);
      places[t] = {LATHE_PREPARED, 0, result_.prepared_bytes};
      result_.prepared_bytes += code.layouts[t].size * size_of(code.tensors[t].element);
    }
  }

  lathe_place place_of_constant(const Tensor& tensor) {
    std::string key = fmt::format("{}", name_of(tensor.element));
    for (double value : tensor.values) key += fmt::format(" {}", value);
    Array values = Array::of_reals(tensor.element, tensor.shape, tensor.values);
    auto bytes = values.bytes();
    return {LATHE_WEIGHTS, 0, add_constant(key, static_cast<long>(bytes.size()), [&](long offset) {
              std::memcpy(result_.weights.data() + offset, bytes.data(), bytes.size());
            })};
  }

  void put_first_steps_first() {
    result_.first_step = once_.size();
    for (CompiledNode& node : result_.nodes) node.first += once_.size();
    result_.steps.insert(result_.steps.begin(), std::make_move_iterator(once_.begin()),
                         std::make_move_iterator(once_.end()));
  }

  lathe_place argument(size_t t, const NodeCode& code, const Unit& unit,
                       const std::vector<ValueId>& values, std::map<size_t, size_t>& locals,
                       size_t now) {
    if (code.tensors[t].role == Role::constant) return place_of_constant(code.tensors[t]);
    long bytes = size_of(code.tensors[t].element);
    if (values[t] == no_value) {
      auto [at, is_new] = locals.try_emplace(t, buffers_.size());
      if (is_new) buffers_.push_back({code.layouts[t].size * bytes, now, now});
      buffers_[at->second].last = now;
      return {LATHE_ARENA, static_cast<int32_t>(at->second), 0};
    }
    const Value& value = graph_.values[values[t]];
    if (has_data(value)) {
      long all = count_of(value.type.shape) * bytes;
      long offset = add_data(fmt::format("{}", values[t]), values[t], all, std::nullopt);
      return {LATHE_WEIGHTS, 0, offset};
    }
    Where& where = place_of(values[t], now);
    long origin = layout_of(graph_, values[t]).origin;
    // A border's nest counts from its corner; a nest that reads padding from the padding's.
    if (unit.border_only) {
      for (size_t i = 0; i < unit.border.size(); ++i) {
        origin -= unit.border[i].before * code.layouts[t].axes[i].outer;
      }
    } else {
      for (size_t i = 0; i < code.tensors[t].pad.size(); ++i) {
        origin -= code.tensors[t].pad[i].before * code.layouts[t].axes[i].outer;
      }
    }
    return {where.kind, static_cast<int32_t>(where.index), where.offset + origin * bytes};
  }

  long repack_constant(const Repacking& p, const NodeCode& code,
                       const std::vector<ValueId>& values) {
    long bytes = size_of(code.tensors[p.to].element);
    std::string key = fmt::format("{} {}", values[p.from], print_layout(code.layouts[p.to]));
    std::vector<std::string> names;
    for (size_t i = 0; i < p.extents.size(); ++i) names.push_back(fmt::format("i{}", i));
    key += poly::text(p.source, names) + poly::text(p.target, names);
    return add_data(key, values[p.from], code.layouts[p.to].size * bytes, p);
  }

  void place_buffers() {
    MemoryPlan plan = plan_memory(buffers_);
    result_.arena_bytes = plan.bytes;
    result_.live_bytes = plan.live;
    for (CompiledStep& step : result_.steps) {
      for (lathe_place& place : step.places) {
        if (place.where != LATHE_ARENA) continue;
        place.offset += plan.offsets[static_cast<size_t>(place.index)];
        place.index = 0;
      }
    }
  }
};

/// Passes may have made static what was not, so this is asked of what they leave.
void check_compilable(const Graph& ready) {
  for (const Node& node : ready.nodes) {
    if (has_nest(call_of(ready, node))) continue;
    fail(
        "node '{}': {} cannot be compiled, as data decide its shape or what it does; 'lathe run' "
        "computes it",
        node.name, node.op);
  }
}

}  // namespace

long memory_of(const Compiled& compiled, int threads) {
  return static_cast<long>(compiled.weights.size()) + compiled.arena_bytes +
         compiled.prepared_bytes + threads * compiled.scratch_bytes;
}

bool is_compilable(const Graph& graph) {
  return std::all_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const Node& node) { return has_nest(call_of(graph, node)); });
}

NodeListing list_node(const Graph& graph, const std::string& node, const CompileOptions& options) {
  Graph ready = ready_to_compile(graph, context_of(options), options.passes);
  auto found = find_node(ready, node);
  if (!found) {
    std::string known;
    for (const Node& n : ready.nodes) known += " " + n.name;
    fail("'{}' has no layer '{}' when it is compiled; there are:{}", graph.name, node, known);
  }
  return Assembly(ready, options).list(*found);
}

void check_data(const Graph& graph) {
  for (const Value& value : graph.values) {
    bool given = value.kind == Value::Kind::weight || value.kind == Value::Kind::state;
    if (!given || value.data) continue;
    fail(
        "graph '{}': weight '{}' has no data and no way to begin; text keeps none: give it one, "
        "as in \"= normal(0.1)\", or use an .onnx file",
        graph.name, value.name);
  }
}

Compiled compile(const Graph& given, const CompileOptions& options) {
  if (options.weights == WeightData::now) check_data(given);
  Graph graph = options.weights == WeightData::now ? given : without_data(given);
  verify(graph);
  auto begin = std::chrono::steady_clock::now();
  auto seconds = [&] {
    auto last = std::exchange(begin, std::chrono::steady_clock::now());
    return std::chrono::duration<double>(begin - last).count();
  };
  Graph ready = ready_to_compile(graph, context_of(options), options.passes);
  check_compilable(ready);
  double in_passes = seconds();
  Compiled compiled = Assembly(ready, options).run();
  compiled.pass_seconds = in_passes;
  compiled.kernel_seconds = seconds();
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    compiled.outputs[i].name = graph.values[graph.outputs[i]].name;
  }
  return compiled;
}

}  // namespace lathe
