// Transformations: one file each. A file X.cpp holds everything about the transformation X: what it
// rewrites, its arguments, how it is applied, and which applications it sees on a nest. The command
// line, the documentation and the search all read that record.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "nest/nest.h"
#include "nest/step.h"

namespace lathe {

/// What an argument must be.
enum class Takes {
  loop,        ///< the name of a loop
  loops,       ///< two or more loops, up to the end
  tiles,       ///< a loop and a factor, again and again, up to the end
  factor,      ///< an integer of at least 2
  count,       ///< an integer of at least 1
  part,        ///< a number of iterations or a part of them: 16, 1/2
  tensor,      ///< the name of a tensor
  name,        ///< a name for something new
  axis,        ///< block.x, ..., thread.z, vthread
  space,       ///< shared or private
  element,     ///< f16, bf16 or tf32
  integer,     ///< int8
  completion,  ///< propagate, expand, deepen, repeat or reduce
  channels,    ///< channels and ranges of them, up to the end: 5, 0..3
};

struct Parameter {
  Takes takes;
  bool optional = false;
};

/// A step whose arguments were checked against what the transformation takes.
class Arguments {
 public:
  explicit Arguments(const Step& step) : args_(step.args) {}
  size_t size() const { return args_.size(); }
  bool has(size_t i) const { return i < args_.size(); }
  const std::string& name(size_t i) const { return std::get<std::string>(args_.at(i)); }
  long number(size_t i) const { return std::get<long>(args_.at(i)); }
  const Arg& any(size_t i) const { return args_.at(i); }

 private:
  std::vector<Arg> args_;
};

/// What a transformation made of a nest.
struct Applied {
  Nest nest;
  std::string note;  ///< what a reader wants to know beyond the step itself; may be empty
  /// Of an algebraic step: the largest error to expect, as a multiple of the outputs' root mean
  /// square.
  std::optional<double> error = std::nullopt;
};

struct Transform {
  enum class Kind {
    program,    ///< changes the order only: legal if dependences are respected
    algebraic,  ///< changes the arithmetic, not the values: legal if it rounds little enough
    neural,     ///< changes what is computed: legal if capacity is preserved
    network,    ///< changes weights of several layers, not what they compute; applies to no nest
  };
  std::string name;
  Kind kind;
  std::vector<Parameter> takes;
  std::string rewrite;  ///< before -> after, in one line
  Applied (*apply)(const Nest& nest, const Arguments& args);
  std::vector<Step> (*candidates)(const Nest& nest);
};

/// Names a kind of step: "program", "algebraic", "neural" or "network".
const char* name_of(Transform::Kind kind);

namespace transforms {
/// Returns every transformation, sorted by name.
const std::vector<Transform>& all();
}  // namespace transforms

/// Returns the transformation that a step names, or throws with those that exist.
const Transform& find_transform(const std::string& name);

/// Prints how a transformation is written: "split(loop, factor)".
std::string signature(const Transform& transform);

/// Fails if the arguments of a step are not what its transformation takes.
void check_arguments(const Step& step);

/// Applies one step. Wrong arguments and unknown loops throw a UserError; whether the result is
/// legal is not judged here (legality/legality.h).
Applied apply(const Nest& nest, const Step& step);

/// Returns every step that some transformation sees on "nest": all of them apply.
std::vector<Step> candidates(const Nest& nest);

}  // namespace lathe
