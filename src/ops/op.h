// Operators as nests. Each file X.cpp of this folder defines one operator; the text form names it:
//
//   conv(co=64, ci=64, oh=56, ow=56, k=3, pad=1)
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/nest.h"

namespace lathe {

/// A parameter of an operator. Without a default it must be given.
struct Param {
  std::string name;
  std::optional<long> otherwise;
  std::string meaning;
};

/// The parameters' values, all of them.
class Params {
 public:
  explicit Params(std::map<std::string, long> values) : values_(std::move(values)) {}
  long operator[](const std::string& name) const;

 private:
  std::map<std::string, long> values_;
};

struct Op {
  std::string name;
  std::string summary;  ///< one line
  std::vector<Param> params;
  Nest (*nest)(isl::ctx ctx, const Params& params);
  std::vector<std::string> examples;  ///< small instances, for tests and the help
};

namespace ops {
/// Returns every operator, sorted by name.
const std::vector<Op>& all();
}  // namespace ops

/// Returns the nest of an operator in text form. Unknown names and values get an error that says
/// what there is.
Nest parse_op(isl::ctx ctx, std::string_view text);

/// Returns the nest that "text" names: an operator, or the path of a .nest file.
Nest load_nest(isl::ctx ctx, const std::string& text);

}  // namespace lathe
