// A node of a graph while it is exported: its call on the one side, the ONNX model that grows on
// the other. export_*.cpp hold the translations.
#pragma once

#include <functional>

#include "onnx/proto.h"
#include "ops/op.h"

namespace lathe {

/// An attribute of an ONNX node.
using OnnxAttributes = std::vector<std::pair<std::string, Attribute>>;

class ExportSite {
 public:
  ExportSite(const Graph& graph, const Node& node, onnx::GraphProto& out, long opset)
      : graph_(graph), node_(node), call_(call_of(graph, node)), out_(out), opset_(opset) {}

  const Call& call() const { return call_; }
  const Node& node() const { return node_; }
  long opset() const { return opset_; }

  /// Names operand or output i; operands that are left out have an empty name.
  std::string input(size_t i) const;
  std::string output(size_t i = 0) const { return graph_.values[node_.outputs[i]].name; }
  std::vector<std::string> inputs() const;
  const Type& output_type() const { return graph_.values[node_.outputs[0]].type; }

  /// Adds a node that makes the outputs, or one that makes a value on the way and returns its name.
  /// Of the node's own outputs the first "skipped" are ones that Lathe's operator does not have.
  void finish(const std::string& op, const std::vector<std::string>& inputs,
              const OnnxAttributes& attributes = {}, size_t skipped = 0) const;
  std::string between(const std::string& op, const std::vector<std::string>& inputs,
                      const OnnxAttributes& attributes = {}) const;

  /// Adds data and returns its name, where an attribute of Lathe is an operand in ONNX.
  std::string integers(const std::string& what, const Shape& list) const;
  std::string scalar(const std::string& what, double value, Element element) const;

 private:
  const Graph& graph_;
  const Node& node_;
  Call call_;
  onnx::GraphProto& out_;
  long opset_;

  onnx::NodeProto& add(const std::string& op, const std::vector<std::string>& inputs,
                       const OnnxAttributes& attributes) const;
};

/// How an operator is written in ONNX.
struct Export {
  std::function<void(const ExportSite&)> write;
  long since = 0;  ///< the first operator set that has what it needs, if it is a late one
};

/// Returns those of operators that run on arrays alone.
std::map<std::string, Export> sampling_exports();

/// Returns the translations by the operators' names.
const std::map<std::string, Export>& exports();

}  // namespace lathe
