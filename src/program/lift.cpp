// lift.cpp: from a nest back to operators of a graph. Interface: lift.h.
//
// A statement of products becomes one or several convolutions of parts of its input
// (convolution.h), a copy a "take" (copy.h), a normalisation a batch_norm (normalisation.h). Each
// makes a piece of the tensor that it writes (pieces.h).
#include "program/lift.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "program/convolution.h"
#include "program/copy.h"
#include "program/normalisation.h"
#include "program/pieces.h"

namespace lathe {
namespace {

/// A graph while some of its layers are rewritten.
struct Rewriting {
  const Graph& graph;
  GraphBuilder out;
  std::vector<ValueId> renamed;  // of each value, the one that stands for it now

  explicit Rewriting(const Graph& from)
      : graph(from), out(from.name), renamed(from.values.size(), no_value) {}

  void add_given(ValueId id) {
    const Value& value = graph.values[id];
    switch (value.kind) {
      case Value::Kind::computed:
        return;
      case Value::Kind::input:
        renamed[id] = out.input(value.name, value.type);
        return;
      default:
        renamed[id] = value.data
                          ? out.weight(value.name, *value.data, value.kind)
                          : out.weight(value.name, value.type.shape, value.initial, value.kind);
    }
  }

  void copy(const Node& node) {
    std::vector<ValueId> inputs;
    for (ValueId id : node.inputs) inputs.push_back(id == no_value ? no_value : renamed[id]);
    std::vector<ValueId> outputs = out.call_all(node.op, inputs, node.attributes, node.name);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      renamed[node.outputs[i]] = outputs[i];
      out.rename(outputs[i], graph.values[node.outputs[i]].name);
    }
  }
};

/// Elements of a weight that a layer reads together: a weight of its own in the graph.
struct Part {
  size_t tensor;
  Shape shape;
  Shape offsets;  // of the elements, as the tensor is stored
  ValueId value = no_value;

  friend bool operator==(const Part& a, const Part& b) {
    return a.tensor == b.tensor && a.shape == b.shape && a.offsets == b.offsets;
  }
};

/// Adds one layer to a graph.
class Layer {
 public:
  Layer(Rewriting& rewriting, size_t node, const Nest& nest)
      : rewriting_(rewriting),
        graph_(rewriting.graph),
        out_(rewriting.out),
        renamed_(rewriting.renamed),
        node_(rewriting.graph.nodes[node]),
        nest_(nest) {}

  void lift() {
    match_tensors();
    for (size_t s : sequence(nest_.order)) begin_statement(nest_.statements()[s]);
    std::stable_sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) {
      return a.tensor != b.tensor ? a.tensor < b.tensor : first_of(a) < first_of(b);
    });
    for (size_t s : sequence(nest_.order)) add_statement(nest_.statements()[s]);
    for (size_t t = 0; t < nest_.tensors().size(); ++t) {
      if (nest_.tensors()[t].role != Role::output) continue;
      ValueId result = value_of(t);
      const Value& old = graph_.values[node_.outputs.front()];
      if (out_.shape(result) != old.type.shape) {
        fail(
            "layer '{}' would have the shape {} instead of {}, but what follows reads the latter; "
            "let the step complete it: repeat, or expand",
            node_.name, print_shape(out_.shape(result)), print_shape(old.type.shape));
      }
      renamed_[node_.outputs.front()] = result;
      if (first_ != no_value && first_ != result) out_.rename(first_, old.name + ".part");
      out_.rename(result, old.name);
    }
  }

 private:
  Rewriting& rewriting_;
  const Graph& graph_;
  GraphBuilder& out_;
  std::vector<ValueId>& renamed_;
  const Node& node_;
  const Nest& nest_;
  std::vector<ValueId> operand_of_;            // of each tensor, the value; none: made here
  std::vector<Pieces> pieces_;                 // of each tensor, what was made so far
  std::vector<std::optional<size_t>> biases_;  // of each tensor, the weight it begins with
  std::map<std::string, std::vector<Convolution>> convolutions_;  // of each statement of products
  std::vector<Part> parts_;   // of all weights, by their first elements: no order can rename them
  ValueId first_ = no_value;  // what the first convolution makes: it is named like the layer

  [[noreturn]] static void refuse(const std::string& why) { throw NoForm(why); }

  void match_tensors() {
    operand_of_.assign(nest_.tensors().size(), no_value);
    pieces_.resize(nest_.tensors().size(), Pieces(out_, node_.name));
    biases_.resize(nest_.tensors().size());
    std::vector<ValueId> operands;
    for (ValueId id : node_.inputs) {
      if (id != no_value) operands.push_back(id);
    }
    size_t next = 0;
    for (size_t t = 0; t < nest_.tensors().size(); ++t) {
      Role role = nest_.tensors()[t].role;
      if (role != Role::input && role != Role::weight) continue;
      // Weights that a step added come after the operator's own.
      if (next < operands.size()) operand_of_[t] = operands[next++];
    }
  }

  static bool is_sum_of_products(const Statement& s) {
    return s.update == Update::add && s.reads.size() == 2 && is_product(s.value);
  }

  static bool is_copy(const Statement& s) {
    return s.update == Update::assign && s.value.op == Expr::Op::read;
  }

  /// Is the statement a bias: what a tensor begins with?
  bool is_bias(const Statement& s) const {
    return is_copy(s) && nest_.tensors()[s.reads[s.value.read].tensor].role == Role::weight;
  }

  // Which parts the weights fall into is known before any is added: their names depend on it.

  void begin_statement(const Statement& s) {
    Shape sizes = extents(plain_order(s, {}));
    if (!poly::is_box(s.domain, sizes))
      refuse("statement '" + s.name + "' does not run over a box");
    if (is_bias(s)) biases_[s.write.tensor] = s.reads[s.value.read].tensor;
    if (!is_sum_of_products(s)) return;
    convolutions_[s.name] = convolutions_of(nest_, s);
    for (const Convolution& c : convolutions_[s.name]) {
      find_part(c.weight, weight_shape(c), c.weight_offsets);
      if (auto bias = biases_[s.write.tensor]) find_part(*bias, shape_of(c.to[1]), c.to[1]);
    }
  }

  Part& find_part(size_t tensor, Shape shape, Shape offsets) {
    Part part{tensor, std::move(shape), std::move(offsets)};
    auto found = std::find(parts_.begin(), parts_.end(), part);
    if (found != parts_.end()) return *found;
    parts_.push_back(std::move(part));
    return parts_.back();
  }

  static long first_of(const Part& part) {
    return *std::min_element(part.offsets.begin(), part.offsets.end());
  }

  static Shape shape_of(const Shape& list) { return {static_cast<long>(list.size())}; }

  void add_statement(const Statement& s) {
    if (is_sum_of_products(s)) {
      for (const Convolution& c : convolutions_[s.name]) add_convolution(c, s.write.tensor);
    } else if (is_copy(s)) {
      if (!is_bias(s)) add_copy(s);
    } else if (auto normalisation = normalisation_of(nest_, s)) {
      add_normalisation(s, *normalisation);
    } else {
      refuse("statement '" + s.name +
             "' is neither a sum of products, nor a copy, nor a normalisation");
    }
  }

  // Copies: elements that stand for others.

  void add_copy(const Statement& s) {
    Copy copy = copy_of(nest_, s);
    auto whole = pieces_[copy.tensor].merged();
    if (!whole) refuse("statement '" + s.name + "' copies what is not computed in one piece");
    Piece piece{whole->value, {}, copy.to};
    for (size_t d = 0; d < copy.to.size(); ++d) {
      Shape inside;
      for (long index : copy.from[d]) {
        auto found = std::find(whole->to[d].begin(), whole->to[d].end(), index);
        if (found == whole->to[d].end()) {
          refuse("statement '" + s.name + "' copies what is not there");
        }
        inside.push_back(whole->from[d][static_cast<size_t>(found - whole->to[d].begin())]);
      }
      piece.from.push_back(std::move(inside));
    }
    pieces_[s.write.tensor].assign(piece);
  }

  // Normalisations.

  void add_normalisation(const Statement& s, const Normalisation& n) {
    const Initial ones{Initial::Kind::ones}, zeros{Initial::Kind::zeros};
    ValueId x = value_of_input(n.input);
    auto of_channel = [&](size_t tensor, Initial initial, Value::Kind kind) {
      Part& part = find_part(tensor, {n.channels}, counted(n.channels));
      return chosen_weights(part, initial, kind);
    };
    ValueId result = out_.call("batch_norm",
                               {x, of_channel(n.scale, ones, Value::Kind::weight),
                                of_channel(n.shift, zeros, Value::Kind::weight),
                                of_channel(n.mean, zeros, Value::Kind::state),
                                of_channel(n.variance, ones, Value::Kind::state)},
                               {{"epsilon", n.epsilon}}, node_.name + ".norm");
    if (n.rectified) result = out_.call("relu", {result}, {}, node_.name + ".relu");
    Piece piece{result, {}, {}};
    for (long extent : inner_shape(nest_.tensors()[s.write.tensor])) {
      piece.to.push_back(counted(extent));
    }
    piece.from = piece.to;
    pieces_[s.write.tensor].add(piece);
  }

  // Products: convolutions.

  void add_convolution(const Convolution& c, size_t tensor) {
    ValueId source = selected(value_of_input(c.input), c);
    Shape shape = weight_shape(c);
    ValueId weight = chosen_weights(find_part(c.weight, shape, c.weight_offsets),
                                    he_fan_out(shape, c.groups), Value::Kind::weight);
    Piece piece{no_value, {}, c.to};
    for (const Shape& list : c.to) piece.from.push_back(counted(static_cast<long>(list.size())));
    // What is added to a piece that is there already has no bias of its own.
    bool first = !pieces_[tensor].has(piece);
    ValueId bias = biases_[tensor] && first ? taken_bias(*biases_[tensor], c.to[1]) : no_value;
    piece.value = convolved(source, weight, bias, c);
    pieces_[tensor].add(piece);
  }

  /// Cuts the samples, the channels, and the rows that windows touch out of an input.
  ValueId selected(ValueId value, const Convolution& c) {
    const std::vector<SlidingWindow>& slides = c.slides;
    value = taken(out_, value, 0, c.samples, node_.name);
    value = taken(out_, value, 1, c.channels, node_.name);
    Shape starts(out_.shape(value).size(), 0), sizes = out_.shape(value);
    for (size_t d = 0; d < slides.size(); ++d) {
      long first = std::max(0L, slides[d].first), spare = sizes[d + 2] - slides[d].end;
      // Rows behind the last window do not matter if there is no room for another one.
      sizes[d + 2] -= first + (spare >= slides[d].stride ? spare : 0);
      starts[d + 2] = first;
      if (sizes[d + 2] <= 0) refuse("a part of it reads nothing but padding");
    }
    if (sizes == out_.shape(value)) return value;
    return out_.call("slice", {value}, {{"starts", starts}, {"sizes", sizes}},
                     node_.name + ".slice");
  }

  /// Returns a part as a weight of the graph; the weight itself if it is all of it. One without
  /// data, and of another shape than before, begins with "initial".
  ValueId chosen_weights(Part& part, Initial initial, Value::Kind kind) {
    if (part.value != no_value) return part.value;
    ValueId id = operand_of_[part.tensor];
    const Value* old = id == no_value ? nullptr : &graph_.values[id];
    bool all =
        old && part.shape == old->type.shape && part.offsets == counted(count_of(part.shape));
    if (all) {
      if (renamed_[id] == no_value) rewriting_.add_given(id);
      part.value = renamed_[id];
    } else if (!old || !old->data) {
      part.value = out_.weight(name_of(part), part.shape, initial, old ? old->kind : kind);
    } else {
      std::vector<double> from = old->data->reals(), values;
      for (long offset : part.offsets) values.push_back(from[static_cast<size_t>(offset)]);
      part.value = out_.weight(name_of(part),
                               Array::of_reals(old->type.element, part.shape, values), old->kind);
    }
    return part.value;
  }

  /// Names a part: like the weight; those behind the first are numbered.
  std::string name_of(const Part& part) const {
    ValueId id = operand_of_[part.tensor];
    std::string name = id == no_value ? node_.name + "." + nest_.tensors()[part.tensor].name
                                      : graph_.values[id].name;
    auto first = std::find_if(parts_.begin(), parts_.end(),
                              [&](const Part& p) { return p.tensor == part.tensor; });
    long place = std::find(first, parts_.end(), part) - first;
    std::string numbered = place == 0 ? name : fmt::format("{}_{}", name, place);
    // Another weight keeps its name, whichever of the two is added first.
    while (numbered != name && find_value(graph_, numbered)) numbered += "_";
    return numbered;
  }

  /// Returns the elements of a bias.
  ValueId taken_bias(size_t tensor, const Shape& indices) {
    return chosen_weights(find_part(tensor, shape_of(indices), indices),
                          graph_.values[operand_of_[tensor]].initial, Value::Kind::weight);
  }

  static Shape weight_shape(const Convolution& c) {
    Shape shape = c.weight_shape;
    if (needs_row(c)) shape.push_back(1);
    return shape;
  }

  /// Groups of single numbers are a convolution of rows of length 1.
  static bool needs_row(const Convolution& c) { return c.groups > 1 && c.slides.empty(); }

  /// Adds a convolution or a fully connected layer: the first is named like the layer it replaces.
  ValueId layer(const char* op, const std::vector<ValueId>& inputs, const Attributes& attributes) {
    ValueId result = out_.call(op, inputs, attributes, node_.name);
    if (first_ == no_value) first_ = result;
    return result;
  }

  ValueId convolved(ValueId source, ValueId weight, ValueId bias, const Convolution& c) {
    Shape strides, dilations, pads, after;
    for (size_t d = 0; d < c.slides.size(); ++d) {
      const SlidingWindow& s = c.slides[d];
      strides.push_back(s.stride);
      dilations.push_back(s.dilation);
      pads.push_back(std::max(0L, -s.first));
      long cut = std::max(0L, s.first), stored = out_.shape(source)[d + 2];
      after.push_back(std::max(0L, s.end - cut - stored));  // none where rows are to spare
    }
    pads.insert(pads.end(), after.begin(), after.end());
    if (!c.slides.empty()) {
      return layer(
          "conv", {source, weight, bias},
          {{"groups", c.groups}, {"strides", strides}, {"dilations", dilations}, {"pads", pads}});
    }
    if (!needs_row(c)) return layer("fully_connected", {source, weight, bias}, {});
    auto with_row = [&](ValueId value) {
      Shape shape = out_.shape(value);
      shape.push_back(1);
      return out_.call("reshape", {value}, {{"shape", shape}}, node_.name + ".reshape");
    };
    ValueId result = layer("conv", {with_row(source), weight, bias}, {{"groups", c.groups}});
    Shape shape = out_.shape(result);
    shape.pop_back();
    return out_.call("reshape", {result}, {{"shape", shape}}, node_.name + ".reshape");
  }

  // Pieces.

  ValueId value_of_input(size_t tensor) {
    if (operand_of_[tensor] != no_value) return renamed_[operand_of_[tensor]];
    return value_of(tensor);
  }

  /// Returns the whole tensor as a value.
  ValueId value_of(size_t tensor) {
    auto value = pieces_[tensor].whole(inner_shape(nest_.tensors()[tensor]));
    if (!value) refuse("the parts of '" + nest_.tensors()[tensor].name + "' do not fill it");
    return *value;
  }
};

}  // namespace

Graph with_nests(const Graph& graph, const std::vector<LayerNest>& layers) {
  std::vector<const Nest*> nests(graph.nodes.size(), nullptr);
  for (const LayerNest& layer : layers) nests[layer.node] = &layer.nest;
  Rewriting rewriting(graph);
  // The layers' own weights are added when their elements are chosen.
  std::vector<std::vector<size_t>> users = consumers(graph);
  for (size_t id = 0; id < graph.values.size(); ++id) {
    bool own = graph.values[id].kind != Value::Kind::input && users[id].size() == 1 &&
               nests[users[id].front()];
    if (!own) rewriting.add_given(id);
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    try {
      if (nests[n]) {
        Layer(rewriting, n, *nests[n]).lift();
      } else {
        rewriting.copy(graph.nodes[n]);
      }
    } catch (const NoForm& error) {
      fail("layer '{}': {}; it has no form in standard operators", graph.nodes[n].name,
           error.what());
    }
  }
  for (ValueId id : graph.outputs) rewriting.out.output(rewriting.renamed[id]);
  return rewriting.out.build();
}

Graph with_nest(const Graph& graph, size_t node, const Nest& nest) {
  return with_nests(graph, {{node, nest}});
}

}  // namespace lathe
