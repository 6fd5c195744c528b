// einsum.cpp: the sum of products that an equation of letters describes; each is a dimension.
//
//   "ij,jk->ik"     O[i, k] += I0[i, j] * I1[j, k]
//   "...ii->...i"   the diagonals of matrices; "..." stands for dimensions that broadcast
//
// Without "->" the output has the letters that occur once, in alphabetical order, after "...".
#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include "ops/op_dims.h"

namespace lathe::ops {
namespace {

constexpr char dots = '.';  ///< stands for "..." among the letters

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

/// Reads one side's letters: "..." becomes one dot.
std::string letters_of(const Call& call, const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(text[i])) != 0) {
      result += text[i];
    } else if (text.compare(i, 3, "...") == 0 && result.find(dots) == std::string::npos) {
      result += dots;
      i += 2;
    } else {
      call.refuse("equation \"{}\": '{}' is neither a letter nor one \"...\"",
                  call.text("equation"), text.substr(i));
    }
  }
  return result;
}

/// Returns the output of an equation that leaves it out.
std::string implied_output(const std::vector<std::string>& inputs) {
  std::map<char, int> uses;
  for (const std::string& letters : inputs) {
    for (char letter : letters) ++uses[letter];
  }
  std::string result = uses.contains(dots) ? std::string(1, dots) : "";
  for (const auto& [letter, count] : uses) {
    if (letter != dots && count == 1) result += letter;
  }
  return result;
}

Equation equation_of(const Call& call) {
  std::string text = call.text("equation");
  std::erase(text, ' ');
  size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  Equation equation;
  for (size_t begin = 0; begin <= left.size();) {
    size_t end = std::min(left.find(',', begin), left.size());
    equation.inputs.push_back(letters_of(call, left.substr(begin, end - begin)));
    begin = end + 1;
  }
  equation.output = arrow == std::string::npos ? implied_output(equation.inputs)
                                               : letters_of(call, text.substr(arrow + 2));
  if (equation.inputs.size() != call.inputs()) {
    call.refuse("equation \"{}\" has {} operands, not {}", call.text("equation"),
                equation.inputs.size(), call.inputs());
  }
  return equation;
}

/// The dimensions of one tensor by name: those of "..." are called e0, e1, ..., the last e0.
using Names = std::vector<std::string>;

Names names_of(const std::string& letters, size_t dims_of_dots) {
  Names names;
  for (char letter : letters) {
    if (letter != dots) names.emplace_back(1, letter);
    for (size_t i = dims_of_dots; letter == dots && i-- > 0;)
      names.push_back(fmt::format("e{}", i));
  }
  return names;
}

/// An equation with the shapes of its operands.
struct SizedEquation {
  std::vector<Names> inputs;
  Names output;
  StatementBuilder::Extents loops;  ///< of the output, then those summed over

  long extent(const std::string& name) const {
    for (const auto& [loop, extent] : loops) {
      if (loop == name) return extent;
    }
    return -1;
  }
};

Names input_names(const Call& call, size_t i, const std::string& letters) {
  size_t rank = call.shape(i).size();
  bool has_dots = letters.find(dots) != std::string::npos;
  size_t given = letters.size() - (has_dots ? 1 : 0);
  if (given > rank || (!has_dots && given < rank)) {
    call.refuse("operand {}, {}, does not have the dimensions \"{}\"", i,
                print_shape(call.shape(i)), letters);
  }
  return names_of(letters, rank - given);
}

/// Returns the extents of all names. Dimensions of "..." of extent 1 meet any extent.
std::map<std::string, long> extents_of(const Call& call, const std::vector<Names>& inputs) {
  std::map<std::string, long> extents;
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t d = 0; d < inputs[i].size(); ++d) {
      const std::string& name = inputs[i][d];
      long here = call.shape(i)[d];
      long& known = extents.emplace(name, here).first->second;
      bool broadcasts = name.size() > 1 && (known == 1 || here == 1);
      if (known != here && !broadcasts) {
        call.refuse("\"{}\" is {} in one place and {} in another", name, known, here);
      }
      if (known == 1) known = here;
    }
  }
  return extents;
}

SizedEquation sized_equation_of(const Call& call) {
  Equation equation = equation_of(call);
  SizedEquation c;
  size_t dims_of_dots = 0;
  for (size_t i = 0; i < call.inputs(); ++i) {
    check_same_element(call, i);
    const std::string& letters = equation.inputs[i];
    c.inputs.push_back(input_names(call, i, letters));
    if (letters.find(dots) == std::string::npos) continue;
    dims_of_dots = std::max(dims_of_dots, c.inputs.back().size() - (letters.size() - 1));
  }
  std::map<std::string, long> extents = extents_of(call, c.inputs);
  c.output = names_of(equation.output, dims_of_dots);
  for (const std::string& name : c.output) {
    auto found = extents.find(name);
    if (found == extents.end()) {
      call.refuse("\"{}\" of the output is in no operand, or twice in the output", name);
    }
    c.loops.emplace_back(*found);
    extents.erase(found);
  }
  for (const auto& loop : extents) c.loops.push_back(loop);
  return c;
}

std::vector<Type> types_of_einsum(const Call& call) {
  SizedEquation c = sized_equation_of(call);
  Shape shape;
  for (const std::string& name : c.output) shape.push_back(c.extent(name));
  return {{call.element(0), shape}};
}

Nest nest_of_einsum_call(isl::ctx ctx, const Call& call) {
  SizedEquation c = sized_equation_of(call);
  NestBuilder b(ctx, "einsum");
  auto& s = b.statement("einsum", c.loops);
  std::optional<Expr> product;
  for (size_t i = 0; i < call.inputs(); ++i) {
    std::vector<Index> at;
    for (size_t d = 0; d < c.inputs[i].size(); ++d) {
      at.push_back(call.shape(i)[d] == 1 ? s.at(0) : s[c.inputs[i][d]]);
    }
    Expr factor = s.read(declare(b, call, i, fmt::format("I{}", i)), at);
    product = product ? *product * factor : factor;
  }
  std::vector<Index> to;
  for (const std::string& name : c.output) to.push_back(s[name]);
  s.add(declare_output(b, types_of_einsum(call).front()), to, *product);
  return b.build();
}

}  // namespace

Op einsum() {
  return {.name = "einsum",
          .summary = "sum of products that an equation describes",
          .examples = {"einsum(f32[2x3], f32[3x4], equation=\"ij,jk->ik\")",
                       "einsum(f32[2x3x3], equation=\"...ii->...i\")",
                       "einsum(f32[5x2x3], f32[1x3x4], f32[4], equation=\"...ij, ...jk, k\")"},
          .graph = {.least = 1,
                    .most = any_number,
                    .settings = {{"equation", std::string(), "letters for dimensions: ij,jk->ik",
                                  Setting::Need::required}},
                    .infer = types_of_einsum,
                    .nest = nest_of_einsum_call,
                    // Every sum over an empty dimension is 0.
                    .of_nothing = [](const Call& call) {
                      Type type = types_of_einsum(call).front();
                      return std::vector<Array>{Array(type.element, type.shape)};
                    }}};
}

}  // namespace lathe::ops
