// name.cpp: names for what neural steps make. Interface: meaning_name() of canonical.h.
//
// The instances that are left of the original are boxes in its coordinates (description.h). Along a
// coordinate, a box has fewer iterations (a bottleneck), or shares a direction with another
// coordinate (a group). The coordinates' roles follow from the accesses, so "output" and "input"
// need no convention.
#include <fmt/ranges.h>

#include <algorithm>

#include "nest/canonical.h"
#include "nest/description.h"

namespace lathe {
namespace {

/// Names groups of filters and channels.
std::string channel_group_name(const BoxDescription& d, const SharedDirection& s, size_t filter,
                               size_t channel) {
  // Where there are fewer of them than before, that is a bottleneck besides.
  if (d.along[filter].empty() && d.along[channel].empty()) return "depthwise";
  if (d.is_shuffled(channel)) {
    long block = d.step_of(channel);
    std::string blocks = block == 1 ? "" : fmt::format(" (blocks of {})", block);
    const char* filters = d.is_shuffled(filter) ? " of shuffled filters" : "";
    return fmt::format("shuffled groups x{}{}{}", s.groups, blocks, filters);
  }
  // A group then has every n-th filter.
  if (d.is_shuffled(filter)) return fmt::format("shuffled filters x{}", s.groups);
  return fmt::format("grouped x{}", s.groups);
}

std::string group_name(const OriginalLoops& o, const BoxDescription& d, const SharedDirection& s) {
  CoordinateRole a = o.roles[s.first], b = o.roles[s.second];
  if (a == CoordinateRole::filter && b == CoordinateRole::channel) {
    return channel_group_name(d, s, s.first, s.second);
  }
  if (a == CoordinateRole::channel && b == CoordinateRole::filter) {
    return channel_group_name(d, s, s.second, s.first);
  }
  const char* shuffled = d.is_shuffled(s.first) || d.is_shuffled(s.second) ? ", shuffled" : "";
  bool spatial = (a == CoordinateRole::position && b == CoordinateRole::channel) ||
                 (a == CoordinateRole::channel && b == CoordinateRole::position);
  if (spatial) {
    size_t position = a == CoordinateRole::position ? s.first : s.second;
    auto first = std::find_if(o.names.begin(), o.names.end(), [&](const std::string& name) {
      auto i = static_cast<size_t>(&name - o.names.data());
      return name != batch_loop && o.roles[i] == CoordinateRole::position;
    });
    bool is_first = first != o.names.end() && *first == o.names[position];
    std::string which = is_first ? "" : ", " + o.names[position];
    return fmt::format("sequence 1 (spatial groups x{}{}{})", s.groups, which, shuffled);
  }
  return fmt::format("{} and {} grouped x{}{}", o.names[s.first], o.names[s.second], s.groups,
                     shuffled);
}

/// Says which iterations of a coordinate are left, where that is not what a plain bottleneck
/// leaves: the first ones, or every n-th position.
std::string choice_name(const OriginalLoops& o, const BoxDescription& d, size_t i) {
  const std::vector<SpacedDigit>& digits = d.along[i];
  long step = d.step_of(i);
  if (digits.empty() || d.is_shuffled(i)) return "";
  if (step != 0) {
    bool inside = step > digits.back().stride * digits.back().extent;
    return inside ? " in each group" : "";
  }
  if (digits.size() > 1) return fmt::format(" in blocks of {}", digits.front().extent);
  bool strided = digits[0].stride > 1 && o.roles[i] != CoordinateRole::position;
  return strided ? fmt::format(" (one in {})", digits[0].stride) : "";
}

/// Names how much of a coordinate's range is left.
std::string bottleneck_name(const OriginalLoops& o, const BoxDescription& d, size_t i) {
  long left = d.left(i), factor = o.extents[i] / left;
  std::string which = choice_name(o, d, i);
  bool divides = o.extents[i] % left == 0;
  if (!divides && o.roles[i] == CoordinateRole::filter) {
    return fmt::format("{} of {} filters{}", left, o.extents[i], which);
  }
  if (!divides) return fmt::format("reads {} of {} channels{}", left, o.extents[i], which);
  switch (o.roles[i]) {
    case CoordinateRole::filter:
      return fmt::format("output bottleneck x{}{}", factor, which);
    case CoordinateRole::channel:
      return fmt::format("input bottleneck x{}{}", factor, which);
    case CoordinateRole::position:
      return fmt::format("spatial bottleneck x{} ({}){}", factor, o.names[i], which);
    default:
      return fmt::format("bottleneck x{} ({}){}", factor, o.names[i], which);
  }
}

/// Joins bottlenecks of all positions by the same factor: that is the spatial bottleneck.
void add_bottlenecks(const OriginalLoops& o, const BoxDescription& d,
                     std::vector<std::string>& parts) {
  std::vector<size_t> positions, others;
  for (size_t i = 0; i < o.extents.size(); ++i) {
    if (o.roles[i] == CoordinateRole::position && o.names[i] != batch_loop)
      positions.push_back(i);
    else
      others.push_back(i);
  }
  auto factor = [&](size_t i) { return o.extents[i] / d.left(i); };
  bool spatial = positions.size() > 1 && factor(positions[0]) > 1 &&
                 std::all_of(positions.begin(), positions.end(),
                             [&](size_t i) { return factor(i) == factor(positions[0]); });
  if (spatial) {
    parts.push_back(fmt::format("spatial bottleneck x{}", factor(positions[0])));
  } else {
    others.insert(others.end(), positions.begin(), positions.end());
  }
  for (size_t i : others) {
    if (d.left(i) < o.extents[i]) parts.push_back(bottleneck_name(o, d, i));
  }
}

/// Names one box of instances; "dense" if it is all of the original.
std::optional<std::string> box_name(const OriginalLoops& o, const Parallelepiped& box) {
  auto d = describe(box);
  if (!d) return std::nullopt;
  for (size_t i = 0; i < o.extents.size(); ++i) {
    bool counts_channels =
        o.roles[i] == CoordinateRole::filter || o.roles[i] == CoordinateRole::channel;
    if (o.extents[i] % d->left(i) != 0 && !counts_channels) return std::nullopt;
  }
  std::vector<std::string> parts;
  for (const SharedDirection& s : d->shared) parts.push_back(group_name(o, *d, s));
  add_bottlenecks(o, *d, parts);
  return parts.empty() ? "dense" : fmt::format("{}", fmt::join(parts, ", "));
}

long groups_of(const Parallelepiped& box) {
  auto d = describe(box);
  return d && d->shared.size() == 1 ? d->shared.front().groups : 1;
}

/// Names an operator whose filters fall into parts that are treated differently.
std::string parts_name(const OriginalLoops& o, std::vector<Parallelepiped> boxes) {
  auto cut = cut_coordinate(boxes);
  if (!cut) return "unnamed";
  std::sort(boxes.begin(), boxes.end(), [&](const Parallelepiped& a, const Parallelepiped& b) {
    return a.corner[*cut] < b.corner[*cut];
  });
  std::vector<std::string> names;
  std::vector<long> sizes;
  for (size_t k = 0; k < boxes.size(); ++k) {
    long end = k + 1 < boxes.size() ? boxes[k + 1].corner[*cut] : o.extents[*cut];
    OriginalLoops part = o;
    part.extents[*cut] = end - boxes[k].corner[*cut];
    auto name = box_name(part, boxes[k]);
    if (!name) return "unnamed";
    names.push_back(*name);
    sizes.push_back(part.extents[*cut]);
  }
  bool filters = o.roles[*cut] == CoordinateRole::filter && names.size() == 2;
  bool grouped = names.back().starts_with("grouped");
  if (filters && grouped && names[0] == "dense") {
    return fmt::format("sequence 2 ({} dense, the rest in {} groups)", sizes[0],
                       groups_of(boxes[1]));
  }
  if (filters && grouped && names[0].starts_with("grouped") && sizes[0] == sizes[1]) {
    return fmt::format("sequence 3 (filters in {} and {} groups)", groups_of(boxes[0]),
                       groups_of(boxes[1]));
  }
  std::string out;
  for (size_t k = 0; k < names.size(); ++k) {
    out += fmt::format("{}{} of {}: {}", k > 0 ? "; " : "", sizes[k], o.names[*cut], names[k]);
  }
  return out;
}

}  // namespace

std::string meaning_name(const Nest& original, const Nest& nest) {
  if (canonical(original) == canonical(nest)) return "the same operator";
  auto meaning = described(original, nest);
  if (!meaning) return "unnamed";
  std::string name = meaning->boxes.size() == 1
                         ? box_name(meaning->original, meaning->boxes.front()).value_or("unnamed")
                         : parts_name(meaning->original, meaning->boxes);
  for (CompletedBy by : meaning->completed) name += fmt::format(", {}", name_of(by));
  return name;
}

}  // namespace lathe
