// transform_kinds.cpp: short names for what convolutions become. Interface: transform_kinds.h.
#include "transforms/transform_kinds.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/number.h"
#include "data/file.h"
#include "program/layers.h"
#include "transforms/transform_neural.h"

namespace lathe {
namespace {

/// The sizes of a convolution that kinds depend on.
struct Sizes {
  long filters, channels, rows, columns;
  std::string statement;  ///< its name where there are others, a bias, with the same loops
};

Sizes sizes_of(const Nest& nest) {
  auto target = find_target(nest);
  if (!target) fail("'{}' is no convolution", nest.name);
  const Order& order = nest.order[*target];
  auto extent = [&](const char* loop) {
    auto depth = find_loop(order, loop);
    return depth ? order.loops[*depth].extent : 1L;
  };
  const std::string& name = nest.statements()[*target].name;
  return {extent("co"), extent("ci"), extent("oh"), extent("ow"),
          nest.statements().size() > 1 ? name : ""};
}

using Numbers = std::vector<long>;

bool divides(long factor, long extent) { return extent % factor == 0 && extent > 1; }

// Each returns the text of a recipe; nothing if the sizes do not allow it.
using Text = std::optional<std::string>;

Text group(const Sizes& s, const Numbers& n) {
  if (!divides(n[0], s.filters) || !divides(n[0], s.channels)) return std::nullopt;
  return fmt::format("group({})", n[0]);
}

/// Group g reads channels g, g + G, g + 2G and so on: one of each run of G.
Text shuffled(const Sizes& s, const Numbers& n) {
  if (!divides(n[0], s.filters) || !divides(n[0], s.channels)) return std::nullopt;
  if (n[0] == s.channels) return group(s, n);
  return fmt::format("split(ci, {0}) -> interchange(ci.o, ci.i) -> group({0})", n[0]);
}

/// The depthwise convolution has as many filters as there are channels; where the layer has more,
/// the 1x1 convolution makes them.
Text depthwise(const Sizes& s, const Numbers&) {
  if (s.channels == 1 || s.filters % s.channels != 0) return std::nullopt;
  if (s.filters == s.channels) return fmt::format("group({}, deepen)", s.channels);
  return fmt::format("bottleneck({}, deepen) -> group({})", s.filters / s.channels, s.channels);
}

Text sequence_2(const Sizes& s, const Numbers& n) {
  long rest = s.filters - n[0];
  if (rest <= 0 || !divides(n[1], rest) || !divides(n[1], s.channels)) return std::nullopt;
  return fmt::format("unroll(co, {}) -> group({})", n[0], n[1]);
}

Text sequence_3(const Sizes& s, const Numbers& n) {
  if (s.filters % 2 != 0) return std::nullopt;
  for (long groups : n) {
    bool fits = groups == 1 || (divides(groups, s.filters / 2) && divides(groups, s.channels));
    if (!fits) return std::nullopt;
  }
  std::string text = "split_range(co, 1/2)";
  if (n[0] > 1) text += fmt::format(" -> group({})", n[0]);
  if (n[1] == 1) return text;
  // The second half comes first: neural steps act on the first statement.
  text += s.statement.empty() ? " -> interchange(co.0, co.1)"
                              : fmt::format(" -> interchange({0}.0:co.0, {0}.1:co.1)", s.statement);
  return text + fmt::format(" -> group({})", n[1]);
}

Text stripes(const Sizes& s, const Numbers& n) {
  if (!divides(n[0], s.rows) || !divides(n[0], s.channels)) return std::nullopt;
  return fmt::format("reorder(oh, ci{}) -> group({})", s.filters > 1 ? ", co" : "", n[0]);
}

Text fewer_filters(const Sizes& s, const Numbers& n, const char* completion) {
  if (!divides(n[0], s.filters)) return std::nullopt;
  return fmt::format("bottleneck({}, {})", n[0], completion);
}

Text deepened(const Sizes& s, const Numbers& n) { return fewer_filters(s, n, "deepen"); }

Text repeated(const Sizes& s, const Numbers& n) { return fewer_filters(s, n, "repeat"); }

Text fewer_inputs(const Sizes& s, const Numbers& n) {
  if (!divides(n[0], s.channels)) return std::nullopt;
  return fmt::format("{}bottleneck({})", s.filters > 1 ? "interchange(co, ci) -> " : "", n[0]);
}

Text fewer_positions(const Sizes& s, const Numbers& n) {
  if (!divides(n[0], s.rows) || !divides(n[0], s.columns)) return std::nullopt;
  std::string channels =
      fmt::format("{}{}", s.filters > 1 ? ", co" : "", s.channels > 1 ? ", ci" : "");
  return fmt::format(
      "reorder(oh, ow{}) -> bottleneck({}, repeat) -> interchange(oh, ow) -> bottleneck({}, "
      "repeat)",
      channels, n[0], n[0]);
}

Text unchanged(const Sizes&, const Numbers&) { return ""; }

struct Kind {
  const char* name;
  const char* form;
  size_t numbers;
  long least;  ///< of each number
  Text (*recipe)(const Sizes&, const Numbers&);
};

constexpr Kind kinds[] = {
    {"dense", "dense", 0, 0, unchanged},    {"group", "group-G", 1, 2, group},
    {"dw", "dw", 0, 0, depthwise},          {"seq2", "seq2-U-G", 2, 2, sequence_2},
    {"seq3", "seq3-A-B", 2, 1, sequence_3}, {"stripe", "stripe-S", 1, 2, stripes},
    {"botx", "botx-B", 1, 2, deepened},     {"botr", "botr-B", 1, 2, repeated},
    {"boti", "boti-B", 1, 2, fewer_inputs}, {"bots", "bots-B", 1, 2, fewer_positions},
    {"shuf", "shuf-G", 1, 2, shuffled},
};

std::vector<std::string> separated(std::string_view text, char by) {
  std::vector<std::string> parts;
  while (true) {
    size_t end = text.find(by);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text = text.substr(end + 1);
  }
}

/// A kind with its numbers.
struct ParsedKind {
  const Kind* kind;
  Numbers numbers;
};

ParsedKind parse_kind(std::string_view text) {
  std::vector<std::string> parts = separated(text, '-');
  for (const Kind& kind : kinds) {
    if (parts.front() != kind.name || parts.size() != kind.numbers + 1) continue;
    ParsedKind result{&kind, {}};
    for (size_t i = 1; i < parts.size(); ++i) {
      auto number = number_in<long>(parts[i]);
      if (number && *number >= kind.least) result.numbers.push_back(*number);
    }
    if (result.numbers.size() == kind.numbers) return result;
  }
  std::string known;
  for (const Kind& kind : kinds) known += fmt::format(" {}", kind.form);
  fail("no kind '{}' of convolution; kinds here:{}", text, known);
}

}  // namespace

std::optional<Recipe> recipe_of_kind(const Nest& layer, std::string_view text) {
  auto [kind, numbers] = parse_kind(text);
  Text recipe = kind->recipe(sizes_of(layer), numbers);
  if (!recipe) return std::nullopt;
  return parse_recipe(*recipe);
}

}  // namespace lathe
