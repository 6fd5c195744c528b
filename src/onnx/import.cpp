// import.cpp: an ONNX model to a Graph. Interface: import_onnx() of onnx.h.
//
// Nodes are translated in order. Whatever is known is computed at once, so that chains that work
// out shapes (Shape, Gather, Concat, Reshape) leave nothing behind.
#include <algorithm>
#include <filesystem>

#include "data/file.h"
#include "onnx/import_graph.h"

namespace lathe {
namespace {

using onnx::ModelProto;
using onnx::ValueInfoProto;

class Importer {
 public:
  Importer(const ModelProto& model, const std::string& source, const std::string& folder,
           const ImportOptions& options)
      : model_(model),
        source_(source),
        options_(options),
        state_(model.graph().name().empty() ? "model" : model.graph().name()) {
    state_.folder = {folder};
    state_.source = source;
  }

  Graph run() {
    read_opsets();
    check_operators(state_, model_.graph());
    add_initialisers();
    add_inputs();
    translate_nodes(state_, model_.graph());
    add_outputs();
    return with_weights(recognised(state_.graph.build()));
  }

 private:
  const ModelProto& model_;
  const std::string& source_;
  const ImportOptions& options_;
  ImportState state_;
  std::set<std::string> constants_;  // initialisers that say that they are no weights

  void read_opsets() {
    for (const auto& opset : model_.opset_import()) {
      state_.opsets[opset.domain() == "ai.onnx" ? "" : opset.domain()] = opset.version();
    }
    if (model_.ir_version() >= 3 && model_.opset_import_size() == 0) {
      fail("'{}' does not say which operator sets it means: it is damaged or truncated", source_);
    }
    // Files of the first versions do not say which operators they mean.
    state_.opsets.emplace("", 1);
  }

  void add_initialisers() {
    if (model_.graph().sparse_initializer_size() > 0) {
      throw Unsupported(source_ + ": sparse initialisers are not supported");
    }
    for (const auto& tensor : model_.graph().initializer()) {
      auto given = options_.values.find(tensor.name());
      std::string what = fmt::format("{}: initialiser '{}'", source_, tensor.name());
      Array data =
          given != options_.values.end() ? given->second : array_of(tensor, state_.folder, what);
      ValueId id = state_.graph.constant(std::move(data), tensor.name());
      if (tensor.doc_string() == name_of(Value::Kind::constant)) constants_.insert(tensor.name());
      if (!state_.values.emplace(tensor.name(), id).second) {
        fail("{}: there are two initialisers '{}'", source_, tensor.name());
      }
    }
  }

  void add_inputs() {
    std::set<std::string> names;
    for (const ValueInfoProto& info : model_.graph().input()) {
      if (!names.insert(info.name()).second) {
        fail("{}: there are two inputs '{}'", source_, info.name());
      }
      if (state_.values.contains(info.name())) continue;  // an initialiser is its default
      if (!info.type().has_tensor_type()) {
        throw Unsupported(fmt::format("{}: input '{}' is not a tensor", source_, info.name()));
      }
      ValueId id = state_.graph.input(info.name(), type_of(info));
      state_.values.emplace(info.name(), id);
      auto given = options_.values.find(info.name());
      if (given != options_.values.end()) state_.known.emplace(id, given->second);
    }
    for (const auto& [name, shape] : options_.shapes) {
      if (state_.values.contains(name)) continue;
      std::string known;
      for (const auto& info : model_.graph().input()) known += " '" + info.name() + "'";
      fail("{}: there is no input '{}'; there are:{}", source_, name, known);
    }
  }

  Type type_of(const ValueInfoProto& info) const {
    const auto& tensor = info.type().tensor_type();
    std::string what = fmt::format("{}: input '{}'", source_, info.name());
    Type type{element_of_onnx(tensor.elem_type(), what), {}};
    auto given = options_.values.find(info.name());
    auto bound = options_.shapes.find(info.name());
    std::optional<Shape> wanted;
    if (given != options_.values.end()) wanted = given->second.shape();
    if (bound != options_.shapes.end()) wanted = bound->second;
    if (given != options_.values.end() && given->second.element() != type.element) {
      fail("{} is {}, but was given {}", what, name_of(type.element),
           name_of(given->second.element()));
    }
    if (!tensor.has_shape()) {
      if (!wanted) fail("{} has no shape; say --shape {}=1x3x...", what, info.name());
      type.shape = *wanted;
      return type;
    }
    if (wanted && wanted->size() != static_cast<size_t>(tensor.shape().dim_size())) {
      fail("{} has {} dimensions, not {} as in {}", what, tensor.shape().dim_size(), wanted->size(),
           print_shape(*wanted));
    }
    for (int i = 0; i < tensor.shape().dim_size(); ++i) {
      type.shape.push_back(extent_of(info, i, wanted, what));
    }
    return type;
  }

  long extent_of(const ValueInfoProto& info, int i, const std::optional<Shape>& wanted,
                 const std::string& what) const {
    const auto& dim = info.type().tensor_type().shape().dim(i);
    if (dim.has_dim_value() && dim.dim_value() >= 0) {
      if (wanted && (*wanted)[static_cast<size_t>(i)] != dim.dim_value()) {
        fail("{}: dimension {} is {} in the file, and cannot become {}", what, i, dim.dim_value(),
             (*wanted)[static_cast<size_t>(i)]);
      }
      return dim.dim_value();
    }
    if (dim.has_dim_value() && dim.dim_value() < -1) {
      fail("{}: dimension {} is {}", what, i, dim.dim_value());
    }
    if (wanted) return (*wanted)[static_cast<size_t>(i)];
    if (auto extent = extent_elsewhere(dim.dim_param())) return *extent;
    if (i != 0) {
      std::string name = dim.has_dim_param() ? "'" + dim.dim_param() + "'" : "not stated";
      fail("{}: dimension {} is {}; bind it, as in --shape {}={}", what, i, name, info.name(),
           suggested_shape(info));
    }
    return 1;  // the first dimension counts samples: one, unless somebody says more
  }

  /// Returns the extent of a dimension by its name, if another input's shape was given.
  std::optional<long> extent_elsewhere(const std::string& name) const {
    for (const ValueInfoProto& info : model_.graph().input()) {
      auto bound = options_.shapes.find(info.name());
      if (name.empty() || bound == options_.shapes.end()) continue;
      const auto& dims = info.type().tensor_type().shape().dim();
      if (static_cast<size_t>(dims.size()) != bound->second.size()) continue;
      for (int i = 0; i < dims.size(); ++i) {
        if (dims[i].dim_param() == name) return bound->second[static_cast<size_t>(i)];
      }
    }
    return std::nullopt;
  }

  /// Prints the shape with 1 for what is not known.
  static std::string suggested_shape(const ValueInfoProto& info) {
    Shape shape;
    for (const auto& dim : info.type().tensor_type().shape().dim()) {
      shape.push_back(dim.has_dim_value() && dim.dim_value() > 0 ? dim.dim_value() : 1);
    }
    return print_shape(shape);
  }

  void add_outputs() {
    std::set<ValueId> taken;
    for (const ValueInfoProto& info : model_.graph().output()) {
      auto found = state_.values.find(info.name());
      if (found == state_.values.end()) {
        if (state_.sequences.contains(info.name())) {
          throw Unsupported(fmt::format("{}: output '{}' is a sequence", source_, info.name()));
        }
        fail("{}: output '{}' is computed by no node", source_, info.name());
      }
      ValueId id = found->second;
      // What comes out has a place and a name of its own.
      bool computed = state_.graph.value(id).kind == Value::Kind::computed;
      if (state_.graph.value(id).kind == Value::Kind::constant) {
        state_.graph.rename(id, info.name() + "/constant");
      }
      if (!computed || !taken.insert(id).second) {
        id = state_.graph.call("identity", {id}, {}, info.name());
      }
      state_.graph.output(id);
    }
  }

  /// Tells weights from other constants: numbers with a fraction that an operator computes with.
  Graph with_weights(Graph graph) const {
    for (const Node& node : graph.nodes) {
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.inputs[i] == no_value) continue;
        Value& value = graph.values[node.inputs[i]];
        if (value.kind != Value::Kind::constant || !is_float(value.type.element)) continue;
        if (value.type.shape.empty() || constants_.contains(value.name)) continue;
        bool statistics = node.op == "batch_norm" && i >= 3;
        value.kind = statistics ? Value::Kind::state : Value::Kind::weight;
      }
    }
    verify_types(graph);
    return graph;
  }
};

ModelProto parse_model(const std::string& bytes, const std::string& source) {
  ModelProto model;
  if (!model.ParseFromString(bytes) || !model.has_graph()) {
    fail("'{}' is no ONNX model: it is damaged, truncated or something else", source);
  }
  return model;
}

}  // namespace

const Translations& translations() {
  static const Translations all = [] {
    Translations list;
    for (auto part : {elementwise_translations, window_translations, shape_translations,
                      reduction_translations, index_translations, quantised_translations,
                      sequence_translations, gradient_translations, control_translations,
                      attention_translations, linear_attention_translations, recurrent_translations,
                      sampling_translations, signal_translations, training_translations}) {
      list.merge(part());
    }
    return list;
  }();
  return all;
}

Graph parse_onnx(const std::string& bytes, const std::string& source, const std::string& folder,
                 const ImportOptions& options) {
  ModelProto model = parse_model(bytes, source);
  return Importer(model, source, folder, options).run();
}

Graph import_onnx(const std::string& path, const ImportOptions& options) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  return parse_onnx(read_file(path), path, folder.empty() ? "." : folder, options);
}

OnnxSummary summarise_onnx(const std::string& path) {
  ModelProto model = parse_model(read_file(path), path);
  std::set<std::string> defaults, operators;
  for (const auto& tensor : model.graph().initializer()) defaults.insert(tensor.name());
  for (const auto& node : model.graph().node()) {
    bool own = node.domain().empty() || node.domain() == "ai.onnx";
    operators.insert(own ? node.op_type() : node.domain() + ":" + node.op_type());
  }
  OnnxSummary summary;
  for (const auto& input : model.graph().input()) {
    std::optional<Element> element;
    if (input.type().has_tensor_type() && input.type().tensor_type().elem_type() != 0) {
      element = find_element(input.type().tensor_type().elem_type());
    }
    summary.inputs.push_back({input.name(), defaults.contains(input.name()), element});
  }
  summary.operators.assign(operators.begin(), operators.end());
  return summary;
}

}  // namespace lathe
