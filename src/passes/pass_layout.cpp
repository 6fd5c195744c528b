// pass_layout.cpp: classes of values, and graphs that are stored as chosen. Interface:
// pass_layout.h.
#include "passes/pass_layout.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

#include "base/random.h"
#include "passes/pass_channels.h"
#include "passes/pass_rewrite.h"

namespace lathe {
namespace {

using passes::add_copy;
using passes::copy_node;
using passes::has_channels;
using passes::operands_apart;
using passes::summed_operand;
using passes::sums_channels;
using passes::takes_any_layout;
using passes::walks_channels;

/// Is it an image of numbers, or of small integers that stand for some?
bool is_image(const Type& type) {
  bool quantised = type.element == Element::i8 || type.element == Element::u8;
  return !type.dynamic && type.shape.size() >= 3 && (is_float(type.element) || quantised);
}

/// Copies an input that convolutions read, so that it can be stored as they like it.
Graph with_copied_inputs(const Graph& graph) {
  Graph result = graph;
  auto users = consumers(graph);
  std::vector<Node> copies;
  for (ValueId id : graph.inputs) {
    if (!is_image(graph.values[id].type)) continue;
    bool wanted = std::any_of(users[id].begin(), users[id].end(),
                              [&](size_t n) { return sums_channels(graph, graph.nodes[n]); });
    if (!wanted) continue;
    ValueId to = add_copy(result, id, ".stored");
    for (size_t n : users[id]) {
      std::replace(result.nodes[n].inputs.begin(), result.nodes[n].inputs.end(), id, to);
    }
    copies.push_back(copy_node(result, id, to));
  }
  result.nodes.insert(result.nodes.begin(), copies.begin(), copies.end());
  return result;
}

/// Which values have the same channels, because operators take them over one by one: a value's
/// representative, and what is known of all of them.
class Classes {
 public:
  Classes(const Graph& graph, long vector_bytes)
      : vector_bytes_(vector_bytes),
        parent_(graph.values.size()),
        channels_(parent_.size(), 0),
        widest_(parent_.size(), 0),
        of_vector_(parent_.size(), 1) {
    std::iota(parent_.begin(), parent_.end(), ValueId{0});
    most_.assign(parent_.size(), 64);
    for (const Node& node : graph.nodes) {
      if (takes_any_layout(graph, node)) add(graph, node);
    }
    for (ValueId id = 0; id < parent_.size(); ++id) {
      const Type& type = graph.values[id].type;
      if (!is_image(type) || type.shape[1] == 1) continue;  // one channel is broadcast
      long& all = channels_[find(id)];
      all = std::gcd(all, type.shape[1]);
      widest_[find(id)] = std::max(widest_[find(id)], type.shape[1]);
      long& lanes = of_vector_[find(id)];
      lanes = std::max(lanes, lanes_of(type.element));
    }
    for (const Node& node : graph.nodes) add_groups(graph, node);
  }

  ValueId find(ValueId id) const {
    while (parent_[id] != id) id = parent_[id];
    return id;
  }

  long channels_of(ValueId id) const { return channels_[find(id)]; }

  /// Returns the blocks that fit all values of a class: the largest usual one first.
  std::vector<long> blocks_of(ValueId id) const {
    ValueId root = find(id);
    std::vector<long> blocks{own_block(root)};
    std::vector<long> others{16, 32, 64};
    // All channels of a pixel side by side (NHWC), where they fill vectors.
    if (widest_[root] == channels_[root] && widest_[root] % 8 == 0) others.push_back(widest_[root]);
    for (long block : others) {
      bool known = std::find(blocks.begin(), blocks.end(), block) != blocks.end();
      if (!known && channels_[root] % block == 0) blocks.push_back(block);
    }
    return blocks;
  }

 private:
  long vector_bytes_;
  std::vector<ValueId> parent_;
  std::vector<long> channels_, widest_, most_, of_vector_;
  std::map<ValueId, std::set<long>> groups_;  // how many channels groups have, for each class

  long own_block(ValueId root) const {
    auto groups = groups_.find(root);
    auto is_even = [&](long block) {
      return groups == groups_.end() ||
             std::all_of(groups->second.begin(), groups->second.end(),
                         [&](long size) { return size % block == 0 || block % size == 0; });
    };
    auto fills_vectors = [&](long block) { return block % of_vector_[root] == 0; };
    auto any = [](long) { return true; };
    std::array<std::function<bool(long)>, 3> wishes = {
        [&](long block) { return is_even(block) && fills_vectors(block); }, is_even, any};
    // A block that ends within a group would keep vectors of it apart. Where every one does, the
    // largest is as good as any.
    for (const auto& is_wished : wishes) {
      for (long block : {64L, 48L, 32L, 16L, 8L, 4L}) {
        bool fits = block <= most_[root] && channels_[root] % block == 0;
        if (fits && is_wished(block)) return block;
      }
    }
    return 1;
  }

  /// Returns how many elements are computed with in a vector; small integers become larger ones.
  long lanes_of(Element element) const {
    return vector_bytes_ / (is_float(element) ? size_of(element) : size_of(Element::i32));
  }

  /// Notes the groups of a convolution that sums over several channels of each.
  void add_groups(const Graph& graph, const Node& node) {
    auto data = summed_operand(graph, node);
    long count = passes::groups_of(graph, node);
    if (!data || count == 1) return;
    for (ValueId id : {node.inputs[*data], node.outputs.front()}) {
      const Shape& shape = graph.values[id].type.shape;
      if (shape.size() > 1 && shape[1] > count) groups_[find(id)].insert(shape[1] / count);
    }
  }

  void add(const Graph& graph, const Node& node) {
    if (!has_channels(graph, node)) return;
    std::vector<size_t> apart = operands_apart(graph, node);
    ValueId to = node.outputs.front();
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      ValueId from = node.inputs[i];
      bool is_apart = std::find(apart.begin(), apart.end(), i) != apart.end();
      if (is_apart || from == no_value || graph.values[from].kind != Value::Kind::computed)
        continue;
      if (is_image(graph.values[from].type)) unite(from, to);
    }
    // Windows with weights of their own for each channel walk a few channels at a time.
    if (walks_channels(graph, node)) {
      most_[find(to)] = std::max(16L, lanes_of(graph.values[to].type.element));
    }
  }

  void unite(ValueId a, ValueId b) {
    a = find(a);
    b = find(b);
    most_[b] = std::min(most_[a], most_[b]);
    parent_[a] = b;
  }
};

/// Is the value, which a node that takes any layout computes, one whose channels may lie in blocks?
bool may_lie_in_blocks(const Graph& graph, ValueId id, const std::vector<size_t>& users) {
  const Value& value = graph.values[id];
  bool is_output = std::find(graph.outputs.begin(), graph.outputs.end(), id) != graph.outputs.end();
  if (is_output || !is_image(value.type)) return false;
  bool liked = std::all_of(users.begin(), users.end(),
                           [&](size_t n) { return takes_any_layout(graph, graph.nodes[n]); });
  const Shape& shape = value.type.shape;
  bool is_pixel = std::all_of(shape.begin() + 2, shape.end(), [](long e) { return e == 1; });
  return liked && !is_pixel && shape[1] > 1;
}

/// Returns the value whose channels a node sums over.
ValueId data_of(const Graph& graph, size_t node) {
  return graph.nodes[node].inputs[*summed_operand(graph, graph.nodes[node])];
}

}  // namespace

Layouts layouts_of(const Graph& graph, long vector_bytes) {
  Layouts layouts{with_copied_inputs(graph), {}, {}};
  const Graph& g = layouts.graph;
  layouts.class_of.assign(g.values.size(), no_class);
  auto users = consumers(g);
  Classes classes(g, vector_bytes);
  std::map<ValueId, size_t> places;  // of classes, by their representative
  for (const Node& node : g.nodes) {
    if (!takes_any_layout(g, node) || !has_channels(g, node)) continue;
    for (ValueId id : node.outputs) {
      if (!may_lie_in_blocks(g, id, users[id])) continue;
      auto [at, is_new] = places.try_emplace(classes.find(id), layouts.classes.size());
      if (is_new) layouts.classes.push_back({{}, classes.blocks_of(id), classes.channels_of(id)});
      layouts.classes[at->second].values.push_back(id);
      layouts.class_of[id] = at->second;
    }
  }
  return layouts;
}

LayoutChoice own_choice(const Layouts& layouts) {
  LayoutChoice choice;
  for (const LayoutClass& each : layouts.classes) choice.blocks.push_back(each.blocks.front());
  return choice;
}

bool can_read_copy(const Layouts& layouts, size_t node) {
  const Node& n = layouts.graph.nodes[node];
  auto data = summed_operand(layouts.graph, n);
  return data && layouts.class_of[n.inputs[*data]] != no_class;
}

bool fits(const Layouts& layouts, const LayoutChoice& choice) {
  auto fit = [&](size_t c, long block) {
    return block > 0 && layouts.classes[c].channels % block == 0;
  };
  if (choice.blocks.size() != layouts.classes.size()) return false;
  for (size_t c = 0; c < choice.blocks.size(); ++c) {
    if (!fit(c, choice.blocks[c])) return false;
  }
  return std::all_of(choice.copies.begin(), choice.copies.end(), [&](const auto& copy) {
    return copy.first < layouts.graph.nodes.size() && can_read_copy(layouts, copy.first) &&
           fit(layouts.class_of[data_of(layouts.graph, copy.first)], copy.second);
  });
}

Graph with_layouts(const Layouts& layouts, const LayoutChoice& choice) {
  Graph result = layouts.graph;
  for (size_t c = 0; c < layouts.classes.size(); ++c) {
    for (ValueId id : layouts.classes[c].values) result.values[id].storage.block = choice.blocks[c];
  }
  std::map<std::pair<ValueId, long>, ValueId> copies;
  std::vector<Node> nodes;
  for (size_t n = 0; n < layouts.graph.nodes.size(); ++n) {
    Node node = layouts.graph.nodes[n];
    auto wanted = choice.copies.find(n);
    auto data = wanted == choice.copies.end() ? std::nullopt : summed_operand(layouts.graph, node);
    ValueId from = data ? node.inputs[*data] : no_value;
    if (data && result.values[from].storage.block != wanted->second) {
      auto [at, is_new] = copies.try_emplace({from, wanted->second});
      if (is_new) {
        at->second = add_copy(result, from, fmt::format(".by{}", wanted->second));
        result.values[at->second].storage.block = wanted->second;
        nodes.push_back(copy_node(result, from, at->second));
      }
      node.inputs[*data] = at->second;
    }
    nodes.push_back(std::move(node));
  }
  result.nodes = std::move(nodes);
  return result;
}

std::string layout_key(const Graph& graph) {
  std::map<ValueId, size_t> numbers;
  std::string text;
  auto add = [&](ValueId id) {
    if (id == no_value) return void(text += " -");
    size_t number = numbers.try_emplace(id, numbers.size()).first->second;
    const Value& value = graph.values[id];
    text += fmt::format(" {} {} {}", number, name_of(value.kind), print_type(value.type));
  };
  for (ValueId id : graph.inputs) add(id);
  for (const Node& node : graph.nodes) {
    text += "\n" + node.op;
    for (const auto& [name, value] : node.attributes) text += " " + name + print_attribute(value);
    for (ValueId id : node.inputs) add(id);
    text += " ->";
    for (ValueId id : node.outputs) add(id);
  }
  text += "\n";
  for (ValueId id : graph.outputs) add(id);
  return fmt::format("layouts of {} nodes {:016x}", graph.nodes.size(), hash_bytes(text));
}

std::string print(const LayoutChoice& choice) {
  std::string text = fmt::format("{};", fmt::join(choice.blocks, " "));
  for (const auto& [node, block] : choice.copies) text += fmt::format(" {}:{}", node, block);
  return text;
}

std::optional<LayoutChoice> parse_layout_choice(const std::string& text) {
  size_t end = text.find(';');
  if (end == std::string::npos) return std::nullopt;
  LayoutChoice choice;
  std::istringstream blocks(text.substr(0, end)), copies(text.substr(end + 1));
  for (long block = 0; blocks >> block;) choice.blocks.push_back(block);
  size_t node = 0;
  char colon = 0;
  for (long block = 0; copies >> node >> colon >> block;) choice.copies[node] = block;
  // What is not as print() writes it is of no use.
  return print(choice) == text ? std::optional(choice) : std::nullopt;
}

}  // namespace lathe
