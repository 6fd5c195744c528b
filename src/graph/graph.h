// A network as a graph: nodes apply operators to values. Values and nodes are named by ids, which
// are places in vectors; nodes stand in an order in which they can run.
//
//   input x: f32[1x3x32x32]
//   weight conv1.weight: f32[64x3x3x3] = normal(0.059)
//   conv1 = conv(x, conv1.weight, pads=[1, 1, 1, 1]): f32[1x64x32x32]
//   output conv1
//
// The graph is plain data. What an operator means (its types, its nest) is the business of ops/.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/array.h"
#include "base/pad.h"

namespace lathe {

/// What is known of a value before the network runs.
struct Type {
  Element element = Element::f32;
  Shape shape;
  bool dynamic = false;  ///< is the shape known only when the network runs?

  friend bool operator==(const Type&, const Type&) = default;
};

/// Prints a type: "f32[1x3x32x32]"; "f32[]" is a scalar, "f32[?]" dynamic.
std::string print_type(const Type& type);

using Attribute =
    std::variant<long, double, std::string, Shape, std::vector<double>, std::vector<std::string>>;
using Attributes = std::map<std::string, Attribute>;

/// Prints an attribute's value: 2, 0.5, "text", [1, 2].
std::string print_attribute(const Attribute& attribute);

/// How a weight begins when nobody has trained it.
struct Initial {
  enum class Kind { none, zeros, ones, normal, uniform };
  Kind kind = Kind::none;
  double scale = 1;  ///< deviation of a normal, bound of a uniform distribution

  friend bool operator==(const Initial&, const Initial&) = default;
};

using ValueId = size_t;

/// Stands for an optional input that is left out.
inline constexpr ValueId no_value = static_cast<ValueId>(-1);

/// Where the elements of a value lie while the network runs. By default they lie row-major in a
/// place of their own. Passes choose it; it changes no result, and the text form leaves it out.
struct Storage {
  long block = 1;           ///< number of channels (dimension 1) that lie side by side, innermost
  std::vector<Pad> border;  ///< elements around each dimension that hold "padding"; empty: none
  double padding = 0;
  ValueId whole = no_value;  ///< the value that this one is a part of, if any
  long first = 0;            ///< the channel of "whole" at which it begins

  friend bool operator==(const Storage&, const Storage&) = default;
};

struct Value {
  enum class Kind {
    input,     ///< given when the network runs
    weight,    ///< learnt
    state,     ///< kept by training but not learnt: the statistics of a batch normalisation
    constant,  ///< part of the network
    computed,  ///< the output of a node
  };
  std::string name;
  Kind kind = Kind::computed;
  Type type;
  std::optional<Array> data = std::nullopt;  ///< of weights, state and constants, where it is known
  Initial initial = {};                      ///< of weights and state without data
  Storage storage = {};
};

/// Names a kind of value: "input", "weight", ...
const char* name_of(Value::Kind kind);

struct Node {
  std::string name;
  std::string op;
  Attributes attributes;  ///< those that differ from the operator's defaults
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
};

struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
};

/// Checks that a graph is valid: ids exist, every computed value has one node that comes before its
/// users, names are unique, data have the type of their value.
void verify(const Graph& graph);

/// Returns for each value the nodes that read it, in order.
std::vector<std::vector<size_t>> consumers(const Graph& graph);

/// Finds a value, or a node, by name.
std::optional<ValueId> find_value(const Graph& graph, std::string_view name);
std::optional<size_t> find_node(const Graph& graph, std::string_view name);

/// Returns the graph without the nodes and values that no output needs. Inputs stay.
Graph without_dead(const Graph& graph);

/// Returns the graph with data for every weight and state that had none, drawn from "seed" and the
/// value's name: the same numbers on every machine.
Graph initialised(Graph graph, uint64_t seed);

/// Did the network come with all of its weights? Then somebody trained it.
bool is_trained(const Graph& graph);

/// Counts the elements of all weights.
long weight_count(const Graph& graph);

/// Hashes what the graph computes; names do not matter. Weights without data count by their type
/// and how they begin.
uint64_t structural_hash(const Graph& graph);

/// Hashes how the graph computes it: each node counts, also if others compute the same or if nobody
/// needs it, and so does where values lie. Neither names nor the order of independent nodes matter.
uint64_t written_hash(const Graph& graph);

/// Prints a graph, and reads it back. Data of more than 16 elements are not printed: the word
/// "stored" stands for them, and what is read back lacks them.
std::string print(const Graph& graph);
Graph parse_graph(std::string_view text, const std::string& source = "graph");

}  // namespace lathe
