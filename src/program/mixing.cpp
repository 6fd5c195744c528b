// mixing.cpp: which channels of a network reach which. Interface: mixing.h.
#include "program/mixing.h"

#include <algorithm>
#include <map>
#include <set>

#include "ops/op.h"

namespace lathe {

/// All paths through the operators of a network.
class NetworkMixing::Paths {
 public:
  explicit Paths(const Graph& graph)
      : graph_(graph), readers_(consumers(graph)), depends_(graph.values.size(), false) {
    for (ValueId id : graph.inputs) depends_[id] = true;
    for (size_t n = 0; n < graph.nodes.size(); ++n) add(n);
    find_positions();
    find_stages();
    find_ends();
    find_neighbours();
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
    return connected(stage, changes, [&](const Path& p) { return is_inside(stage, p); });
  }

  double across(const Changes& changes) const {
    if (whole_.begins.empty() || whole_.ends.empty()) return 1;
    return connected(whole_, changes, [](const Path&) { return true; });
  }

  const std::vector<Neighbours>& neighbours() const { return neighbours_; }

  double connected_by(size_t pair, const Changes& changes) const {
    const Between& b = between_[pair];
    const BitMatrix& first = *relation(paths_[b.first], changes);
    BitMatrix read(b.relation->rows(), first.columns());
    add_related(read, *b.relation, first);
    const BitMatrix& second = *relation(paths_[b.second], changes);
    BitMatrix computed(second.rows(), first.columns());
    add_related(computed, second, read);
    size_t pairs = computed.rows() * first.used_columns();
    return pairs > 0 ? static_cast<double>(computed.count()) / static_cast<double>(pairs) : 0;
  }

  double dead(const Changes& changes) const {
    std::vector<BitMatrix> used(graph_.values.size());  // a row of channels
    for (ValueId id = 0; id < graph_.values.size(); ++id) used[id] = BitMatrix(1, channels(id));
    for (ValueId id : graph_.outputs) {
      for (size_t c = 0; c < channels(id); ++c) used[id].set(0, c);
    }
    for (auto p = paths_.rbegin(); p != paths_.rend(); ++p) {
      const BitMatrix& relation = *this->relation(*p, changes);
      bool is_sparse = p->only && &relation == p->relation;
      used[p->to].for_each(0, [&](size_t row) {
        if (!is_sparse) used[p->from].add(0, relation, row);
        if (is_sparse && (*p->only)[row] != none) used[p->from].set(0, (*p->only)[row]);
      });
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
    /// The channel that each row relates to, if no row relates to several: most operators are so,
    /// and their matrices nearly empty.
    std::optional<std::vector<size_t>> only;
  };

  /// A part of the network, from some values to others.
  struct Part {
    std::vector<ValueId> begins, ends;
  };

  /// All that has the same positions.
  struct Stage : Part {
    Shape positions;
    size_t layers = 0;  ///< that read channels of the stage
  };

  /// What is between two layers of which the second reads what the first computes.
  struct Between {
    size_t first, second;       ///< paths
    const BitMatrix* relation;  ///< what the second reads (rows), what the first computes (columns)
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
  Part whole_;                         // from behind the first layers to before the last ones
  std::vector<Neighbours> neighbours_;
  std::vector<Between> between_;  // of the neighbours
  std::set<BitMatrix> passed_;    // the relations between them, each once

  /// Returns which share of the pairs of the beginnings and ends of a part is connected by the
  /// paths that belong to it.
  template <class Belongs>
  double connected(const Part& part, const Changes& changes, const Belongs& belongs) const {
    size_t bits = channels(part.begins);
    // Which beginnings (columns) reach the channels (rows) of a value; without rows: none does.
    std::vector<BitMatrix> reached(graph_.values.size());
    size_t bit = 0;
    for (ValueId id : part.begins) {
      reached[id] = BitMatrix(channels(id), bits);
      for (size_t c = 0; c < channels(id); ++c) reached[id].set(c, bit++);
    }
    for (const Path& p : paths_) {
      if (belongs(p)) pass(p, *relation(p, changes), reached);
    }
    size_t met = 0;
    for (ValueId id : part.ends) {
      for (size_t c = 0; c < reached[id].rows(); ++c) met += reached[id].count(c, 0, bits);
    }
    return static_cast<double>(met) / static_cast<double>(channels(part.ends) * bits);
  }

  /// Adds what reaches the beginning of a path to what reaches its end.
  void pass(const Path& p, const BitMatrix& relation, std::vector<BitMatrix>& reached) const {
    const BitMatrix& from = reached[p.from];
    if (from.rows() == 0) return;
    if (reached[p.to].rows() == 0) reached[p.to] = BitMatrix(channels(p.to), from.columns());
    if (!p.only || &relation != p.relation) {
      add_related(reached[p.to], relation, from);
      return;
    }
    for (size_t row = 0; row < p.only->size(); ++row) {
      if ((*p.only)[row] != none) reached[p.to].add(row, from, (*p.only)[row]);
    }
  }

  bool is_inside(const Stage& stage, const Path& p) const {
    bool is_inner = positions(p.from) == stage.positions && positions(p.to) == stage.positions;
    return is_inner && !is_input(p.from);
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
  size_t channels(const std::vector<ValueId>& ids) const {
    size_t sum = 0;
    for (ValueId id : ids) sum += channels(id);
    return sum;
  }

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

  static constexpr size_t none = std::numeric_limits<size_t>::max();

  /// Returns the column that is set in each row, or none; nothing if a row has several.
  static std::optional<std::vector<size_t>> only_columns(const BitMatrix& matrix) {
    std::vector<size_t> columns(matrix.rows(), none);
    bool is_one = true;
    for (size_t row = 0; row < matrix.rows(); ++row) {
      matrix.for_each(row, [&](size_t column) {
        is_one = is_one && columns[row] == none;
        columns[row] = column;
      });
    }
    if (!is_one) return std::nullopt;
    return columns;
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
        const BitMatrix& reach = relation(call, place, output, {from, to});
        paths_.push_back({from, to, n, &reach, only_columns(reach)});
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
    if (reads_are_known(call)) found->second = reached(nest_of(context_, call), operand, output);
    bool fits =
        found->second.rows() == channels(ends.to) && found->second.columns() == channels(ends.from);
    if (!fits) found->second = everything(channels(ends.to), channels(ends.from));
    return found->second;
  }

  /// Finds where stages begin and end.
  void find_stages() {
    std::vector<bool> inside(graph_.values.size(), false);  // reads something of its stage
    for (const Path& p : paths_) {
      if (!is_input(p.from) && positions(p.from) == positions(p.to)) inside[p.to] = true;
    }
    for (ValueId id = 0; id < graph_.values.size(); ++id) {
      if (!depends_[id] || is_input(id)) continue;
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
      bool has_pairs = channels(stage.begins) * channels(stage.ends) > 0;
      if (stage.layers >= 2 && has_pairs) counted_.push_back(&stage);
    }
  }

  bool is_layer(const Path& p) const { return is_layer(graph_.nodes[p.node]); }
  bool is_input(ValueId id) const { return graph_.values[id].kind == Value::Kind::input; }

  /// Finds what is behind the first layers, and before the last ones.
  void find_ends() {
    std::vector<bool> before(graph_.values.size(), false);  // a layer comes behind it
    for (auto p = paths_.rbegin(); p != paths_.rend(); ++p) {
      if (is_layer(*p) || before[p->to]) before[p->from] = true;
    }
    for (const Path& p : paths_) {
      if (!is_layer(p)) continue;
      if (is_input(p.from)) whole_.begins.push_back(p.to);
      if (!before[p.to] && !contains(whole_.ends, p.from)) whole_.ends.push_back(p.from);
    }
  }

  /// Finds which layers read what others compute. Layers that read the network's input do not
  /// count: these few channels reach all.
  void find_neighbours() {
    std::map<size_t, size_t> firsts;  // how many, for each second path
    for (size_t first = 0; first < paths_.size(); ++first) {
      const Path& p = paths_[first];
      if (!is_layer(p) || is_input(p.from)) continue;
      std::vector<BitMatrix> reached(graph_.values.size());
      reached[p.to] = diagonal(channels(p.to));
      for (size_t second = first + 1; second < paths_.size(); ++second) {
        const Path& next = paths_[second];
        if (!is_layer(next)) {
          pass(next, *next.relation, reached);
        } else if (reached[next.from].rows() > 0) {
          between_.push_back({first, second, &*passed_.insert(reached[next.from]).first});
          ++firsts[second];
        }
      }
    }
    for (const Between& b : between_) {
      double weight = 1 / static_cast<double>(firsts[b.second] * firsts.size());
      neighbours_.push_back({paths_[b.first].node, paths_[b.second].node, weight});
    }
  }

  static bool contains(const std::vector<ValueId>& ids, ValueId id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
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

const std::vector<NetworkMixing::Neighbours>& NetworkMixing::neighbours() const {
  return paths_->neighbours();
}

double NetworkMixing::connected_by(size_t pair, const Changes& changes) const {
  return paths_->connected_by(pair, changes);
}

double NetworkMixing::across(const Changes& changes) const { return paths_->across(changes); }

double NetworkMixing::dead(const Changes& changes) const { return paths_->dead(changes); }

Mixing NetworkMixing::with(const Changes& changes) const {
  Mixing result{.dead = dead(changes), .across = across(changes)};
  if (stages() > 0) {
    double sum = 0;
    for (size_t stage = 0; stage < stages(); ++stage) sum += connected_in(stage, changes);
    result.connected = sum / static_cast<double>(stages());
  }
  if (!neighbours().empty()) {
    result.neighbours = 0;
    for (size_t pair = 0; pair < neighbours().size(); ++pair) {
      result.neighbours += neighbours()[pair].weight * connected_by(pair, changes);
    }
  }
  return result;
}

Mixing mixing_of(const Graph& network) { return NetworkMixing(network).with({}); }

}  // namespace lathe
