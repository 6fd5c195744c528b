// dynamic_to_static.cpp: operators that data direct become ones that are known, where the data are.
//
//   constant i = [2, 0]                    y = take(x, indices=[2, 0])
//   y = gather(x, i)             =>
//
// Each of these operators only moves elements. So it is run on their places, which says where each
// element of the result comes from; blocks that stay together are then taken by a list. What has
// no nest before has one afterwards, and a shape that was not known is known.
#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.h"
#include "ops/op.h"
#include "passes/pass.h"
#include "passes/pass_rewrite.h"

namespace lathe::passes {
namespace {

/// The operands that an operator moves; the others say where to.
const std::map<std::string, std::vector<size_t>> movers = {
    {"compress", {0}},      {"gather", {0}},           {"gather_elements", {0}},
    {"gather_nd", {0}},     {"reverse_sequence", {0}}, {"scatter_elements", {0, 2}},
    {"scatter_nd", {0, 2}},
};

// A list is a part of the code; places are kept while the pass runs.
constexpr size_t longest_list = 4096;
constexpr long most_places = 1L << 24;

bool is_mover(const Node& node) {
  // What is combined has no single place that it comes from.
  auto found = node.attributes.find("reduction");
  bool combines = found != node.attributes.end() && std::get<std::string>(found->second) != "none";
  return movers.contains(node.op) && !combines;
}

/// Elements of blocks: [outer, extent, inner], of which a list says what is taken of "extent".
struct TakenBlocks {
  long outer, extent, inner;
  Shape indices;
};

/// Are the places those of whole blocks of so many elements?
bool are_blocks(const std::vector<long>& places, long block) {
  for (size_t i = 0; i < places.size(); ++i) {
    long inside = static_cast<long>(i) % block;
    if (places[i] % block != inside) return false;
    if (inside > 0 && places[i] != places[i - 1] + 1) return false;
  }
  return true;
}

/// Does every one of so many equal parts take the same of its own?
bool are_parts(const std::vector<long>& blocks, long extent, long parts) {
  auto length = static_cast<long>(blocks.size()) / parts;
  for (size_t i = 0; i < blocks.size(); ++i) {
    long part = static_cast<long>(i) / length;
    long first = blocks[static_cast<size_t>(static_cast<long>(i) % length)];
    if (first >= extent / parts || blocks[i] != first + part * (extent / parts)) return false;
  }
  return true;
}

/// Returns the greatest divisor of both numbers for which "holds".
template <class Holds>
long greatest_divisor(long a, long b, Holds holds) {
  long both = std::gcd(a, b);
  for (long divisor = both; divisor > 1; --divisor) {
    if (both % divisor == 0 && holds(divisor)) return divisor;
  }
  return 1;
}

/// Writes places among "count" elements with as short a list as there is.
TakenBlocks taken_blocks(const std::vector<long>& places, long count) {
  auto taken = static_cast<long>(places.size());
  long inner = greatest_divisor(count, taken, [&](long b) { return are_blocks(places, b); });
  Shape list;
  for (size_t i = 0; i < places.size(); i += static_cast<size_t>(inner)) {
    list.push_back(places[i] / inner);
  }
  long extent = count / inner;
  long outer =
      greatest_divisor(extent, taken / inner, [&](long o) { return are_parts(list, extent, o); });
  list.resize(list.size() / static_cast<size_t>(outer));
  return {outer, extent / outer, inner, list};
}

class Fixing {
 public:
  explicit Fixing(const Graph& graph)
      : rewrite_(graph), folded_(find_pass("FoldConstant").run(graph, {})) {}

  Graph run() {
    for (size_t n = 0; n < rewrite_.graph.nodes.size(); ++n) {
      const Node node = rewrite_.graph.nodes[n];
      refine_types(rewrite_.graph, node);
      if (!is_mover(node)) continue;
      if (auto places = places_of(node)) take(n, *places);
    }
    return rewrite_.finish();
  }

 private:
  Rewrite rewrite_;
  Graph folded_;  // which knows all that can be known
  Context context_;

  std::optional<Array> known(ValueId id) const {
    auto same = find_value(folded_, rewrite_.graph.values[id].name);
    return same ? folded_.values[*same].data : std::nullopt;
  }

  /// Returns where the elements of the result come from, counted through all moved operands.
  std::optional<Array> places_of(const Node& node) {
    const std::vector<size_t>& moved = movers.at(node.op);
    std::vector<std::optional<Operand>> operands;
    std::vector<Array> arrays;
    long places = 0;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      Type type = rewrite_.graph.values[node.inputs[i]].type;
      if (type.dynamic || type.element == Element::string) return std::nullopt;
      if (std::find(moved.begin(), moved.end(), i) == moved.end()) {
        auto data = known(node.inputs[i]);
        if (!data) return std::nullopt;
        arrays.push_back(*data);
      } else {
        long count = count_of(type.shape);
        if (count == 0 || places + count > most_places) return std::nullopt;
        std::vector<long> own(static_cast<size_t>(count));
        std::iota(own.begin(), own.end(), places);
        places += static_cast<long>(own.size());
        type.element = Element::i64;
        arrays.push_back(Array::of_integers(type.element, type.shape, own));
      }
      operands.push_back(Operand{type});
    }
    try {
      return evaluate(context_, Call(*find_op(node.op), operands, node.attributes), arrays).at(0);
    } catch (const UserError&) {
      return std::nullopt;  // the network says what is wrong when it runs
    }
  }

  ValueId call(size_t n, const std::string& op, const std::vector<ValueId>& inputs,
               const Attributes& attributes) {
    return rewrite_.call_before(n, op, inputs, attributes, rewrite_.graph.nodes[n].name + "." + op);
  }

  /// Returns all elements that a node moves: those of several operands one after the other.
  ValueId moved_by(size_t n) {
    const Node node = rewrite_.graph.nodes[n];
    const std::vector<size_t>& moved = movers.at(node.op);
    if (moved.size() == 1) return node.inputs[moved[0]];
    std::vector<ValueId> rows;
    for (size_t i : moved) {
      long count = count_of(rewrite_.graph.values[node.inputs[i]].type.shape);
      rows.push_back(call(n, "reshape", {node.inputs[i]}, {{"shape", Shape{count}}}));
    }
    return call(n, "concat", rows, {{"axis", 0L}});
  }

  /// Makes a node take its elements by a list.
  void take(size_t n, const Array& places) {
    if (places.count() == 0) return;
    ValueId all = moved_by(n);
    Type type = rewrite_.graph.values[all].type;
    TakenBlocks blocks = taken_blocks(places.integers(), count_of(type.shape));
    if (blocks.indices.size() > longest_list) return;
    ValueId x =
        call(n, "reshape", {all}, {{"shape", Shape{blocks.outer, blocks.extent, blocks.inner}}});
    ValueId taken = call(n, "take", {x}, {{"axis", 1L}, {"indices", blocks.indices}});
    rewrite_.graph.values[rewrite_.graph.nodes[n].outputs[0]].type = {type.element, places.shape()};
    rewrite_.become(n, "reshape", {taken}, {{"shape", places.shape()}});
  }
};

Graph run_dynamic_to_static(const Graph& graph, const PassContext& /*context*/) {
  bool any = std::any_of(graph.nodes.begin(), graph.nodes.end(), is_mover);
  return any ? Fixing(graph).run() : graph;
}

}  // namespace

Pass dynamic_to_static() {
  return {.name = "DynamicToStatic",
          .summary = "take by a list what known indices, lengths or conditions choose",
          .run = run_dynamic_to_static};
}

}  // namespace lathe::passes
