// op_call.cpp: an operator applied to operands. Interface: Call, infer(), call_of() of op.h.
#include <algorithm>

#include "base/error.h"
#include "base/memo.h"
#include "ops/op.h"

namespace lathe {
namespace {

std::string print_settings(const Op& op) {
  std::string out;
  for (const Setting& s : op.graph.settings) out += (out.empty() ? "" : ", ") + s.name;
  return out.empty() ? "it has none" : "it has: " + out;
}

/// Brings an attribute to the type of its setting: [] is a list of anything, 1 may be meant as 1.0.
Attribute fitted(const Op& op, const Setting& setting, const Attribute& value) {
  if (value.index() == setting.otherwise.index()) return value;
  const auto* integers = std::get_if<Shape>(&value);
  if (const long* integer = std::get_if<long>(&value);
      integer != nullptr && std::holds_alternative<double>(setting.otherwise)) {
    return static_cast<double>(*integer);
  }
  if (integers != nullptr && std::holds_alternative<std::vector<double>>(setting.otherwise)) {
    return std::vector<double>(integers->begin(), integers->end());
  }
  if (integers != nullptr && integers->empty() &&
      std::holds_alternative<std::vector<std::string>>(setting.otherwise)) {
    return std::vector<std::string>{};
  }
  static constexpr const char* kinds[] = {
      "an integer", "a real", "a text", "a list of integers", "a list of reals", "a list of texts"};
  fail("{}: attribute '{}' must be {}, not {}", op.name, setting.name,
       kinds[setting.otherwise.index()], print_attribute(value));
}

/// Says the value no more than the default? A list of nothing but what an empty one stands for is
/// that empty one.
bool is_default(const Setting& setting, const Attribute& value) {
  if (setting.need == Setting::Need::required) return false;
  if (value == setting.otherwise) return true;
  const auto* list = std::get_if<Shape>(&value);
  return setting.each && list != nullptr &&
         std::all_of(list->begin(), list->end(), [&](long x) { return x == *setting.each; });
}

}  // namespace

Call::Call(const Op& op, std::vector<std::optional<Operand>> inputs, const Attributes& attributes)
    : op_(&op), inputs_(std::move(inputs)) {
  check(op.graph.infer != nullptr, "only operators of graphs are called");
  while (!inputs_.empty() && !inputs_.back()) inputs_.pop_back();
  if (inputs_.size() < op.graph.least || inputs_.size() > op.graph.most) {
    std::string takes = op.graph.most == any_number ? fmt::format("at least {}", op.graph.least)
                        : op.graph.least == op.graph.most
                            ? fmt::format("{}", op.graph.least)
                            : fmt::format("{} to {}", op.graph.least, op.graph.most);
    fail("{}: takes {} operands, not {}", op.name, takes, inputs_.size());
  }
  for (size_t i = 0; i < op.graph.least; ++i) {
    if (!inputs_[i]) fail("{}: operand {} is missing", op.name, i);
  }
  for (const auto& [name, value] : attributes) {
    auto same_name = [&wanted = name](const Setting& s) { return s.name == wanted; };
    const auto& settings = op.graph.settings;
    auto setting = std::find_if(settings.begin(), settings.end(), same_name);
    if (setting == settings.end()) {
      fail("{}: no attribute '{}'; {}", op.name, name, print_settings(op));
    }
    Attribute fitting = fitted(op, *setting, value);
    if (!is_default(*setting, fitting)) given_.emplace(name, fitting);
  }
  all_ = given_;
  for (const Setting& setting : op.graph.settings) {
    bool missing = all_.emplace(setting.name, setting.otherwise).second;
    if (missing && setting.need == Setting::Need::required) {
      fail("{}: attribute '{}' is missing", op.name, setting.name);
    }
  }
}

const std::string& Call::name() const { return op_->name; }

const Operand& Call::operand(size_t i) const {
  check(has(i), "operators only ask for operands that are there");
  return *inputs_[i];
}

Shape Call::integers(const std::string& name, size_t count) const {
  Shape list = integers(name);
  for (const Setting& setting : op_->graph.settings) {
    if (list.empty() && setting.name == name && setting.each) list.assign(count, *setting.each);
  }
  if (list.size() != count) {
    refuse("{}={} must have {} numbers", name, print_attribute(list), count);
  }
  return list;
}

bool Call::flag(const std::string& name) const {
  long value = integer(name);
  if (value != 0 && value != 1) refuse("attribute '{}' must be 0 or 1, not {}", name, value);
  return value == 1;
}

size_t Call::axis(const std::string& name, size_t rank) const {
  long value = integer(name), dims = static_cast<long>(rank);
  if (value < -dims || value >= dims) {
    refuse("{}={} is no axis of a tensor with {} dimensions", name, value, rank);
  }
  return static_cast<size_t>(value < 0 ? value + dims : value);
}

std::string print(const Call& call) {
  std::string out;
  for (size_t i = 0; i < call.inputs(); ++i) {
    out += out.empty() ? "" : ", ";
    if (!call.has(i)) {
      out += "_";
    } else {
      out += (call.operand(i).is_weight ? "weight " : "") + print_type(call.type(i));
    }
  }
  for (const auto& [name, value] : call.attributes()) {
    out += fmt::format("{}{}={}", out.empty() ? "" : ", ", name, print_attribute(value));
  }
  return fmt::format("{}({})", call.name(), out);
}

std::vector<Type> infer(const Call& call) {
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (!call.has(i)) continue;
    const Type& type = call.type(i);
    if (type.dynamic) return {Type{type.element, {}, true}};
    if (type.element == Element::string && call.op().graph.run == nullptr) {
      call.refuse("operand {} is text", i);
    }
  }
  std::vector<Type> types = call.op().graph.infer(call);
  for (const Type& type : types) {
    if (!type.dynamic) count_of(type.shape);
  }
  return types;
}

bool has_nest(const Call& call) {
  if (call.op().graph.nest == nullptr) return false;
  auto is_usual = [](const Type& type) {
    return !type.dynamic && type.element != Element::string && count_of(type.shape) > 0;
  };
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (call.has(i) && !is_usual(call.type(i))) return false;
  }
  std::vector<Type> outputs = infer(call);
  return std::all_of(outputs.begin(), outputs.end(), is_usual);
}

bool reads_are_known(const Call& call) {
  if (!has_nest(call)) return false;
  static Memo<bool> memo;
  return *memo.of(print(call), [&] {
    Context context;
    Nest nest = nest_of(context, call);
    return std::none_of(nest.statements().begin(), nest.statements().end(),
                        [](const Statement& s) { return picks(s.value); });
  });
}

namespace {

/// Refuses extents beyond those of a nest: what isl works out for them does not fit an integer.
void check_extents(const Call& call) {
  constexpr long most = 1L << 30;
  auto check_type = [&](const Type& type) {
    for (long extent : type.shape) {
      if (extent > most) {
        call.refuse("{} is too large for a nest: a dimension is at most {}", print_type(type),
                    most);
      }
    }
  };
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (call.has(i)) check_type(call.type(i));
  }
  for (const Type& type : infer(call)) check_type(type);
}

}  // namespace

Nest nest_of(isl::ctx ctx, const Call& call) {
  if (call.op().graph.nest == nullptr) {
    call.refuse("the elements that it reads depend on data: it has no nest");
  }
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (call.has(i) && call.element(i) == Element::string) call.refuse("texts have no nest");
  }
  check_extents(call);
  return call.op().graph.nest(ctx, call);
}

Call call_of(const Graph& graph, const Node& node) {
  const Op* op = find_op(node.op);
  if (op == nullptr || op->graph.infer == nullptr) {
    fail("no operator '{}' can be in a graph; 'lathe list ops' shows those that can", node.op);
  }
  std::vector<std::optional<Operand>> operands;
  for (ValueId id : node.inputs) {
    if (id == no_value) {
      operands.emplace_back();
    } else {
      const Value& value = graph.values[id];
      operands.push_back(Operand{
          value.type, value.kind == Value::Kind::weight || value.kind == Value::Kind::state});
    }
  }
  return Call(*op, std::move(operands), node.attributes);
}

void verify_types(const Graph& graph) {
  verify(graph);
  for (const Node& node : graph.nodes) {
    std::vector<Type> types;
    try {
      types = infer(call_of(graph, node));
    } catch (const UserError& error) {
      fail("graph '{}': node '{}': {}", graph.name, node.name, error.what());
    }
    if (types.size() < node.outputs.size()) {
      fail("node '{}': {} has {} outputs, not {}", node.name, node.op, types.size(),
           node.outputs.size());
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Value& value = graph.values[node.outputs[i]];
      if (value.type.dynamic || value.type == types[i]) continue;
      fail("node '{}': '{}' is declared {}, but {} makes {}", node.name, value.name,
           print_type(value.type), node.op, print_type(types[i]));
    }
  }
}

}  // namespace lathe
