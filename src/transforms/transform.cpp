// transform.cpp: finding transformations, checking arguments. Interface: transform.h.
#include "transforms/transform.h"

#include <algorithm>

namespace lathe {
namespace {

const char* name_of(Takes takes) {
  switch (takes) {
    case Takes::loop:
      return "loop";
    case Takes::loops:
      return "loop, loop, ...";
    case Takes::tiles:
      return "loop, factor, ...";
    case Takes::factor:
      return "factor";
    case Takes::count:
      return "count";
    case Takes::part:
      return "part";
    case Takes::tensor:
      return "tensor";
    case Takes::name:
      return "name";
    case Takes::axis:
      return "axis";
    case Takes::space:
      return "space";
    case Takes::element:
    case Takes::integer:
      return "type";
    case Takes::completion:
      return "completion";
    case Takes::channels:
      return "channels, ...";
  }
  return "";
}

const char* describe(Takes takes) {
  switch (takes) {
    case Takes::loop:
    case Takes::loops:
    case Takes::tiles:
      return "a loop";
    case Takes::factor:
      return "an integer of at least 2";
    case Takes::count:
      return "an integer of at least 1";
    case Takes::part:
      return "a number of iterations (16) or a part of them (1/2)";
    case Takes::tensor:
      return "a tensor";
    case Takes::name:
      return "a name";
    case Takes::axis:
      return "one of block.x, block.y, block.z, thread.x, thread.y, thread.z, vthread";
    case Takes::space:
      return "shared or private";
    case Takes::element:
      return "f16, bf16 or tf32";
    case Takes::integer:
      return "int8";
    case Takes::completion:
      return "one of propagate, expand, deepen, repeat, reduce";
    case Takes::channels:
      return "a channel (5) or a range of channels (0..3)";
  }
  return "";
}

bool is_integer(const Arg& arg, long least) {
  auto* number = std::get_if<long>(&arg);
  return number && *number >= least;
}

bool is_word(const Arg& arg, std::initializer_list<const char*> words) {
  auto* name = std::get_if<std::string>(&arg);
  return name && std::find(words.begin(), words.end(), *name) != words.end();
}

bool fits(const Arg& arg, Takes takes) {
  switch (takes) {
    case Takes::loop:
    case Takes::loops:
    case Takes::tiles:
    case Takes::name:
    case Takes::tensor:
      return std::holds_alternative<std::string>(arg);
    case Takes::factor:
      return is_integer(arg, 2);
    case Takes::count:
      return is_integer(arg, 1);
    case Takes::part:
      return is_integer(arg, 1) || std::holds_alternative<Fraction>(arg);
    case Takes::axis:
      return is_word(
          arg, {"block.x", "block.y", "block.z", "thread.x", "thread.y", "thread.z", "vthread"});
    case Takes::space:
      return is_word(arg, {"shared", "private"});
    case Takes::element:
      return is_word(arg, {"f16", "bf16", "tf32"});
    case Takes::integer:
      return is_word(arg, {"int8"});
    case Takes::completion:
      return is_word(arg, {"propagate", "expand", "deepen", "repeat", "reduce"});
    case Takes::channels:
      return is_integer(arg, 0) || std::holds_alternative<Range>(arg);
  }
  return false;
}

/// Returns what argument "i" must be; nothing if there may be none.
const Takes* expected(const Transform& t, size_t i, Takes& tile) {
  if (!t.takes.empty() && t.takes.back().takes == Takes::tiles) {
    tile = i % 2 == 0 ? Takes::loop : Takes::factor;
    return &tile;
  }
  if (i < t.takes.size()) return &t.takes[i].takes;
  if (t.takes.empty()) return nullptr;
  const Takes& last = t.takes.back().takes;
  return last == Takes::loops || last == Takes::channels ? &last : nullptr;
}

size_t fewest(const Transform& t) {
  size_t n = 0;
  for (const Parameter& p : t.takes) {
    if (p.optional) continue;
    n += p.takes == Takes::loops || p.takes == Takes::tiles ? 2 : 1;
  }
  return n;
}

void check_arguments_of(const Transform& t, const Step& step) {
  Takes tile = Takes::loop;
  for (size_t i = 0; i < step.args.size(); ++i) {
    const Takes* takes = expected(t, i, tile);
    if (!takes) fail("{}: too many arguments; it is {}", print(step), signature(t));
    if (fits(step.args[i], *takes)) continue;
    fail("{}: argument {} is '{}', expected {}; it is {}", print(step), i + 1, print(step.args[i]),
         describe(*takes), signature(t));
  }
  bool odd_tiles = tile == Takes::loop && step.args.size() % 2 == 1 && !t.takes.empty() &&
                   t.takes.back().takes == Takes::tiles;
  if (step.args.size() < fewest(t) || odd_tiles) {
    fail("{}: too few arguments; it is {}", print(step), signature(t));
  }
}

}  // namespace

const char* name_of(Transform::Kind kind) {
  switch (kind) {
    case Transform::Kind::program:
      return "program";
    case Transform::Kind::algebraic:
      return "algebraic";
    case Transform::Kind::neural:
      return "neural";
    case Transform::Kind::network:
      return "network";
  }
  return "";
}

const Transform& find_transform(const std::string& name) {
  const auto& all = transforms::all();
  auto found =
      std::find_if(all.begin(), all.end(), [&](const Transform& t) { return t.name == name; });
  if (found == all.end()) {
    std::string known;
    for (const Transform& t : all) known += " " + t.name;
    fail("no step '{}'; steps here:{}", name, known);
  }
  return *found;
}

std::string signature(const Transform& t) {
  std::string out;
  for (const Parameter& p : t.takes) {
    if (p.optional) {
      out += fmt::format("{}{}{}", out.empty() ? "[" : "[, ", name_of(p.takes), "]");
    } else {
      out += (out.empty() ? "" : ", ") + std::string(name_of(p.takes));
    }
  }
  return fmt::format("{}({})", t.name, out);
}

void check_arguments(const Step& step) { check_arguments_of(find_transform(step.name), step); }

Applied apply(const Nest& nest, const Step& step) {
  const Transform& t = find_transform(step.name);
  check_arguments_of(t, step);
  try {
    return t.apply(nest, Arguments(step));
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}", print(step), error.what()));
  }
}

std::vector<Step> candidates(const Nest& nest) {
  std::vector<Step> result;
  for (const Transform& t : transforms::all()) {
    for (Step& step : t.candidates(nest)) result.push_back(std::move(step));
  }
  return result;
}

}  // namespace lathe
