// export.cpp: a Graph to an ONNX model of standard operators. Interface: export_onnx() of onnx.h.
#include "base/error.h"
#include "data/file.h"
#include "onnx/export_site.h"
#include "onnx/onnx.h"

namespace lathe {
namespace {

// What Debian's checker and every current runtime know; a graph that needs a later set gets it.
constexpr long usual_opset = 17;
constexpr long ir_version = 8;

void set_type(onnx::ValueInfoProto& info, const Value& value) {
  info.set_name(value.name);
  auto* tensor = info.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(onnx_of_element(value.type.element));
  if (value.type.dynamic) return;
  auto* shape = tensor->mutable_shape();
  for (long extent : value.type.shape) shape->add_dim()->set_dim_value(extent);
}

long needed_opset(const Graph& graph) {
  long opset = usual_opset;
  std::string missing;
  for (const Node& node : graph.nodes) {
    auto found = exports().find(node.op);
    if (found == exports().end()) {
      missing += fmt::format("\n  {}, node '{}'", node.op, node.name);
    } else {
      opset = std::max(opset, found->second.since);
    }
  }
  if (!missing.empty()) fail("ONNX has no standard operator for:{}", missing);
  return opset;
}

void add_given(const Graph& graph, onnx::GraphProto& out) {
  for (const Value& value : graph.values) {
    if (value.kind == Value::Kind::computed || value.kind == Value::Kind::input) continue;
    if (!value.data) {
      fail("weight '{}' has no data and no way to begin; give it one, as in \"= normal(0.1)\"",
           value.name);
    }
    *out.add_initializer() = tensor_of(*value.data, value.name);
    // Readers do not look at this; Lathe tells weights from constants by it.
    out.mutable_initializer()->rbegin()->set_doc_string(name_of(value.kind));
  }
}

}  // namespace

std::string ExportSite::input(size_t i) const {
  bool there = i < node_.inputs.size() && node_.inputs[i] != no_value;
  return there ? graph_.values[node_.inputs[i]].name : "";
}

std::vector<std::string> ExportSite::inputs() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < node_.inputs.size(); ++i) names.push_back(input(i));
  return names;
}

onnx::NodeProto& ExportSite::add(const std::string& op, const std::vector<std::string>& inputs,
                                 const OnnxAttributes& attributes) const {
  onnx::NodeProto& node = *out_.add_node();
  node.set_op_type(op);
  size_t count = inputs.size();
  while (count > 0 && inputs[count - 1].empty()) --count;
  for (size_t i = 0; i < count; ++i) node.add_input(inputs[i]);
  for (const auto& [name, value] : attributes) {
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
    } else if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
      attribute.set_type(onnx::AttributeProto::STRINGS);
      for (const std::string& x : *texts) attribute.add_strings(x);
    } else {
      attribute.set_type(onnx::AttributeProto::FLOATS);
      for (double x : std::get<std::vector<double>>(value)) {
        attribute.add_floats(static_cast<float>(x));
      }
    }
  }
  return node;
}

void ExportSite::finish(const std::string& op, const std::vector<std::string>& inputs,
                        const OnnxAttributes& attributes, size_t skipped) const {
  onnx::NodeProto& node = add(op, inputs, attributes);
  node.set_name(node_.name);
  for (size_t i = 0; i < skipped; ++i) node.add_output(fmt::format("{}/unused{}", node_.name, i));
  for (size_t i = 0; i < node_.outputs.size(); ++i) node.add_output(output(i));
}

std::string ExportSite::between(const std::string& op, const std::vector<std::string>& inputs,
                                const OnnxAttributes& attributes) const {
  onnx::NodeProto& node = add(op, inputs, attributes);
  std::string name = fmt::format("{}/{}{}", node_.name, op, out_.node_size());
  node.set_name(name);
  node.add_output(name);
  return name;
}

std::string ExportSite::integers(const std::string& what, const Shape& list) const {
  std::string name = fmt::format("{}/{}", node_.name, what);
  Array data = Array::of_integers(Element::i64, {static_cast<long>(list.size())}, list);
  *out_.add_initializer() = tensor_of(data, name);
  return name;
}

std::string ExportSite::scalar(const std::string& what, double value, Element element) const {
  std::string name = fmt::format("{}/{}", node_.name, what);
  std::vector<double> list{value};
  *out_.add_initializer() = tensor_of(Array::of_reals(element, {}, list), name);
  return name;
}

std::string export_onnx(const Graph& graph) {
  verify_types(graph);
  long opset = needed_opset(graph);
  onnx::ModelProto model;
  model.set_ir_version(ir_version);
  model.set_producer_name("lathe");
  auto* import = model.add_opset_import();
  import->set_domain("");
  import->set_version(opset);
  onnx::GraphProto& out = *model.mutable_graph();
  out.set_name(graph.name);
  for (ValueId id : graph.inputs) set_type(*out.add_input(), graph.values[id]);
  add_given(graph, out);
  for (const Node& node : graph.nodes) {
    exports().at(node.op).write(ExportSite(graph, node, out, opset));
  }
  for (ValueId id : graph.outputs) set_type(*out.add_output(), graph.values[id]);
  std::string bytes;
  if (!model.SerializeToString(&bytes)) {
    fail("'{}' is too large for an ONNX file (2 GiB)", graph.name);
  }
  return bytes;
}

void write_onnx(const Graph& graph, const std::string& path) {
  std::string bytes = export_onnx(graph);
  write_file(path, {std::as_bytes(std::span(bytes))});
}

}  // namespace lathe
