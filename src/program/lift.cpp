// lift.cpp: from a nest back to operators of a graph. Interface: lift.h.
//
// Every statement of products is a convolution of a part of its input, or several (contraction.h),
// and every copy is a "take"; each makes a piece of the tensor that it writes (pieces.h).
#include "program/lift.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "program/contraction.h"
#include "program/pieces.h"

namespace lathe {
namespace {

class Lift {
 public:
  Lift(const Graph& graph, size_t node, const Nest& nest)
      : graph_(graph),
        node_(graph.nodes[node]),
        index_(node),
        nest_(nest),
        out_(graph.name),
        renamed_(graph.values.size(), no_value) {}

  Graph run() {
    // The layer's own weights are added when their elements are chosen.
    std::vector<std::vector<size_t>> users = consumers(graph_);
    for (size_t id = 0; id < graph_.values.size(); ++id) {
      bool own = graph_.values[id].kind != Value::Kind::input && users[id] == std::vector{index_};
      if (!own) add_given(id);
    }
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (n == index_) {
        lift();
      } else {
        copy(graph_.nodes[n]);
      }
    }
    for (ValueId id : graph_.outputs) out_.output(renamed_[id]);
    return out_.build();
  }

 private:
  const Graph& graph_;
  const Node& node_;
  size_t index_;
  const Nest& nest_;
  GraphBuilder out_;
  std::vector<ValueId> renamed_;               // of each value, the one that stands for it now
  std::vector<ValueId> operand_of_;            // of each tensor, the value; none: made here
  std::vector<Pieces> pieces_;                 // of each tensor, what was made so far
  std::vector<std::optional<size_t>> biases_;  // of each tensor, the weight it begins with
  ValueId first_ = no_value;  // what the first convolution makes: it is named like the layer

  [[noreturn]] static void refuse(const std::string& why) { throw NoForm(why); }

  // The rest of the graph.

  void add_given(ValueId id) {
    const Value& value = graph_.values[id];
    switch (value.kind) {
      case Value::Kind::computed:
        return;
      case Value::Kind::input:
        renamed_[id] = out_.input(value.name, value.type);
        return;
      default:
        renamed_[id] = value.data
                           ? out_.weight(value.name, *value.data, value.kind)
                           : out_.weight(value.name, value.type.shape, value.initial, value.kind);
    }
  }

  void copy(const Node& node) {
    std::vector<ValueId> inputs;
    for (ValueId id : node.inputs) inputs.push_back(id == no_value ? no_value : renamed_[id]);
    std::vector<ValueId> outputs = out_.call_all(node.op, inputs, node.attributes, node.name);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      renamed_[node.outputs[i]] = outputs[i];
      out_.rename(outputs[i], graph_.values[node.outputs[i]].name);
    }
  }

  // The layer.

  void lift() {
    match_tensors();
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

  void add_statement(const Statement& s) {
    Shape sizes = extents(plain_order(s, {}));
    if (!poly::is_box(s.domain, sizes))
      refuse("statement '" + s.name + "' does not run over a box");
    if (s.update == Update::add && s.reads.size() == 2 && is_product(s.value)) {
      for (const Contraction& c : contractions_of(nest_, s)) add_convolution(c, s.write.tensor);
    } else if (s.update == Update::assign && s.value.op == Expr::Op::read) {
      add_copy(s, sizes);
    } else {
      refuse("statement '" + s.name + "' is neither a sum of products nor a copy");
    }
  }

  // Copies: a bias at the beginning, or elements that stand for others.

  /// Returns  x + step * i  for every x of a list and every i < count.
  static Shape stepped(const Shape& list, long step, long count) {
    Shape result;
    for (long x : list) {
      for (long i = 0; i < count; ++i) result.push_back(x + step * i);
    }
    return result;
  }

  void add_copy(const Statement& s, const Shape& sizes) {
    const Access& source = s.reads[s.value.read];
    std::vector<Linear> to = linear_indices(nest_, s.write), from = linear_indices(nest_, source);
    if (nest_.tensors()[source.tensor].role == Role::weight) {
      biases_[s.write.tensor] = source.tensor;
      return;
    }
    auto found_whole = pieces_[source.tensor].merged();
    if (!found_whole) refuse("statement '" + s.name + "' copies what is not computed in one piece");
    const Piece& whole = *found_whole;
    Piece piece{whole.value, {}, {}};
    std::set<size_t> owned;  // coordinates that move along one dimension
    for (size_t d = 0; d < to.size(); ++d) {
      Shape targets{to[d].constant}, sources{from[d].constant};
      for (size_t c = 0; c < sizes.size(); ++c) {
        if (to[d].coefficients[c] == 0 && from[d].coefficients[c] == 0) continue;
        if (!owned.insert(c).second) refuse("statement '" + s.name + "' mixes dimensions");
        targets = stepped(targets, to[d].coefficients[c], sizes[c]);
        sources = stepped(sources, from[d].coefficients[c], sizes[c]);
      }
      Shape inside;
      for (long index : sources) {
        auto found = std::find(whole.to[d].begin(), whole.to[d].end(), index);
        if (found == whole.to[d].end())
          refuse("statement '" + s.name + "' copies what is not there");
        inside.push_back(whole.from[d][static_cast<size_t>(found - whole.to[d].begin())]);
      }
      piece.to.push_back(targets);
      piece.from.push_back(inside);
    }
    pieces_[s.write.tensor].add(piece);
  }

  // Products: convolutions.

  void add_convolution(const Contraction& c, size_t tensor) {
    ValueId source = selected(value_of_input(c.input), c.channels, c.slides);
    Shape shape = c.weight_shape;
    if (needs_row(c)) shape.push_back(1);
    ValueId weight = chosen_weights(c.weight, shape, c.weight_offsets, c.groups);
    Piece piece{no_value, {}, c.to};
    for (const Shape& list : c.to) piece.from.push_back(counted(static_cast<long>(list.size())));
    // What is added to a piece that is there already has no bias of its own.
    bool first = !pieces_[tensor].has(piece);
    ValueId bias = biases_[tensor] && first ? taken_weight(*biases_[tensor], c.to[1]) : no_value;
    piece.value = convolved(source, weight, bias, c);
    pieces_[tensor].add(piece);
  }

  /// Cuts the channels, and the rows that no window touches, out of an input.
  ValueId selected(ValueId value, const Shape& channels, const std::vector<Sliding>& slides) {
    value = taken(out_, value, 1, channels, node_.name);
    Shape starts(out_.shape(value).size(), 0), sizes = out_.shape(value);
    for (size_t d = 0; d < slides.size(); ++d) {
      long first = std::max(0L, slides[d].first), spare = sizes[d + 2] - slides[d].end;
      // Rows behind the last window do not matter if there is no room for another one.
      sizes[d + 2] -= first + (spare >= slides[d].stride ? spare : 0);
      starts[d + 2] = first;
    }
    if (sizes == out_.shape(value)) return value;
    return out_.call("slice", {value}, {{"starts", starts}, {"sizes", sizes}},
                     node_.name + ".slice");
  }

  /// Returns a weight of these elements of the tensor; the weight itself if these are all.
  ValueId chosen_weights(size_t tensor, const Shape& shape, const std::vector<long>& offsets,
                         long groups) {
    ValueId id = operand_of_[tensor];
    std::string name =
        id == no_value ? node_.name + "." + nest_.tensors()[tensor].name : graph_.values[id].name;
    bool all = id != no_value && shape == graph_.values[id].type.shape &&
               offsets == counted(count_of(shape));
    if (all) {
      if (renamed_[id] == no_value) add_given(id);
      return renamed_[id];
    }
    if (id == no_value || !graph_.values[id].data) {
      return out_.weight(name, shape, he_fan_out(shape, groups));
    }
    std::vector<double> from = graph_.values[id].data->reals(), values;
    for (long offset : offsets) values.push_back(from[static_cast<size_t>(offset)]);
    Element element = graph_.values[id].type.element;
    return out_.weight(name, Array::of_reals(element, shape, values), graph_.values[id].kind);
  }

  /// Returns the elements of a weight of one dimension.
  ValueId taken_weight(size_t tensor, const Shape& indices) {
    return chosen_weights(tensor, {static_cast<long>(indices.size())}, indices, 1);
  }

  /// Groups of single numbers are a convolution of rows of length 1.
  static bool needs_row(const Contraction& c) { return c.groups > 1 && c.slides.empty(); }

  /// Adds a convolution or a fully connected layer: the first is named like the layer it replaces.
  ValueId layer(const char* op, const std::vector<ValueId>& inputs, const Attributes& attributes) {
    ValueId result = out_.call(op, inputs, attributes, node_.name);
    if (first_ == no_value) first_ = result;
    return result;
  }

  ValueId convolved(ValueId source, ValueId weight, ValueId bias, const Contraction& c) {
    Shape strides, dilations, pads, after;
    for (size_t d = 0; d < c.slides.size(); ++d) {
      const Sliding& s = c.slides[d];
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
    auto value = pieces_[tensor].whole(nest_.tensors()[tensor].shape);
    if (!value) refuse("the parts of '" + nest_.tensors()[tensor].name + "' do not fill it");
    return *value;
  }
};

}  // namespace

Graph with_nest(const Graph& graph, size_t node, const Nest& nest) {
  try {
    return Lift(graph, node, nest).run();
  } catch (const NoForm& error) {
    fail("layer '{}': {}; it has no form in standard operators", graph.nodes[node].name,
         error.what());
  }
}

}  // namespace lathe
