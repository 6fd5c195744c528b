// channels.cpp: coupled channels, found from the nests. Interface: channels.h.
//
// Every index of every dimension of every value is an element of a union-find structure. For two
// accesses of a statement, the pairs of indices (i, j) that meet in some instance say how they are
// coupled:
//
//   each i meets one j           i and j are the same channel, if the i of one j are neighbours (a
//                                flattened channel); if not, a weight's j counts inside groups of i
//   equal blocks of i meet equal blocks of j     groups: both stay divisible by their number
//   anything else                they are independent (a dense layer, a window)
#include "program/channels.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "nest/nest.h"
#include "ops/op.h"
#include "poly/isl.h"

namespace lathe {
namespace {

/// How two dimensions of two tensors of a nest are coupled.
struct Tie {
  size_t first_tensor, first_dim, second_tensor, second_dim;
  std::vector<std::pair<long, long>> same;  ///< pairs of indices that are one channel
  long multiple = 1;                        ///< both sides stay divisible by this
  bool counts_inside = false;               ///< do the indices of one side count inside groups?
};

/// An index of an access: a function of the statement's coordinates, less the padding.
struct Function {
  size_t tensor, dim;
  poly::Affine value;
  std::vector<bool> involved;
  long before, extent;
};

std::vector<Function> functions_of(const Nest& nest, const Statement& s) {
  std::vector<Function> result;
  auto add = [&](const Access& access) {
    const Tensor& tensor = nest.tensors()[access.tensor];
    for (size_t d = 0; d < tensor.shape.size(); ++d) {
      poly::Affine value = poly::take_apart(access.at.at(static_cast<int>(d)));
      Pad pad = tensor.pad[d];
      long extent = tensor.shape[d] - pad.before - pad.after;
      if (extent < 2) continue;
      result.push_back({access.tensor, d, value, poly::involved(value), pad.before, extent});
    }
  };
  add(s.write);
  for (const Access& access : s.reads) add(access);
  return result;
}

/// The pairs of indices that meet, as the range of partners of each index on either side.
struct Meeting {
  struct Partners {
    long lowest = -1, highest = -1, count = 0;
  };
  std::vector<Partners> of_first, of_second;
  std::vector<std::pair<long, long>> pairs;
};

/// Enumerates the pairs: over the coordinates that either index depends on.
std::optional<Meeting> meeting_of(const Function& a, const Function& b, const Shape& extents) {
  constexpr long most = 1L << 23;
  std::vector<size_t> coordinates;
  bool shared = false;
  long count = 1;
  for (size_t c = 0; c < extents.size(); ++c) {
    if (!a.involved[c] && !b.involved[c]) continue;
    shared = shared || (a.involved[c] && b.involved[c]);
    coordinates.push_back(c);
    count *= extents[c];
    if (count > most) return std::nullopt;
  }
  if (!shared) return std::nullopt;
  std::vector<std::pair<long, long>> pairs;
  std::vector<long> x(extents.size(), 0);
  for (long k = 0; k < count; ++k) {
    long rest = k;
    for (size_t c : coordinates) {
      x[c] = rest % extents[c];
      rest /= extents[c];
    }
    long i = poly::evaluate(a.value, x) - a.before, j = poly::evaluate(b.value, x) - b.before;
    if (i >= 0 && i < a.extent && j >= 0 && j < b.extent) pairs.emplace_back(i, j);
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  Meeting m{std::vector<Meeting::Partners>(static_cast<size_t>(a.extent)),
            std::vector<Meeting::Partners>(static_cast<size_t>(b.extent)), pairs};
  auto note = [](Meeting::Partners& p, long partner) {
    p.lowest = p.count == 0 ? partner : std::min(p.lowest, partner);
    p.highest = std::max(p.highest, partner);
    ++p.count;
  };
  for (const auto& [i, j] : pairs) {
    note(m.of_first[static_cast<size_t>(i)], j);
    note(m.of_second[static_cast<size_t>(j)], i);
  }
  return m;
}

bool all_have_one(const std::vector<Meeting::Partners>& side) {
  return std::all_of(side.begin(), side.end(), [](const auto& p) { return p.count <= 1; });
}

bool are_neighbours(const std::vector<Meeting::Partners>& side) {
  return std::all_of(side.begin(), side.end(), [](const auto& p) {
    return p.count == 0 || p.highest - p.lowest + 1 == p.count;
  });
}

/// Returns the number of equal blocks that the partners of "side" fall into; 1 if they do not.
long blocks(const std::vector<Meeting::Partners>& side) {
  long size = side.front().count, number = 0, next = 0;
  if (size == 0 || !are_neighbours(side)) return 1;
  for (const auto& p : side) {
    if (p.count != size || p.lowest % size != 0) return 1;
    if (p.lowest == next) {
      next += size;
      ++number;
    } else if (p.lowest != next - size) {
      return 1;
    }
  }
  return number;
}

std::optional<Tie> tie_of(const Function& a, const Function& b, const Meeting& m) {
  Tie tie{a.tensor, a.dim, b.tensor, b.dim, {}};
  bool forward = all_have_one(m.of_first), backward = all_have_one(m.of_second);
  const auto& many = forward ? m.of_second : m.of_first;
  if (forward || backward) {
    if (are_neighbours(many)) {
      tie.same = m.pairs;
    } else {
      tie.counts_inside = true;
    }
    return tie;
  }
  tie.multiple = std::gcd(blocks(m.of_first), blocks(m.of_second));
  return tie.multiple > 1 ? std::optional(tie) : std::nullopt;
}

std::vector<Tie> ties_of(const Nest& nest) {
  std::vector<Tie> ties;
  for (size_t i = 0; i < nest.statements().size(); ++i) {
    const Statement& s = nest.statements()[i];
    Shape sizes = extents(plain_order(s, {}));
    std::vector<Function> functions = functions_of(nest, s);
    for (size_t p = 0; p < functions.size(); ++p) {
      for (size_t q = p + 1; q < functions.size(); ++q) {
        bool same_tensor = functions[p].tensor == functions[q].tensor;
        if (same_tensor && functions[p].dim != functions[q].dim) continue;
        auto meeting = meeting_of(functions[p], functions[q], sizes);
        if (!meeting) continue;
        if (auto tie = tie_of(functions[p], functions[q], *meeting)) ties.push_back(*tie);
      }
    }
  }
  return ties;
}

/// Sets of elements that were found to be the same channel.
class UnionFind {
 public:
  size_t add(size_t count) {
    size_t first = parent_.size();
    parent_.resize(first + count);
    std::iota(parent_.begin() + static_cast<long>(first), parent_.end(), first);
    return first;
  }
  size_t find(size_t x) {
    while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
    return x;
  }
  void unite(size_t a, size_t b) {
    a = find(a);
    b = find(b);
    if (a != b) parent_[std::max(a, b)] = std::min(a, b);
  }
  size_t size() const { return parent_.size(); }

 private:
  std::vector<size_t> parent_;
};

/// One dimension of a value, or of a tensor inside a nest.
struct Dimension {
  size_t first;  // its first element
  long extent;
  long multiple = 1;
  std::string fixed_by = "";  // what fixes it; empty: nothing
};

class Finder {
 public:
  explicit Finder(const Graph& graph) : graph_(graph), of_value_(graph.values.size()) {
    for (ValueId id = 0; id < graph.values.size(); ++id) {
      if (!graph.values[id].type.dynamic) of_value_[id] = add(graph.values[id].type.shape);
    }
    for (ValueId id : graph.inputs) fix(id, "input", graph.values[id].name);
    for (ValueId id : graph.outputs) fix(id, "output", graph.values[id].name);
  }

  std::vector<ChannelSet> run() {
    for (const Node& node : graph_.nodes) tie(node);
    return collect();
  }

 private:
  const Graph& graph_;
  Context context_;
  UnionFind elements_;
  std::vector<Dimension> dimensions_;
  std::vector<std::vector<size_t>> of_value_;  // the dimensions of each value
  std::map<std::string, std::pair<std::vector<Tie>, std::vector<Tensor>>> known_;
  std::set<std::pair<size_t, size_t>> inside_;  // dimensions: of all channels, inside a group

  std::vector<size_t> add(const Shape& shape) {
    std::vector<size_t> ids;
    for (long extent : shape) {
      ids.push_back(dimensions_.size());
      dimensions_.push_back({elements_.add(static_cast<size_t>(extent)), extent});
    }
    return ids;
  }

  void fix(ValueId id, const char* what, const std::string& name) {
    for (size_t d : of_value_[id]) dimensions_[d].fixed_by = fmt::format("{} '{}'", what, name);
  }

  void tie(const Node& node) {
    Call call = call_of(graph_, node);
    if (!reads_are_known(call)) {
      // Which elements an operator reads is not known here where data decide it.
      for (ValueId id : node.inputs) {
        if (id != no_value) fix(id, "operator", node.name);
      }
      for (ValueId id : node.outputs) fix(id, "operator", node.name);
      return;
    }
    std::string key = print(call);
    auto found = known_.find(key);
    if (found == known_.end()) {
      Nest nest = nest_of(context_, call);
      found = known_.emplace(key, std::pair(ties_of(nest), nest.tensors())).first;
    }
    apply(node, found->second.first, found->second.second);
  }

  void apply(const Node& node, const std::vector<Tie>& ties, const std::vector<Tensor>& tensors) {
    std::vector<ValueId> operands;
    for (ValueId id : node.inputs) {
      if (id != no_value) operands.push_back(id);
    }
    std::vector<std::vector<size_t>> dims;
    size_t next_input = 0, next_output = 0;
    for (const Tensor& tensor : tensors) {
      if (tensor.role == Role::local) {
        dims.push_back(add(tensor.shape));
      } else if (tensor.role == Role::output) {
        dims.push_back(of_value_[node.outputs[next_output++]]);
      } else {
        dims.push_back(of_value_[operands[next_input++]]);
      }
    }
    for (const Tie& t : ties) {
      Dimension& a = dimensions_[dims[t.first_tensor][t.first_dim]];
      Dimension& b = dimensions_[dims[t.second_tensor][t.second_dim]];
      for (const auto& [i, j] : t.same) {
        elements_.unite(a.first + static_cast<size_t>(i), b.first + static_cast<size_t>(j));
      }
      if (t.counts_inside) {
        size_t first = dims[t.first_tensor][t.first_dim],
               second = dims[t.second_tensor][t.second_dim];
        inside_.insert(a.extent > b.extent ? std::pair(first, second) : std::pair(second, first));
      }
      a.multiple = std::lcm(a.multiple, std::gcd(t.multiple, a.extent));
      b.multiple = std::lcm(b.multiple, std::gcd(t.multiple, b.extent));
    }
  }

  /// Puts channels of the same members into one set.
  std::vector<ChannelSet> collect() {
    std::map<size_t, std::vector<std::pair<size_t, long>>> parts;  // root -> (place, index)
    struct Where {
      ValueId value;
      size_t dim;
    };
    std::vector<Where> places;
    for (ValueId id = 0; id < graph_.values.size(); ++id) {
      for (size_t d = 0; d < of_value_[id].size(); ++d) {
        const Dimension& dimension = dimensions_[of_value_[id][d]];
        for (long i = 0; i < dimension.extent && dimension.extent > 1; ++i) {
          parts[elements_.find(dimension.first + static_cast<size_t>(i))].emplace_back(
              places.size(), i);
        }
        places.push_back({id, d});
      }
    }
    std::map<std::string, size_t> sets;  // members -> place in the result
    std::vector<ChannelSet> result;
    for (const auto& [root, members] : parts) {
      std::string key;
      for (const auto& [place, index] : members) key += fmt::format("{} ", place);
      auto [found, is_new] = sets.emplace(key, result.size());
      if (is_new) result.push_back({0, 1, false, {}});
      ChannelSet& set = result[found->second];
      ++set.channels;
      for (const auto& [place, index] : members) {
        const Where& where = places[place];
        const Dimension& dimension = dimensions_[of_value_[where.value][where.dim]];
        set.multiple = std::lcm(set.multiple, dimension.multiple);
        if (!dimension.fixed_by.empty() && !set.fixed) set.why = dimension.fixed_by;
        set.fixed = set.fixed || !dimension.fixed_by.empty();
        auto member = std::find_if(set.members.begin(), set.members.end(), [&](const auto& m) {
          return m.value == where.value && m.dimension == where.dim;
        });
        if (member == set.members.end()) {
          set.members.push_back({where.value, where.dim, index, 1, {index}});
        } else {
          member->first = std::min(member->first, index);
          ++member->count;
          member->elements.push_back(index);
        }
      }
    }
    std::erase_if(result, [&](const ChannelSet& set) { return !is_of_weights(set); });
    for (ChannelSet& set : result) add_inside(set);
    return result;
  }

  /// Adds the weights whose inputs are the set's channels, counted inside groups.
  void add_inside(ChannelSet& set) const {
    std::vector<ChannelRange> members = set.members;
    for (ValueId id = 0; id < graph_.values.size(); ++id) {
      if (graph_.values[id].kind != Value::Kind::weight) continue;
      for (size_t d = 0; d < of_value_[id].size(); ++d) {
        bool inside = std::any_of(members.begin(), members.end(), [&](const ChannelRange& m) {
          return inside_.contains({of_value_[m.value][m.dimension], of_value_[id][d]});
        });
        if (!inside) continue;
        long extent = graph_.values[id].type.shape[d];
        std::vector<long> all(static_cast<size_t>(extent));
        std::iota(all.begin(), all.end(), 0L);
        set.members.push_back({id, d, 0, extent, std::move(all)});
      }
    }
  }

  /// Does the set have a part in weights and in what flows through the network?
  bool is_of_weights(const ChannelSet& set) const {
    bool weights = false, computed = false;
    for (const ChannelRange& m : set.members) {
      const Value& value = graph_.values[m.value];
      weights = weights || (value.kind == Value::Kind::weight && value.type.shape.size() > 1);
      computed =
          computed || value.kind == Value::Kind::computed || value.kind == Value::Kind::input;
    }
    return weights && computed;
  }
};

}  // namespace

std::vector<ChannelSet> channel_sets(const Graph& graph) { return Finder(graph).run(); }

}  // namespace lathe
