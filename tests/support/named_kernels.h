// The kernels of an operator, named as compilers take them.
#pragma once

#include <string>
#include <vector>

#include "backends/backend.h"
#include "compile/node.h"
#include "legality/legality.h"
#include "nest/starts.h"
#include "ops/op.h"
#include "support/layouts.h"

namespace lathe::test {

/// Returns the kernels of an operator whose tensors are row-major: kernel_0, kernel_1, ...
inline std::vector<NamedCode> kernels_of(const std::string& op, const Target& target) {
  Context ctx;
  Nest nest = parse_op(ctx, op);
  std::vector<NamedCode> kernels;
  for (Code& code : lower_node(nest, row_major_layouts(nest), target).kernels) {
    kernels.push_back({fmt::format("kernel_{}", kernels.size()), std::move(code)});
  }
  return kernels;
}

/// Prints the kernels of an operator after a recipe, in a text form of the target's backend.
inline std::string printed_kernels(const std::string& op, const std::string& recipe,
                                   const Target& target, const std::string& form) {
  Context ctx;
  Nest nest = with_starts(replay(parse_op(ctx, op), parse_recipe(recipe)));
  std::vector<NamedCode> kernels;
  for (Code& code : lower(scan_for(target, nest, row_major_layouts(nest)), target)) {
    kernels.push_back({fmt::format("kernel_{}", kernels.size()), std::move(code)});
  }
  return print_kernels(target, form, kernels);
}

}  // namespace lathe::test
