// Operators as nests. Each file X.cpp of this folder defines one operator; those that treat every
// element alone are lines of the table in op_formula.cpp. An operator has two faces:
//
//   on its own     conv(co=64, ci=64, oh=56, ow=56, k=3, pad=1)          sizes
//   in a graph     conv(f32[1x64x56x56], f32[64x64x3x3], pads=[1, 1, 1, 1])   operands
//
// Both make the same nest, and both are text forms that the commands accept.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "nest/nest.h"

namespace lathe {

/// A size of an operator on its own. Without a default it must be given.
struct Param {
  std::string name;
  std::optional<long> otherwise;
  std::string meaning;
};

/// The sizes' values, all of them.
class Params {
 public:
  explicit Params(std::map<std::string, long> values) : values_(std::move(values)) {}
  long operator[](const std::string& name) const;

 private:
  std::map<std::string, long> values_;
};

/// An attribute of an operator in a graph; its type is that of the default.
struct Setting {
  std::string name;
  Attribute otherwise;
  std::string meaning;
  enum class Need { optional, required } need = Need::optional;
  /// For a list that is empty by default: the number that each place then has.
  std::optional<long> each = std::nullopt;
};

struct Op;

/// One operand of a call.
struct Operand {
  Type type;
  bool is_weight = false;
};

/// An operator applied to operands of known types. Every node of a graph stands for one.
class Call {
 public:
  /// Fails where the operator does not take so many operands or such attributes.
  Call(const Op& op, std::vector<std::optional<Operand>> inputs, const Attributes& attributes);

  const Op& op() const { return *op_; }
  const std::string& name() const;
  /// Returns the attributes that differ from their defaults.
  const Attributes& attributes() const { return given_; }

  /// Counts the operands, with those left out. has(i): is the i-th one there?
  size_t inputs() const { return inputs_.size(); }
  bool has(size_t i) const { return i < inputs_.size() && inputs_[i].has_value(); }
  /// Returns the i-th operand, which is there.
  const Operand& operand(size_t i) const;
  const Type& type(size_t i) const { return operand(i).type; }
  const Shape& shape(size_t i) const { return operand(i).type.shape; }
  Element element(size_t i) const { return operand(i).type.element; }
  Role role(size_t i) const { return operand(i).is_weight ? Role::weight : Role::input; }

  /// Returns an attribute that the operator declares.
  long integer(const std::string& name) const { return get<long>(name); }
  double real(const std::string& name) const { return get<double>(name); }
  bool flag(const std::string& name) const;  ///< of an integer that is 0 or 1
  const std::string& text(const std::string& name) const { return get<std::string>(name); }
  const Shape& integers(const std::string& name) const { return get<Shape>(name); }
  /// Returns a list that has one number for each of "count" places, filled if it is empty.
  Shape integers(const std::string& name, size_t count) const;
  const std::vector<double>& reals(const std::string& name) const {
    return get<std::vector<double>>(name);
  }
  const std::vector<std::string>& texts(const std::string& name) const {
    return get<std::vector<std::string>>(name);
  }
  /// Returns the axis that an attribute names, from 0; a negative one counts from the last, which
  /// is rank - 1.
  size_t axis(const std::string& name, size_t rank) const;

  /// Throws a UserError that names the operator.
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail("{}: {}", name(), fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  const Op* op_;
  std::vector<std::optional<Operand>> inputs_;
  Attributes given_, all_;

  template <class T>
  const T& get(const std::string& name) const {
    auto found = all_.find(name);
    check(found != all_.end(), "operators only ask for attributes that they declare");
    return std::get<T>(found->second);
  }
};

/// An operator as graphs see it.
struct Signature {
  size_t least = 1, most = 1;  ///< operands
  std::vector<Setting> settings = {};
  /// Returns the types of the outputs; fails where the operands do not fit.
  std::function<std::vector<Type>(const Call&)> infer = nullptr;
  /// Returns the nest. Its input and weight tensors are the operands that are there and not empty,
  /// in order; its output tensors are the outputs.
  std::function<Nest(isl::ctx, const Call&)> nest = nullptr;
  /// Computes the outputs where no nest can, because data decide which elements are read.
  std::function<std::vector<Array>(const Call&, const std::vector<Array>&)> run = nullptr;
  /// Returns the outputs where an operand is empty but the outputs are not. A nest cannot do that,
  /// as it has no empty tensors. Example: the sum of no elements is 0.
  std::function<std::vector<Array>(const Call&)> of_nothing = nullptr;
};

/// Prints a call as it is parsed: conv(f32[1x64x56x56], weight f32[64x64x3x3], groups=2). Equal
/// texts make equal nests.
std::string print(const Call& call);

/// Takes any number of operands.
inline constexpr size_t any_number = static_cast<size_t>(-1);

struct Op {
  std::string name;
  std::string summary;  ///< one line
  std::vector<Param> params = {};
  std::function<Nest(isl::ctx, const Params&)> nest = nullptr;  ///< null: it has no sizes
  std::vector<std::string> examples = {};  ///< small instances, for tests and the help
  Signature graph = {};                    ///< infer is null: graphs do not use it
};

namespace ops {
/// Returns the operators that have a file.
const std::vector<Op>& all();
}  // namespace ops

/// Returns every operator, sorted by name.
const std::vector<Op>& operators();
/// Finds an operator by name; null if there is none.
const Op* find_op(std::string_view name);

/// Returns the types of a call's outputs. Where an operand is dynamic the outputs are too.
std::vector<Type> infer(const Call& call);

/// Does the call have a nest? Not if its operator has none, or a value is dynamic or empty.
bool has_nest(const Call& call);
/// Does the call have a nest that says which elements it reads? Not if data decide that: if it has
/// none, or one that picks (nest/expr.h). Whoever follows elements through a network asks this.
bool reads_are_known(const Call& call);
/// Returns the nest of a call; fails if there is none.
Nest nest_of(isl::ctx ctx, const Call& call);

/// Computes the outputs of a call from its operands: those that are there, in order. Runs the nest,
/// or the operator's own function where it has no nest.
std::vector<Array> evaluate(isl::ctx ctx, const Call& call, const std::vector<Array>& inputs);

/// Returns the call that a node of a graph stands for.
Call call_of(const Graph& graph, const Node& node);

/// Verifies a graph and the types of all its values.
void verify_types(const Graph& graph);

/// Reads a call in text form: conv(f32[1x64x56x56], f32[64x64x3x3], pads=[1, 1, 1, 1]).
Call parse_call(std::string_view text);

/// Returns the nest of an operator in either text form. The error for an unknown name or value
/// lists the known ones.
Nest parse_op(isl::ctx ctx, std::string_view text);

/// Returns the nest that "text" names: an operator, or the path of a .nest file.
Nest load_nest(isl::ctx ctx, const std::string& text);

}  // namespace lathe
