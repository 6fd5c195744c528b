// mixing.cpp: which channels reach which, found from the nests. Interface: mixing.h.
#include "program/mixing.h"

#include <algorithm>
#include <map>

#include "ops/op.h"
#include "poly/affine.h"

namespace lathe {
namespace {

constexpr size_t channel_dimension = 1;

size_t channels_of(const Shape& shape) {
  return shape.size() > channel_dimension ? static_cast<size_t>(shape[channel_dimension]) : 1;
}

size_t channels_of(const Tensor& tensor) {
  if (tensor.shape.size() <= channel_dimension) return 1;
  const Pad& pad = tensor.pad[channel_dimension];
  return static_cast<size_t>(tensor.shape[channel_dimension] - pad.before - pad.after);
}

/// Which channel an access is at: a function of the coordinates of its statement.
struct ChannelIndex {
  poly::Affine value;
  std::vector<bool> involved;
  long before = 0;  ///< channels of padding

  ChannelIndex(const Tensor& tensor, const Access& access, size_t coordinates)
      : involved(coordinates, false) {
    value.coefficients.assign(coordinates, 0);
    if (tensor.shape.size() <= channel_dimension) return;
    value = poly::take_apart(access.at.at(static_cast<int>(channel_dimension)));
    involved = poly::involved(value);
    before = tensor.pad[channel_dimension].before;
  }
};

/// Counts through the values of some coordinates, and calls "use" for each.
template <class Use>
void for_each_value(const std::vector<size_t>& coordinates, const Shape& sizes, const Use& use) {
  std::vector<long> x(sizes.size(), 0);
  for (bool more = true; more;) {
    use(x);
    more = false;
    for (size_t c : coordinates) {
      more = ++x[c] < sizes[c];
      if (more) break;
      x[c] = 0;
    }
  }
}

/// Returns which channels of what a statement writes (rows) it computes from which channels of one
/// of its reads (columns).
BitMatrix met(const Nest& nest, const Statement& s, const Access& read) {
  const Tensor &to = nest.tensors()[s.write.tensor], &from = nest.tensors()[read.tensor];
  BitMatrix result(channels_of(to), channels_of(from));
  Shape sizes = extents(plain_order(s, {}));
  ChannelIndex row(to, s.write, sizes.size()), column(from, read, sizes.size());
  std::vector<size_t> of_row, of_column;  // coordinates; those of both are in the first
  for (size_t c = 0; c < sizes.size(); ++c) {
    if (row.involved[c]) of_row.push_back(c);
    if (column.involved[c] && !row.involved[c]) of_column.push_back(c);
  }
  auto inside = [](long i, size_t count) { return i >= 0 && i < static_cast<long>(count); };
  for_each_value(of_row, sizes, [&](const std::vector<long>& at) {
    long i = poly::evaluate(row.value, at) - row.before;
    if (!inside(i, result.rows())) return;
    std::vector<long> x = at;
    for_each_value(of_column, sizes, [&](const std::vector<long>& other) {
      for (size_t c : of_column) x[c] = other[c];
      long j = poly::evaluate(column.value, x) - column.before;
      if (inside(j, result.columns())) result.set(static_cast<size_t>(i), static_cast<size_t>(j));
    });
  });
  return result;
}

/// Adds to each row of "to" the rows of "from" that "relation" names.
void add_related(BitMatrix& to, const BitMatrix& relation, const BitMatrix& from) {
  BitMatrix sum(1, from.columns());  // of the rows that are named
  for (size_t row = 0; row < relation.rows(); ++row) {
    bool is_new = row == 0 || !relation.same_rows(row, row - 1);  // filters of one group are alike
    if (is_new) {
      sum.clear();
      relation.for_each(row, [&](size_t column) { sum.add(0, from, column); });
    }
    to.add(row, sum, 0);
  }
}

BitMatrix diagonal(size_t size) {
  BitMatrix result(size, size);
  for (size_t i = 0; i < size; ++i) result.set(i, i);
  return result;
}

BitMatrix everything(size_t rows, size_t columns) {
  BitMatrix result(rows, columns);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) result.set(i, j);
  }
  return result;
}

/// Returns the n-th tensor of a nest that is an output, or that is an operand.
size_t nth_tensor(const Nest& nest, size_t n, bool output) {
  for (size_t t = 0; t < nest.tensors().size(); ++t) {
    Role role = nest.tensors()[t].role;
    bool counts = role != Role::local && (role == Role::output) == output;
    if (counts && n-- == 0) return t;
  }
  fail("nest '{}' has no tensor for each operand and output", nest.name);
}

}  // namespace

BitMatrix reached(const Nest& nest, size_t input, size_t output) {
  size_t source = nth_tensor(nest, input, false);
  size_t columns = channels_of(nest.tensors()[source]);
  std::vector<BitMatrix> of_tensor(nest.tensors().size());  // without rows: nothing reached it
  of_tensor[source] = diagonal(columns);
  for (size_t i : sequence(nest.order)) {
    const Statement& s = nest.statements()[i];
    for (const Access& read : s.reads) {
      if (of_tensor[read.tensor].rows() == 0) continue;
      BitMatrix& to = of_tensor[s.write.tensor];
      if (to.rows() == 0) to = BitMatrix(channels_of(nest.tensors()[s.write.tensor]), columns);
      add_related(to, met(nest, s, read), of_tensor[read.tensor]);
    }
  }
  BitMatrix& result = of_tensor[nth_tensor(nest, output, true)];
  size_t rows = channels_of(nest.tensors()[nth_tensor(nest, output, true)]);
  return result.rows() == 0 ? BitMatrix(rows, columns) : std::move(result);
}

/// All paths through the operators of a network.
class NetworkMixing::Paths {
 public:
  explicit Paths(const Graph& graph)
      : graph_(graph), readers_(consumers(graph)), depends_(graph.values.size(), false) {
    for (ValueId id : graph.inputs) depends_[id] = true;
    for (size_t n = 0; n < graph.nodes.size(); ++n) add(n);
    find_positions();
    find_stages();
  }

  size_t stages() const { return counted_.size(); }

  bool is_inside(size_t stage, size_t node) const {
    return std::any_of(paths_.begin(), paths_.end(), [&](const Path& p) {
      return p.node == node && is_inside(*counted_[stage], p);
    });
  }

  /// Returns which share of the pairs of a stage's beginnings and ends is connected.
  double connected_in(size_t number, const Changes& changes) const {
    const Stage& stage = *counted_[number];
    // Which beginnings (columns) reach the channels (rows) of each value of the stage.
    std::vector<BitMatrix> reached(graph_.values.size());
    for (ValueId id = 0; id < graph_.values.size(); ++id) {
      if (depends_[id] && positions(id) == stage.positions) {
        reached[id] = BitMatrix(channels(id), stage.bits);
      }
    }
    size_t bit = 0;
    for (ValueId id : stage.begins) {
      for (size_t c = 0; c < channels(id); ++c) reached[id].set(c, bit++);
    }
    for (const Path& p : paths_) {
      if (!is_inside(stage, p)) continue;
      add_related(reached[p.to], *relation(p, changes), reached[p.from]);
    }
    size_t pairs = 0, met = 0;
    for (ValueId id : stage.ends) {
      for (size_t c = 0; c < channels(id); ++c) met += reached[id].count(c, 0, stage.bits);
      pairs += channels(id) * stage.bits;
    }
    return static_cast<double>(met) / static_cast<double>(pairs);
  }

  double dead(const Changes& changes) const {
    std::vector<BitMatrix> used(graph_.values.size());  // a row of channels
    for (ValueId id = 0; id < graph_.values.size(); ++id) used[id] = BitMatrix(1, channels(id));
    for (ValueId id : graph_.outputs) {
      for (size_t c = 0; c < channels(id); ++c) used[id].set(0, c);
    }
    for (auto p = paths_.rbegin(); p != paths_.rend(); ++p) {
      const BitMatrix& relation = *this->relation(*p, changes);
      used[p->to].for_each(0, [&](size_t row) { used[p->from].add(0, relation, row); });
    }
    size_t all = 0, unused = 0;
    for (const Node& node : graph_.nodes) {
      for (ValueId id : node.outputs) {
        if (!depends_[id] || !is_layer(node)) continue;
        all += channels(id);
        unused += channels(id) - used[id].count(0, 0, channels(id));
      }
    }
    return all > 0 ? static_cast<double>(unused) / static_cast<double>(all) : 0;
  }

 private:
  /// That an input of a node reaches its output.
  struct Path {
    ValueId from, to;
    size_t node;
    const BitMatrix* relation;  ///< channels of "to" (rows) and of "from" (columns)
  };

  /// All that has the same positions.
  struct Stage {
    Shape positions;
    size_t bits = 0;  ///< the channels at its beginning
    std::vector<ValueId> begins, ends;
    size_t layers = 0;  ///< that read channels of the stage
  };

  Graph graph_;
  std::vector<std::vector<size_t>> readers_;
  std::vector<Shape> positions_;  // of the values
  std::vector<bool> depends_;     // does a value depend on the network's input?
  Context context_;
  std::map<std::string, BitMatrix> known_;
  std::vector<Path> paths_;  // in the order of nodes
  std::map<Shape, Stage> stages_;
  std::vector<const Stage*> counted_;  // those of at least two layers, with pairs of channels

  bool is_inside(const Stage& stage, const Path& p) const {
    bool is_input = graph_.values[p.from].kind == Value::Kind::input;
    return !is_input && positions(p.from) == stage.positions && positions(p.to) == stage.positions;
  }

  /// Returns what a path relates, after changes.
  const BitMatrix* relation(const Path& p, const Changes& changes) const {
    auto found = changes.find(p.node);
    const Node& node = graph_.nodes[p.node];
    bool is_first = found != changes.end() && node.inputs[0] == p.from && node.outputs[0] == p.to;
    return is_first ? found->second : p.relation;
  }

  const Shape& shape(ValueId id) const { return graph_.values[id].type.shape; }
  size_t channels(ValueId id) const { return channels_of(shape(id)); }

  const Shape& positions(ValueId id) const { return positions_[id]; }

  /// Finds the positions of all values: the dimensions behind the channels. A value that is only
  /// read to be repeated at more positions belongs to those.
  void find_positions() {
    for (ValueId id = 0; id < graph_.values.size(); ++id) {
      const Shape& all = shape(id);
      positions_.push_back(all.size() > 2 ? Shape(all.begin() + 2, all.end()) : Shape());
    }
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
      for (ValueId id : node->outputs) {
        const std::vector<size_t>& readers = readers_[id];
        auto made = [&](size_t n) { return graph_.nodes[n].outputs.front(); };
        bool grows = !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](size_t n) {
          return positions_[made(n)].size() == positions_[id].size() &&
                 count_of(positions_[made(n)]) > count_of(positions_[id]);
        });
        if (grows) positions_[id] = positions_[made(readers.front())];
      }
    }
  }

  bool is_layer(const Node& node) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      return id != no_value && graph_.values[id].kind == Value::Kind::weight &&
             shape(id).size() > 1;
    });
  }

  /// Adds the paths through a node.
  void add(size_t n) {
    const Node& node = graph_.nodes[n];
    Call call = call_of(graph_, node);
    size_t operand = 0;
    for (ValueId from : node.inputs) {
      if (from == no_value) continue;
      size_t place = operand++;
      if (!depends_[from]) continue;
      for (size_t output = 0; output < node.outputs.size(); ++output) {
        ValueId to = node.outputs[output];
        depends_[to] = true;
        paths_.push_back({from, to, n, &relation(call, place, output, {from, to})});
      }
    }
  }

  /// The two ends of a path.
  struct Ends {
    ValueId from, to;
  };

  const BitMatrix& relation(const Call& call, size_t operand, size_t output, const Ends& ends) {
    auto [found, is_new] =
        known_.try_emplace(fmt::format("{} {} {}", operand, output, print(call)));
    if (!is_new) return found->second;
    if (has_nest(call)) found->second = reached(nest_of(context_, call), operand, output);
    bool fits =
        found->second.rows() == channels(ends.to) && found->second.columns() == channels(ends.from);
    if (!fits) found->second = everything(channels(ends.to), channels(ends.from));
    return found->second;
  }

  /// Finds where stages begin and end.
  void find_stages() {
    std::vector<bool> inside(graph_.values.size(), false);  // reads something of its stage
    for (const Path& p : paths_) {
      bool is_input = graph_.values[p.from].kind == Value::Kind::input;
      if (!is_input && positions(p.from) == positions(p.to)) inside[p.to] = true;
    }
    for (ValueId id = 0; id < graph_.values.size(); ++id) {
      if (!depends_[id] || graph_.values[id].kind == Value::Kind::input) continue;
      Stage& stage = stages_[positions(id)];
      if (!inside[id]) stage.begins.push_back(id);
      if (!is_read_inside(id)) stage.ends.push_back(id);
    }
    for (const Node& node : graph_.nodes) {
      for (ValueId id : node.outputs) {
        if (depends_[id] && inside[id] && is_layer(node)) ++stages_[positions(id)].layers;
      }
    }
    for (auto& [key, stage] : stages_) {
      stage.positions = key;
      for (ValueId id : stage.begins) stage.bits += channels(id);
      size_t ends = 0;
      for (ValueId id : stage.ends) ends += channels(id);
      if (stage.layers >= 2 && stage.bits * ends > 0) counted_.push_back(&stage);
    }
  }

  bool is_read_inside(ValueId id) const {
    for (size_t n : readers_[id]) {
      for (ValueId to : graph_.nodes[n].outputs) {
        if (positions(to) == positions(id)) return true;
      }
    }
    return false;
  }
};

NetworkMixing::NetworkMixing(const Graph& network) : paths_(std::make_unique<Paths>(network)) {}
NetworkMixing::~NetworkMixing() = default;
NetworkMixing::NetworkMixing(NetworkMixing&&) noexcept = default;

size_t NetworkMixing::stages() const { return paths_->stages(); }

bool NetworkMixing::is_inside(size_t stage, size_t node) const {
  return paths_->is_inside(stage, node);
}

double NetworkMixing::connected_in(size_t stage, const Changes& changes) const {
  return paths_->connected_in(stage, changes);
}

double NetworkMixing::dead(const Changes& changes) const { return paths_->dead(changes); }

Mixing NetworkMixing::with(const Changes& changes) const {
  double sum = 0;
  for (size_t stage = 0; stage < stages(); ++stage) sum += connected_in(stage, changes);
  return {stages() > 0 ? sum / static_cast<double>(stages()) : 1, dead(changes)};
}

Mixing mixing_of(const Graph& network) { return NetworkMixing(network).with({}); }

}  // namespace lathe
