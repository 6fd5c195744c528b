// lift.cpp: from a nest back to operators of a graph. Interface: lift.h.
//
// Every statement of products is a convolution of a part of its input, or several, and every copy
// is a "take"; each makes a piece of the tensor that it writes (pieces.h).
#include "program/lift.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "program/pieces.h"

namespace lathe {
namespace {

/// What a coordinate of a statement does, seen from the accesses.
enum class Part { batch, filter, channel, group, position, window, slice };

/// An index as a linear function of the statement's coordinates.
struct Linear {
  Shape coefficients;
  long constant;
  long at(const Shape& x) const {
    long value = constant;
    for (size_t i = 0; i < x.size(); ++i) value += coefficients[i] * x[i];
    return value;
  }
};

class Lift {
 public:
  Lift(const Graph& graph, size_t node, const Nest& nest)
      : graph_(graph), node_(graph.nodes[node]), index_(node), nest_(nest), out_(graph.name) {}

  Graph run() {
    std::vector<ValueId> renamed(graph_.values.size(), no_value);
    renamed_ = &renamed;
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
    for (ValueId id : graph_.outputs) out_.output(renamed[id]);
    return out_.build();
  }

 private:
  const Graph& graph_;
  const Node& node_;
  size_t index_;
  const Nest& nest_;
  GraphBuilder out_;
  std::vector<ValueId>* renamed_ = nullptr;
  std::vector<ValueId> operand_of_;            // of each tensor, the value; none: made here
  std::vector<Pieces> pieces_;                 // of each tensor, what was made so far
  std::vector<std::optional<size_t>> biases_;  // of each tensor, the weight it begins with
  ValueId first_ = no_value;  // what the first convolution makes: it is named like the layer

  [[noreturn]] void refuse(const std::string& why) const {
    fail("layer '{}': {}; it has no form in standard operators", node_.name, why);
  }

  // The rest of the graph.

  void add_given(ValueId id) {
    const Value& value = graph_.values[id];
    switch (value.kind) {
      case Value::Kind::computed:
        return;
      case Value::Kind::input:
        (*renamed_)[id] = out_.input(value.name, value.type);
        return;
      default:
        (*renamed_)[id] =
            value.data ? out_.weight(value.name, *value.data, value.kind)
                       : out_.weight(value.name, value.type.shape, value.initial, value.kind);
    }
  }

  void copy(const Node& node) {
    std::vector<ValueId> inputs;
    for (ValueId id : node.inputs) inputs.push_back(id == no_value ? no_value : (*renamed_)[id]);
    std::vector<ValueId> outputs = out_.call_all(node.op, inputs, node.attributes, node.name);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      (*renamed_)[node.outputs[i]] = outputs[i];
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
      (*renamed_)[node_.outputs.front()] = result;
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
      add_products(s, sizes);
    } else if (s.update == Update::assign && s.value.op == Expr::Op::read) {
      add_copy(s, sizes);
    } else {
      refuse("statement '" + s.name + "' is neither a sum of products nor a copy");
    }
  }

  std::vector<Linear> linear(const Access& access, bool without_padding) const {
    std::vector<Linear> result;
    const Tensor& tensor = nest_.tensors()[access.tensor];
    for (size_t d = 0; d < tensor.shape.size(); ++d) {
      poly::Affine a = poly::take_apart(access.at.at(static_cast<int>(d)));
      if (!a.is_linear()) refuse("an index of '" + tensor.name + "' is not linear");
      long pad = without_padding ? tensor.pad[d].before : 0;
      result.push_back({a.coefficients, a.constant - pad});
    }
    return result;
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
    std::vector<Linear> to = linear(s.write, false), from = linear(source, false);
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

  Part part_of(size_t c, const std::vector<Linear>& write, const std::vector<Linear>& weight,
               const std::vector<Linear>& input) const {
    auto in = [&](const std::vector<Linear>& index, size_t d) {
      return d < index.size() && index[d].coefficients[c] != 0;
    };
    size_t spatial_out = 0, spatial_in = 0, where_out = 0, where_in = 0;
    for (size_t d = 2; d < write.size(); ++d) {
      if (in(write, d)) ++spatial_out, where_out = d;
      if (in(input, d)) ++spatial_in, where_in = d;
    }
    bool batch = in(write, 0) || in(input, 0), filter = in(write, 1), channel = in(input, 1);
    bool positions = spatial_out + spatial_in > 0;
    if (batch) return filter || channel || positions ? Part::slice : Part::batch;
    if (!positions) {
      return filter    ? (channel ? Part::group : Part::filter)
             : channel ? Part::channel
                       : Part::slice;
    }
    if (filter || channel || spatial_out > 1 || spatial_in != 1) return Part::slice;
    if (spatial_out == 0) return Part::window;
    bool reads_weights = false;
    for (size_t d = 0; d < weight.size(); ++d) reads_weights = reads_weights || in(weight, d);
    return where_out == where_in && !reads_weights ? Part::position : Part::slice;
  }

  void add_products(const Statement& s, const Shape& sizes) {
    size_t w = nest_.tensors()[s.reads[0].tensor].role == Role::weight ? 0 : 1;
    if (nest_.tensors()[s.reads[w].tensor].role != Role::weight) {
      refuse("statement '" + s.name + "' has no weights");
    }
    Products p{s,
               sizes,
               linear(s.write, false),
               linear(s.reads[w], false),
               linear(s.reads[1 - w], true),
               s.reads[w].tensor,
               s.reads[1 - w].tensor,
               {}};
    if (p.write.size() < 2 || p.write.size() != p.input.size()) {
      refuse("statement '" + s.name + "' does not go from channels to channels");
    }
    std::vector<size_t> slices;
    for (size_t c = 0; c < sizes.size(); ++c) {
      p.parts.push_back(part_of(c, p.write, p.weight, p.input));
      if (p.parts.back() == Part::slice) slices.push_back(c);
    }
    // A coordinate that is more than one thing at once becomes so many convolutions.
    Shape x(sizes.size(), 0);
    long count = 1;
    for (size_t c : slices) count *= sizes[c];
    if (count > 64) refuse("it needs more than 64 convolutions");
    for (long k = 0; k < count; ++k) {
      long rest = k;
      for (size_t c : slices) {
        x[c] = rest % sizes[c];
        rest /= sizes[c];
      }
      add_convolution(p, x);
    }
  }

  struct Products {
    const Statement& statement;
    Shape sizes;
    std::vector<Linear> write, weight, input;
    size_t weight_tensor, input_tensor;
    std::vector<Part> parts;
  };

  /// Lists the points of the coordinates of one part; the others are as in "x".
  static std::vector<Shape> points(const Products& p, Part part, const Shape& x) {
    std::vector<Shape> result{x};
    for (size_t c = 0; c < p.sizes.size(); ++c) {
      if (p.parts[c] != part) continue;
      std::vector<Shape> longer;
      for (const Shape& point : result) {
        for (long i = 0; i < p.sizes[c]; ++i) {
          longer.push_back(point);
          longer.back()[c] = i;
        }
      }
      result = std::move(longer);
    }
    return result;
  }

  /// One dimension that the window slides along.
  struct Sliding {
    std::optional<size_t> position, window;  // coordinates
    long outputs = 1, elements = 1, stride = 1, dilation = 1;
    long first = 0, end = 1;  // of the input, padding included: negative is padding
  };

  Sliding sliding(const Products& p, size_t d, const Shape& x) const {
    Sliding result;
    for (size_t c = 0; c < p.sizes.size(); ++c) {
      if (p.input[d].coefficients[c] == 0 || p.parts[c] == Part::slice) continue;
      auto& place = p.parts[c] == Part::position ? result.position : result.window;
      if (place) refuse("statement '" + p.statement.name + "' has two loops in one dimension");
      place = c;
    }
    long step = 1;
    if (result.position) {
      result.outputs = p.sizes[*result.position];
      result.stride = p.input[d].coefficients[*result.position];
    }
    if (result.window) {
      result.elements = p.sizes[*result.window];
      result.dilation = p.input[d].coefficients[*result.window];
      step = result.dilation;
    }
    if (result.stride < 1 || step < 1) refuse("an index runs backwards");
    result.first = p.input[d].at(x);
    result.end = result.first + (result.outputs - 1) * result.stride +
                 (result.elements - 1) * result.dilation + 1;
    return result;
  }

  void add_convolution(const Products& p, const Shape& x) {
    std::vector<Shape> groups = points(p, Part::group, x), filters = points(p, Part::filter, x),
                       channels = points(p, Part::channel, x);
    auto together = [](const Shape& a, const Shape& b, const Shape& base) {
      Shape sum = a;
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += b[i] - base[i];
      return sum;
    };
    Shape inputs, outputs;
    for (const Shape& g : groups) {
      for (const Shape& f : filters) outputs.push_back(p.write[1].at(together(g, f, x)));
      for (const Shape& c : channels) inputs.push_back(p.input[1].at(together(g, c, x)));
    }
    std::vector<Sliding> slides;
    for (size_t d = 2; d < p.input.size(); ++d) slides.push_back(sliding(p, d, x));

    ValueId source = selected(value_of_input(p.input_tensor), inputs, slides);
    ValueId weight = weights(p, x, groups, filters, channels, slides);
    size_t tensor = p.statement.write.tensor;
    Piece piece = placed(p, x, outputs, slides);
    // What is added to a piece that is there already has no bias of its own.
    bool first = !pieces_[tensor].has(piece);
    ValueId bias = biases_[tensor] && first ? taken_weight(*biases_[tensor], outputs) : no_value;
    piece.value = convolved(source, weight, bias, static_cast<long>(groups.size()), slides);
    pieces_[tensor].add(piece);
  }

  /// Returns where the output of a convolution belongs; its value is still to come.
  static Piece placed(const Products& p, const Shape& x, const Shape& channels,
                      const std::vector<Sliding>& slides) {
    Piece piece{no_value, {}, {}};
    for (size_t d = 0; d < p.write.size(); ++d) {
      Shape list;
      if (d == 1) {
        list = channels;
      } else {
        std::optional<size_t> c;
        for (size_t k = 0; k < p.sizes.size(); ++k) {
          bool moves = p.write[d].coefficients[k] != 0 &&
                       (p.parts[k] == Part::position || p.parts[k] == Part::batch);
          if (moves) c = k;
        }
        long count = d == 0 ? (c ? p.sizes[*c] : 1) : slides[d - 2].outputs;
        for (long i = 0; i < count; ++i) {
          list.push_back(p.write[d].at(x) + (c ? p.write[d].coefficients[*c] * i : 0));
        }
      }
      piece.to.push_back(list);
      piece.from.push_back(counted(static_cast<long>(list.size())));
    }
    return piece;
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

  /// Returns the weights [filters, channels of a group, kernel] that the statement touches.
  ValueId weights(const Products& p, const Shape& x, const std::vector<Shape>& groups,
                  const std::vector<Shape>& filters, const std::vector<Shape>& channels,
                  const std::vector<Sliding>& slides) {
    Shape shape{static_cast<long>(groups.size() * filters.size()),
                static_cast<long>(channels.size())};
    for (const Sliding& s : slides) shape.push_back(s.elements);
    if (needs_row(groups.size(), slides)) shape.push_back(1);
    const Tensor& tensor = nest_.tensors()[p.weight_tensor];
    std::vector<long> offsets;
    std::vector<Shape> windows = points(p, Part::window, Shape(x.size(), 0));
    for (const Shape& g : groups) {
      for (const Shape& f : filters) {
        for (const Shape& c : channels) {
          for (const Shape& k : windows) {
            Shape point = k;
            for (size_t i = 0; i < point.size(); ++i) point[i] += g[i] + f[i] - x[i] + c[i] - x[i];
            long offset = 0;
            for (size_t d = 0; d < tensor.shape.size(); ++d) {
              offset = offset * tensor.shape[d] + p.weight[d].at(point);
            }
            offsets.push_back(offset);
          }
        }
      }
    }
    return chosen_weights(p.weight_tensor, shape, offsets, static_cast<long>(groups.size()));
  }

  ValueId chosen_weights(size_t tensor, const Shape& shape, const std::vector<long>& offsets,
                         long groups) {
    ValueId id = operand_of_[tensor];
    std::string name =
        id == no_value ? node_.name + "." + nest_.tensors()[tensor].name : graph_.values[id].name;
    bool all = id != no_value && shape == graph_.values[id].type.shape &&
               offsets == counted(count_of(shape));
    if (all) {
      if ((*renamed_)[id] == no_value) add_given(id);
      return (*renamed_)[id];
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
  static bool needs_row(size_t groups, const std::vector<Sliding>& slides) {
    return groups > 1 && slides.empty();
  }

  /// Adds a convolution or a fully connected layer: the first is named like the layer it replaces.
  ValueId layer(const char* op, const std::vector<ValueId>& inputs, const Attributes& attributes) {
    ValueId result = out_.call(op, inputs, attributes, node_.name);
    if (first_ == no_value) first_ = result;
    return result;
  }

  ValueId convolved(ValueId source, ValueId weight, ValueId bias, long groups,
                    const std::vector<Sliding>& slides) {
    Attributes attributes{{"groups", groups}};
    Shape strides, dilations, pads, after;
    for (size_t d = 0; d < slides.size(); ++d) {
      const Sliding& s = slides[d];
      strides.push_back(s.stride);
      dilations.push_back(s.dilation);
      pads.push_back(std::max(0L, -s.first));
      long cut = std::max(0L, s.first), stored = out_.shape(source)[d + 2];
      after.push_back(std::max(0L, s.end - cut - stored));  // none where rows are to spare
    }
    pads.insert(pads.end(), after.begin(), after.end());
    auto unless = [](const Shape& list, long value) {
      bool all = std::all_of(list.begin(), list.end(), [&](long v) { return v == value; });
      return all ? Shape{} : list;
    };
    attributes["strides"] = unless(strides, 1);
    attributes["dilations"] = unless(dilations, 1);
    attributes["pads"] = unless(pads, 0);
    if (!slides.empty()) return layer("conv", {source, weight, bias}, attributes);
    if (!needs_row(static_cast<size_t>(groups), slides)) {
      return layer("fully_connected", {source, weight, bias}, {});
    }
    auto with_row = [&](ValueId value) {
      Shape shape = out_.shape(value);
      shape.push_back(1);
      return out_.call("reshape", {value}, {{"shape", shape}}, node_.name + ".reshape");
    };
    ValueId result = layer("conv", {with_row(source), weight, bias}, {{"groups", groups}});
    Shape shape = out_.shape(result);
    shape.pop_back();
    return out_.call("reshape", {result}, {{"shape", shape}}, node_.name + ".reshape");
  }

  // Pieces.

  ValueId value_of_input(size_t tensor) {
    if (operand_of_[tensor] != no_value) return (*renamed_)[operand_of_[tensor]];
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
  return Lift(graph, node, nest).run();
}

}  // namespace lathe
