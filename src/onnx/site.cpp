// site.cpp: a node of an ONNX model while it is imported. Interface: site.h.
#include "onnx/site.h"

#include <algorithm>

namespace lathe {
namespace {

using onnx::AttributeProto;

constexpr size_t most_listed = 1 << 20;   // numbers of an attribute
constexpr long most_stored = 1L << 25;    // elements that all translations may make
constexpr long most_folded = 1L << 26;    // elements that all folding may make
constexpr long most_grown = 1L << 22;     // of those, beyond what was folded
constexpr long most_unrolled = 1L << 16;  // nodes that all loops together may become

/// Elements that a result may have to be computed while importing: enough for every shape, and for
/// weights that are only rearranged, but no file grows much by it.
bool is_worth_folding(const std::vector<Type>& outputs, long operands, const ImportState& state) {
  long count = 0;
  for (const Type& type : outputs) {
    if (type.dynamic) return true;
    count += count_of(type.shape);
  }
  return count <= std::max(1024L, 4 * operands) && state.folded + count <= most_folded &&
         state.grown + std::max(0L, count - operands) <= most_grown;
}

/// ONNX stores 32 bits of a number that somebody wrote with few digits, such as 1e-5: the shortest
/// that means the same is that number.
double as_written(float value) { return std::stod(fmt::format("{}", value)); }

}  // namespace

std::string name_of_node(const onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  for (const std::string& output : node.output()) {
    if (!output.empty()) return output;
  }
  return "";
}

std::string Site::where() const {
  return fmt::format("node '{}' ({})", name_of_node(node_), node_.op_type());
}

const AttributeProto* Site::find(const std::string& name) const {
  for (const AttributeProto& attribute : node_.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

const AttributeProto* Site::find(const std::string& name, int type) const {
  const AttributeProto* attribute = find(name);
  // Files of the first versions do not say the type.
  if (attribute != nullptr && attribute->type() != type && attribute->type() != 0) {
    wrong(fmt::format("attribute '{}' has the wrong type", name));
  }
  return attribute;
}

long Site::integer(const std::string& name, long otherwise) const {
  const AttributeProto* found = find(name, AttributeProto::INT);
  return found != nullptr ? found->i() : otherwise;
}

double Site::real(const std::string& name, double otherwise) const {
  const AttributeProto* found = find(name, AttributeProto::FLOAT);
  if (found == nullptr) return otherwise;
  return as_written(found->f());
}

std::string Site::text(const std::string& name, const std::string& otherwise) const {
  const AttributeProto* found = find(name, AttributeProto::STRING);
  return found != nullptr ? found->s() : otherwise;
}

Shape Site::integers(const std::string& name, const Shape& otherwise) const {
  const AttributeProto* found = find(name, AttributeProto::INTS);
  return found != nullptr ? Shape(found->ints().begin(), found->ints().end()) : otherwise;
}

std::vector<double> Site::reals(const std::string& name) const {
  const AttributeProto* found = find(name, AttributeProto::FLOATS);
  if (found == nullptr) return {};
  return {found->floats().begin(), found->floats().end()};
}

std::vector<std::string> Site::texts(const std::string& name) const {
  const AttributeProto* found = find(name, AttributeProto::STRINGS);
  if (found == nullptr) return {};
  return {found->strings().begin(), found->strings().end()};
}

std::optional<Array> Site::tensor(const std::string& name) const {
  const AttributeProto* found = find(name, AttributeProto::TENSOR);
  if (found == nullptr) return std::nullopt;
  return array_of(found->t(), state_.folder, where() + ", attribute '" + name + "'");
}

const onnx::GraphProto& Site::subgraph(const std::string& name) const {
  const AttributeProto* found = find(name, AttributeProto::GRAPH);
  if (found == nullptr || !found->has_g()) wrong(fmt::format("it has no graph '{}'", name));
  return found->g();
}

ValueId Site::input(size_t i) const {
  if (!has(i)) wrong(fmt::format("operand {} is missing", i));
  const std::string& name = node_.input(static_cast<int>(i));
  auto found = state_.values.find(name);
  if (found != state_.values.end()) return found->second;
  if (state_.sequences.contains(name)) unsupported(fmt::format("'{}' is a sequence", name));
  wrong(fmt::format("reads '{}', which nothing computes before it", name));
}

const std::vector<ValueId>& Site::sequence(size_t i) const {
  if (!has(i)) wrong(fmt::format("operand {} is missing", i));
  auto found = state_.sequences.find(node_.input(static_cast<int>(i)));
  if (found == state_.sequences.end()) unsupported("a sequence that is not made in the model");
  return found->second;
}

bool Site::is_sequence(size_t i) const {
  return has(i) && state_.sequences.contains(node_.input(static_cast<int>(i)));
}

Shape Site::shape(size_t i) const {
  const Type& known = type(i);
  if (known.dynamic) {
    unsupported(fmt::format("the shape of operand {} depends on data", i));
  }
  return known.shape;
}

std::vector<ValueId> Site::all_inputs() const {
  std::vector<ValueId> result;
  for (size_t i = 0; i < inputs(); ++i) result.push_back(optional_input(i));
  return result;
}

std::optional<Array> Site::constant_of(ValueId id) const { return known_value(state_, id); }

std::optional<Array> Site::constant(size_t i) const {
  return has(i) ? constant_of(input(i)) : std::nullopt;
}

Array Site::required(size_t i, const std::string& what) const {
  auto known = constant_of(input(i));
  if (!known) {
    unsupported(fmt::format("{} ('{}') must be known when the network is imported", what,
                            node_.input(static_cast<int>(i))));
  }
  return *known;
}

std::optional<Shape> Site::integers_or_input(const std::string& name, size_t i) const {
  if (has_attribute(name)) return integers(name);
  if (!has(i)) return std::nullopt;
  return required(i, name).integers();
}

std::vector<ValueId> Site::emit_all(std::string_view op, const std::vector<ValueId>& inputs,
                                    const Attributes& attributes) const {
  std::vector<std::optional<Operand>> operands;
  std::vector<Array> arrays;
  bool all_known = true;
  long count = 0;
  std::set<ValueId> counted;  // what is read twice is there once
  for (ValueId id : inputs) {
    if (id == no_value) {
      operands.emplace_back();
      continue;
    }
    operands.push_back(Operand{type_of(id)});
    if (type_of(id).element == Element::string && find_op(op)->graph.run == nullptr) {
      unsupported("computing with texts");
    }
    const std::optional<Array>& data = state_.graph.value(id).data;
    all_known = all_known && data.has_value();
    if (data) arrays.push_back(*data);
    if (data && counted.insert(id).second) count += data->count();
  }
  for (const auto& [name, value] : attributes) {
    const auto* list = std::get_if<Shape>(&value);
    if (list != nullptr && list->size() > most_listed) wrong("its list of indices is too long");
  }
  const Op* found = find_op(op);
  check(found != nullptr, "translations emit operators that there are");
  try {
    Call call(*found, operands, attributes);
    // What integers stand for stays apart from them: it may be computed with them instead.
    if (all_known && op != "dequantize" && is_worth_folding(infer(call), count, state_) &&
        is_soon_done(state_.context, call)) {
      std::vector<ValueId> results;
      long made = 0;
      for (Array& array : evaluate(state_.context, call, arrays)) {
        made += array.count();
        results.push_back(constant_value(std::move(array)));
      }
      state_.folded += made;
      state_.grown += std::max(0L, made - count);
      return results;
    }
    std::string name = node_.name().empty() && wants(0) ? node_.output(0) : node_.name();
    std::vector<ValueId> results = state_.graph.call_all(op, inputs, attributes, name);
    for (ValueId id : results) state_.makers[id] = state_.graph.nodes().size() - 1;
    return results;
  } catch (const Unsupported&) {
    throw;
  } catch (const UserError& error) {
    wrong(error.what());
  }
}

ValueId Site::emit(std::string_view op, const std::vector<ValueId>& inputs,
                   const Attributes& attributes) const {
  return emit_all(op, inputs, attributes).front();
}

ValueId Site::constant_value(Array data) const {
  std::string name = name_of_node(node_) + "/constant";
  ValueId id = state_.graph.constant(std::move(data), name);
  state_.constants.insert(id);
  return id;
}

long Site::storable(const Shape& shape) const {
  long count = 1;
  for (long extent : shape) {
    // The product stops to grow before it overflows.
    count = extent > 0 && count > most_stored ? count : count * std::min(extent, most_stored + 1);
  }
  if (count > most_stored - state_.stored) wrong("too many elements to store");
  state_.stored += count;
  return count;
}

void Site::count_unrolled(long nodes) const {
  state_.unrolled += nodes;
  if (state_.unrolled > most_unrolled) {
    unsupported(fmt::format("the model's loops unroll to more than {} nodes", most_unrolled));
  }
}

void Site::set_output(size_t i, ValueId value) const {
  if (!wants(i)) return;
  const std::string& name = node_.output(static_cast<int>(i));
  if (!state_.values.emplace(name, value).second || state_.sequences.contains(name)) {
    wrong(fmt::format("'{}' is computed twice", name));
  }
  bool alias = false;
  for (size_t k = 0; k < inputs(); ++k) {
    alias = alias || (has(k) && state_.values.contains(node_.input(static_cast<int>(k))) &&
                      input(k) == value);
  }
  bool is_own =
      state_.graph.value(value).kind == Value::Kind::computed || state_.constants.erase(value) > 0;
  if (!alias && is_own) state_.graph.rename(value, name);
}

void Site::set_sequence(size_t i, std::vector<ValueId> values) const {
  if (wants(i)) state_.sequences[node_.output(static_cast<int>(i))] = std::move(values);
}

ValueId Site::reshaped(ValueId value, const Shape& shape) const {
  if (shape_of(value) == shape) return value;
  return emit("reshape", {value}, {{"shape", shape}});
}

ValueId Site::transposed(ValueId value, const Shape& perm) const {
  bool identity = std::is_sorted(perm.begin(), perm.end());
  return identity ? value : emit("transpose", {value}, {{"perm", perm}});
}

ValueId Site::cast(ValueId value, Element element) const {
  if (type_of(value).element == element) return value;
  return emit("cast", {value}, {{"to", std::string(name_of(element))}});
}

Shape Site::static_shape_of(ValueId value) const {
  if (type_of(value).dynamic) unsupported("the shape of a value depends on data");
  return shape_of(value);
}

ValueId Site::sliced(ValueId value, size_t axis, long start, long size) const {
  Shape sizes = static_shape_of(value), starts(sizes.size(), 0);
  starts[axis] = start;
  sizes[axis] = size;
  return emit("slice", {value}, {{"starts", starts}, {"sizes", sizes}});
}

ValueId Site::element_at(ValueId value, size_t axis, long index) const {
  Shape shape = static_shape_of(value);
  shape.erase(shape.begin() + static_cast<long>(axis));
  return reshaped(sliced(value, axis, index, 1), shape);
}

ValueId Site::joined(const std::vector<ValueId>& values, size_t axis) const {
  if (values.size() == 1) return values.front();
  return emit("concat", values, {{"axis", static_cast<long>(axis)}});
}

ValueId Site::stacked(std::vector<ValueId> values, size_t axis) const {
  for (ValueId& value : values) {
    Shape shape = static_shape_of(value);
    if (axis > shape.size()) wrong("its parts differ in their dimensions");
    shape.insert(shape.begin() + static_cast<long>(axis), 1);
    value = reshaped(value, shape);
  }
  return joined(values, axis);
}

ValueId Site::number(Element element, double value) const {
  std::vector<double> list{value};
  return constant_value(Array::of_reals(element, {}, list));
}

size_t Site::axis(long value, size_t rank) const {
  auto dims = static_cast<long>(rank);
  if (value < -dims || value >= dims) {
    wrong(fmt::format("axis {} is none of a tensor with {} dimensions", value, rank));
  }
  return static_cast<size_t>(value < 0 ? value + dims : value);
}

void Site::unsupported(const std::string& what) const {
  throw Unsupported(fmt::format("{}: {}", where(), what));
}

void Site::wrong(const std::string& what) const { fail("{}: {}", where(), what); }

}  // namespace lathe
