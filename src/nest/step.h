// Steps and recipes: transformations as printable data.
//
//   split(co, 16) -> interchange(co.o, ci) -> group(2)
//   permute(5, 0..3)
//
// The paper's arrow parses too. As JSON: {"lathe_recipe": 1, "steps": [["split", "co", 16], ...]}.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lathe {

/// A part of a whole: 1/2.
struct Fraction {
  long numerator, denominator;
  friend bool operator==(const Fraction&, const Fraction&) = default;
};

/// Numbers from the first to the last: 4..7; 7..4 counts down.
struct Range {
  long first, last;
  friend bool operator==(const Range&, const Range&) = default;
};

/// An argument: a number, a part, a name (of a loop, a tensor, a rule), or a range.
using Arg = std::variant<long, Fraction, std::string, Range>;

/// One transformation with its arguments.
struct Step {
  std::string name;
  std::vector<Arg> args;
  friend bool operator==(const Step&, const Step&) = default;
};

/// A sequence of steps.
using Recipe = std::vector<Step>;

/// Prints an argument, a step, a recipe; the same value always gives the same bytes.
std::string print(const Arg& arg);
std::string print(const Step& step);
std::string print(const Recipe& recipe);

/// Parses the text form; the empty text is the empty recipe.
Recipe parse_recipe(std::string_view text);

/// Converts to and from JSON. A recipe of a later version is refused, with what to do.
nlohmann::json to_json(const Recipe& recipe);
Recipe recipe_from_json(const nlohmann::json& json);

}  // namespace lathe
