// A node of an ONNX model while it is imported: its attributes and operands on the one side, the
// graph that grows on the other. Each import_*.cpp holds the translations of one kind of operator.
#pragma once

#include <functional>
#include <set>
#include <unordered_map>

#include "onnx/onnx.h"
#include "onnx/proto.h"
#include "ops/op_graph.h"
#include "poly/isl.h"

namespace lathe {

/// What the nodes of a model share.
struct ImportState {
  explicit ImportState(std::string name) : graph(std::move(name)) {}

  GraphBuilder graph;
  DataFolder folder;
  Context context;
  std::unordered_map<std::string, ValueId> values;                  ///< by ONNX's names
  std::unordered_map<std::string, std::vector<ValueId>> sequences;  ///< lists of tensors
  std::unordered_map<ValueId, Array> known;    ///< inputs that were given, what follows from them
  std::set<ValueId> constants;                 ///< that translations made
  std::unordered_map<ValueId, size_t> makers;  ///< which node computes a value
  std::string source;                          ///< the file, for messages
  std::map<std::string, long> opsets;          ///< versions of the operator sets, by domain
  /// Initialisers of bodies, which an unrolled loop reads many times.
  std::unordered_map<const onnx::TensorProto*, ValueId> stored_tensors;
  long folded = 0;    ///< elements that folding made so far
  long grown = 0;     ///< of those, elements beyond as many as were folded
  long stored = 0;    ///< elements that translations made so far
  long unrolled = 0;  ///< nodes that unrolling made so far
};

/// Returns a value that is known when the network is imported: a constant, an input whose value was
/// given, or what follows from such.
std::optional<Array> known_value(ImportState& state, ValueId id);
/// Has the call few instances? Sums may have many more than operands and results have elements.
bool is_soon_done(isl::ctx ctx, const Call& call);

/// Names a node; one without a name of its own is called by its first output.
std::string name_of_node(const onnx::NodeProto& node);

class Site {
 public:
  Site(ImportState& state, const onnx::NodeProto& node, long opset)
      : state_(state), node_(node), opset_(opset) {}

  long opset() const { return opset_; }
  const onnx::NodeProto& node() const { return node_; }
  ImportState& state() const { return state_; }
  /// Names the node in messages: "node 'conv1' (Conv)".
  std::string where() const;

  // Attributes.
  bool has_attribute(const std::string& name) const { return find(name) != nullptr; }
  long integer(const std::string& name, long otherwise) const;
  double real(const std::string& name, double otherwise) const;
  std::string text(const std::string& name, const std::string& otherwise) const;
  Shape integers(const std::string& name, const Shape& otherwise = {}) const;
  std::vector<double> reals(const std::string& name) const;
  std::vector<std::string> texts(const std::string& name) const;
  std::optional<Array> tensor(const std::string& name) const;
  /// Returns the body of control flow.
  const onnx::GraphProto& subgraph(const std::string& name) const;

  // Operands.
  size_t inputs() const { return static_cast<size_t>(node_.input_size()); }
  bool has(size_t i) const { return i < inputs() && !node_.input(static_cast<int>(i)).empty(); }
  ValueId input(size_t i) const;
  /// Returns operand i, or no value if it is left out.
  ValueId optional_input(size_t i) const { return has(i) ? input(i) : no_value; }
  const Type& type(size_t i) const { return state_.graph.type(input(i)); }
  /// Returns a shape by value: adding nodes moves what the graph stores.
  Shape shape(size_t i) const;
  Element element(size_t i) const { return type(i).element; }
  const std::vector<ValueId>& sequence(size_t i) const;
  bool is_sequence(size_t i) const;
  std::vector<ValueId> all_inputs() const;

  /// Returns the value of an operand, if it is known now.
  std::optional<Array> constant(size_t i) const;
  std::optional<Array> constant_of(ValueId id) const;
  /// Returns the value of an operand that must be known: it decides a shape.
  Array required(size_t i, const std::string& what) const;

  /// Returns integers that are an attribute in old operator sets and operand i in new ones.
  std::optional<Shape> integers_or_input(const std::string& name, size_t i) const;

  // Results.
  size_t outputs() const { return static_cast<size_t>(node_.output_size()); }
  bool wants(size_t i) const { return i < outputs() && !node_.output(static_cast<int>(i)).empty(); }
  /// Adds a node to the graph, or computes it at once if all its operands are known.
  ValueId emit(std::string_view op, const std::vector<ValueId>& inputs,
               const Attributes& attributes = {}) const;
  std::vector<ValueId> emit_all(std::string_view op, const std::vector<ValueId>& inputs,
                                const Attributes& attributes = {}) const;
  ValueId constant_value(Array data) const;
  /// Counts the elements of a tensor that a translation is about to make, such as a mask or a list
  /// of indices; fails where they are too many.
  long storable(const Shape& shape) const;
  /// Counts the nodes that one more round of a loop makes; fails where they are too many.
  void count_unrolled(long nodes) const;
  /// Makes a value output i of the node.
  void set_output(size_t i, ValueId value) const;
  void set_sequence(size_t i, std::vector<ValueId> values) const;

  // Small translations that many need.
  ValueId reshaped(ValueId value, const Shape& shape) const;
  ValueId transposed(ValueId value, const Shape& perm) const;
  ValueId cast(ValueId value, Element element) const;
  /// Returns "size" places along an axis from "start" on.
  ValueId sliced(ValueId value, size_t axis, long start, long size) const;
  /// Returns one place along an axis, without that axis.
  ValueId element_at(ValueId value, size_t axis, long index) const;
  /// Joins values along an axis that they have, or along a new one; there is at least one value.
  ValueId joined(const std::vector<ValueId>& values, size_t axis) const;
  ValueId stacked(std::vector<ValueId> values, size_t axis) const;
  /// Returns a single number.
  ValueId number(Element element, double value) const;
  const Type& type_of(ValueId value) const { return state_.graph.type(value); }
  Shape shape_of(ValueId value) const { return type_of(value).shape; }
  /// Fails where the shape depends on data.
  Shape static_shape_of(ValueId value) const;
  /// Returns an axis from 0 on; negative ones count from the end of "rank" dimensions.
  size_t axis(long value, size_t rank) const;

  /// Fail: Lathe lacks something, or the model is wrong.
  [[noreturn]] void unsupported(const std::string& what) const;
  [[noreturn]] void wrong(const std::string& what) const;

 private:
  ImportState& state_;
  const onnx::NodeProto& node_;
  long opset_;

  const onnx::AttributeProto* find(const std::string& name) const;
  const onnx::AttributeProto* find(const std::string& name, int type) const;
};

using Translation = std::function<void(const Site&)>;
using Translations = std::map<std::string, Translation>;

/// Return the translations by ONNX's names of operators, one list for each kind.
Translations elementwise_translations();
Translations window_translations();
Translations shape_translations();
Translations reduction_translations();
Translations index_translations();
Translations quantised_translations();
Translations sequence_translations();
Translations gradient_translations();
Translations control_translations();
Translations attention_translations();
Translations linear_attention_translations();
Translations recurrent_translations();
Translations sampling_translations();
Translations signal_translations();
Translations training_translations();

/// Returns all of them.
const Translations& translations();

/// Returns the graph with one operator in place of each formula that exporters spell out: gelu(x)
/// for x * (1 + erf(x / sqrt(2))) / 2.
Graph recognised(const Graph& graph);

}  // namespace lathe
