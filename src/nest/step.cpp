// step.cpp: recipes as text and JSON. Interface: step.h.
#include "nest/step.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/lexer.h"

namespace lathe {
namespace {

constexpr int recipe_version = 1;
constexpr const char* version_key = "lathe_recipe";

Arg parse_arg(Lexer& lexer) {
  if (lexer.peek().kind != Token::Kind::number) {
    std::string name = lexer.expect_name("a loop, a number or a rule");
    if (lexer.accept(":")) name += ":" + lexer.expect_name("a loop");
    return name;
  }
  long value = lexer.expect_integer("an integer");
  if (lexer.accept("..")) return Range{value, lexer.expect_integer("the last of a range")};
  if (!lexer.accept("/")) return value;
  long denominator = lexer.expect_integer("a denominator");
  if (denominator < 1) lexer.fail_here("a denominator must be positive");
  return Fraction{value, denominator};
}

Step parse_step(Lexer& lexer) {
  Step step{lexer.expect_name("a step"), {}};
  lexer.expect("(");
  while (!lexer.sees(")")) {
    step.args.push_back(parse_arg(lexer));
    if (!lexer.accept(",")) break;
  }
  lexer.expect(")");
  return step;
}

nlohmann::json arg_to_json(const Arg& arg) {
  if (auto* number = std::get_if<long>(&arg)) return *number;
  return print(arg);
}

Arg arg_from_json(const nlohmann::json& json) {
  if (json.is_number_integer()) return json.get<long>();
  if (!json.is_string())
    fail("recipe: an argument must be an integer or a string, not {}", json.dump());
  Lexer lexer("recipe", json.get<std::string>());
  Arg arg = parse_arg(lexer);
  if (!lexer.at_end()) lexer.fail_here("unexpected '" + lexer.peek().text + "'");
  return arg;
}

}  // namespace

std::string print(const Arg& arg) {
  if (auto* number = std::get_if<long>(&arg)) return fmt::format("{}", *number);
  if (auto* part = std::get_if<Fraction>(&arg)) {
    return fmt::format("{}/{}", part->numerator, part->denominator);
  }
  if (auto* range = std::get_if<Range>(&arg)) {
    return fmt::format("{}..{}", range->first, range->last);
  }
  return std::get<std::string>(arg);
}

std::string print(const Step& step) {
  std::string args;
  for (const Arg& arg : step.args) args += (args.empty() ? "" : ", ") + print(arg);
  return fmt::format("{}({})", step.name, args);
}

std::string print(const Recipe& recipe) {
  std::string out;
  for (const Step& step : recipe) out += (out.empty() ? "" : " -> ") + print(step);
  return out;
}

Recipe parse_recipe(std::string_view text) {
  Lexer lexer("recipe", text);
  Recipe recipe;
  if (lexer.at_end()) return recipe;
  do recipe.push_back(parse_step(lexer));
  while (lexer.accept("->") || lexer.accept("\u2192"));
  if (!lexer.at_end()) {
    lexer.fail_here(fmt::format("expected '->' between steps, found '{}'", lexer.peek().text));
  }
  return recipe;
}

nlohmann::json to_json(const Recipe& recipe) {
  nlohmann::json steps = nlohmann::json::array();
  for (const Step& step : recipe) {
    nlohmann::json entry = nlohmann::json::array({step.name});
    for (const Arg& arg : step.args) entry.push_back(arg_to_json(arg));
    steps.push_back(std::move(entry));
  }
  return {{version_key, recipe_version}, {"steps", std::move(steps)}};
}

Recipe recipe_from_json(const nlohmann::json& json) {
  if (!json.is_object() || !json.contains(version_key) || !json[version_key].is_number_integer()) {
    fail("recipe: no \"{}\" with a version; is this a recipe?", version_key);
  }
  if (json[version_key] != recipe_version) {
    fail("recipe: version {} is not known here (this is version {}); use the Lathe that wrote it",
         json[version_key].dump(), recipe_version);
  }
  if (!json.contains("steps") || !json["steps"].is_array())
    fail("recipe: \"steps\" must be a list");
  Recipe recipe;
  for (const nlohmann::json& entry : json["steps"]) {
    if (!entry.is_array() || entry.empty() || !entry[0].is_string()) {
      fail("recipe: a step must be [\"name\", arguments...], not {}", entry.dump());
    }
    Step step{entry[0].get<std::string>(), {}};
    for (size_t i = 1; i < entry.size(); ++i) step.args.push_back(arg_from_json(entry[i]));
    recipe.push_back(std::move(step));
  }
  return recipe;
}

}  // namespace lathe
