// Small ONNX models, made in a few lines.
//
//   OnnxModel m(13);                        operator set 13
//   m.input("x", {2, 3});
//   m.node("Relu", {"x"}, {"y"});
//   m.output("y");
//   Graph graph = m.parse();
#pragma once

#include <string>
#include <vector>

#include "onnx/onnx.h"
#include "onnx/proto.h"
#include "support/temporary.h"

namespace lathe::test {

class OnnxModel {
 public:
  explicit OnnxModel(long opset = 17) {
    model_.set_ir_version(8);
    model_.mutable_graph()->set_name("g");
    opset_import("", opset);
  }

  onnx::ModelProto& model() { return model_; }
  onnx::GraphProto& graph() { return *model_.mutable_graph(); }

  void opset_import(const std::string& domain, long version) {
    auto* opset = model_.add_opset_import();
    opset->set_domain(domain);
    opset->set_version(version);
  }

  /// Adds an input; where a dimension is -1 it has the name "n".
  onnx::ValueInfoProto& input(const std::string& name, const Shape& shape,
                              Element element = Element::f32) {
    onnx::ValueInfoProto& info = *graph().add_input();
    info.set_name(name);
    auto* tensor = info.mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(onnx_of_element(element));
    tensor->mutable_shape();
    for (long extent : shape) {
      auto* dim = tensor->mutable_shape()->add_dim();
      if (extent == -1) {
        dim->set_dim_param("n");
      } else {
        dim->set_dim_value(extent);
      }
    }
    return info;
  }

  void output(const std::string& name) { graph().add_output()->set_name(name); }

  onnx::TensorProto& initialiser(const std::string& name, const Array& data) {
    *graph().add_initializer() = tensor_of(data, name);
    return *graph().mutable_initializer()->rbegin();
  }
  onnx::TensorProto& integers(const std::string& name, const std::vector<long>& list) {
    return initialiser(name,
                       Array::of_integers(Element::i64, {static_cast<long>(list.size())}, list));
  }
  onnx::TensorProto& integer(const std::string& name, long value) {
    return initialiser(name, Array::of_integers(Element::i64, {}, std::vector<long>{value}));
  }
  onnx::TensorProto& reals(const std::string& name, const std::vector<double>& list) {
    return initialiser(name, Array::of_reals(Element::f32, {static_cast<long>(list.size())}, list));
  }
  onnx::TensorProto& real(const std::string& name, double value) {
    return initialiser(name, Array::of_reals(Element::f32, {}, std::vector<double>{value}));
  }

  onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs, const Attributes& attributes = {},
                        const std::string& name = "") {
    onnx::NodeProto& node = *graph().add_node();
    node.set_op_type(op);
    node.set_name(name);
    for (const std::string& input : inputs) node.add_input(input);
    for (const std::string& output : outputs) node.add_output(output);
    for (const auto& [key, value] : attributes) add_attribute(node, key, value);
    return node;
  }

  /// Makes another model's graph an attribute of a node.
  static void add_body(onnx::NodeProto& node, const std::string& name, OnnxModel& body) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::GRAPH);
    *attribute.mutable_g() = body.graph();
  }

  std::string bytes() const { return model_.SerializeAsString(); }

  Graph parse(const ImportOptions& options = {},
              const std::string& folder = "/there/is/no/such/folder") const {
    return parse_onnx(bytes(), "m.onnx", folder, options);
  }
  /// Returns the message of the error that the model gives; "" where it gives none.
  std::string error(const ImportOptions& options = {},
                    const std::string& folder = "/there/is/no/such/folder") const {
    return message_of([&] { parse(options, folder); });
  }

 private:
  onnx::ModelProto model_;

  static void add_attribute(onnx::NodeProto& node, const std::string& name,
                            const Attribute& value) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    if (const long* integer = std::get_if<long>(&value)) {
      attribute.set_type(onnx::AttributeProto::INT);
      attribute.set_i(*integer);
    } else if (const double* real = std::get_if<double>(&value)) {
      attribute.set_type(onnx::AttributeProto::FLOAT);
      attribute.set_f(static_cast<float>(*real));
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      attribute.set_type(onnx::AttributeProto::STRING);
      attribute.set_s(*text);
    } else if (const auto* list = std::get_if<Shape>(&value)) {
      attribute.set_type(onnx::AttributeProto::INTS);
      for (long x : *list) attribute.add_ints(x);
    } else if (const auto* reals = std::get_if<std::vector<double>>(&value)) {
      attribute.set_type(onnx::AttributeProto::FLOATS);
      for (double x : *reals) attribute.add_floats(static_cast<float>(x));
    } else {
      attribute.set_type(onnx::AttributeProto::STRINGS);
      for (const std::string& x : std::get<std::vector<std::string>>(value)) {
        attribute.add_strings(x);
      }
    }
  }
};

/// Returns the text of the graph that a model becomes.
inline std::string print_onnx(const OnnxModel& model, const ImportOptions& options = {}) {
  return print(model.parse(options));
}

}  // namespace lathe::test
