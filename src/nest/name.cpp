// name.cpp: names for what neural steps make. Interface: meaning_name() of canonical.h.
//
// The instances that are left of the original are boxes in its coordinates. Along a coordinate, a
// box has fewer iterations (a bottleneck), or shares a direction with another coordinate (a group).
// The coordinates' roles follow from the accesses, so "output" and "input" need no convention.
#include <fmt/ranges.h>

#include <algorithm>

#include "nest/canonical.h"
#include "nest/directions.h"
#include "nest/roles.h"

namespace lathe {
namespace {

/// What is left along one coordinate.
struct Along {
  long stride = 1, extent = 1;  // of the direction along this coordinate alone
  long coupled = 0;             // the coordinate's component of a shared direction
};

/// Two coordinates that share a direction of "groups" steps.
struct Coupling {
  size_t first, second;
  long groups;
};

struct Description {
  std::vector<Along> along;
  std::vector<Coupling> couplings;

  /// How many iterations are left along a coordinate, all groups together?
  long left(size_t i) const {
    for (const Coupling& c : couplings) {
      if (c.first == i || c.second == i) return along[i].extent * c.groups;
    }
    return along[i].extent;
  }
};

/// Takes a box apart; nothing if its directions are neither along one coordinate nor shared by two
/// as a group shares them.
std::optional<Description> describe(const Parallelepiped& box) {
  Description d;
  d.along.resize(box.corner.size());
  std::vector<bool> seen(box.corner.size(), false);
  for (const Direction& direction : box.directions) {
    std::vector<size_t> touched;
    for (size_t i = 0; i < direction.vector.size(); ++i) {
      if (direction.vector[i] != 0) touched.push_back(i);
    }
    if (touched.size() == 1 && !seen[touched[0]]) {
      seen[touched[0]] = true;
      d.along[touched[0]].stride = direction.vector[touched[0]];
      d.along[touched[0]].extent = direction.extent;
    } else if (touched.size() == 2) {
      for (size_t i : touched) {
        if (d.along[i].coupled != 0) return std::nullopt;
        d.along[i].coupled = direction.vector[i];
      }
      d.couplings.push_back({touched[0], touched[1], direction.extent});
    } else {
      return std::nullopt;
    }
  }
  for (const Along& a : d.along) {
    bool contiguous = a.coupled == 0 || a.coupled == a.stride * a.extent || a.extent == 1;
    if (!contiguous) return std::nullopt;
  }
  return d;
}

struct Original {
  std::vector<CoordinateRole> roles;
  std::vector<std::string> names;
  std::vector<long> extents;
};

std::string group_name(const Original& o, const Description& d, const Coupling& c) {
  CoordinateRole a = o.roles[c.first], b = o.roles[c.second];
  auto is = [&](CoordinateRole x, CoordinateRole y) {
    return (a == x && b == y) || (a == y && b == x);
  };
  if (is(CoordinateRole::filter, CoordinateRole::channel)) {
    // Where there are fewer of them than before, that is a bottleneck besides.
    bool depthwise = d.along[c.first].extent == 1 && d.along[c.second].extent == 1;
    return depthwise ? "depthwise" : fmt::format("grouped x{}", c.groups);
  }
  if (is(CoordinateRole::position, CoordinateRole::channel)) {
    return fmt::format("sequence 1 (spatial groups x{})", c.groups);
  }
  return fmt::format("{} and {} grouped x{}", o.names[c.first], o.names[c.second], c.groups);
}

/// Names how much of a coordinate's range is left.
std::string bottleneck_name(const Original& o, size_t i, long left) {
  bool divides = o.extents[i] % left == 0;
  long factor = o.extents[i] / left;
  if (!divides && o.roles[i] == CoordinateRole::filter) {
    return fmt::format("{} of {} filters", left, o.extents[i]);
  }
  if (!divides) return fmt::format("reads {} of {} channels", left, o.extents[i]);
  switch (o.roles[i]) {
    case CoordinateRole::filter:
      return fmt::format("output bottleneck x{}", factor);
    case CoordinateRole::channel:
      return fmt::format("input bottleneck x{}", factor);
    case CoordinateRole::position:
      return fmt::format("spatial bottleneck x{} ({})", factor, o.names[i]);
    default:
      return fmt::format("bottleneck x{} ({})", factor, o.names[i]);
  }
}

/// Joins bottlenecks of all positions by the same factor: that is the spatial bottleneck.
void add_bottlenecks(const Original& o, const Description& d, std::vector<std::string>& parts) {
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
    if (d.left(i) < o.extents[i]) parts.push_back(bottleneck_name(o, i, d.left(i)));
  }
}

/// Names one box of instances; "dense" if it is all of the original.
std::optional<std::string> box_name(const Original& o, const Parallelepiped& box) {
  auto d = describe(box);
  if (!d) return std::nullopt;
  for (size_t i = 0; i < o.extents.size(); ++i) {
    bool counts_channels =
        o.roles[i] == CoordinateRole::filter || o.roles[i] == CoordinateRole::channel;
    if (o.extents[i] % d->left(i) != 0 && !counts_channels) return std::nullopt;
  }
  std::vector<std::string> parts;
  for (const Coupling& c : d->couplings) parts.push_back(group_name(o, *d, c));
  add_bottlenecks(o, *d, parts);
  return parts.empty() ? "dense" : fmt::format("{}", fmt::join(parts, ", "));
}

/// Cuts the original at the boxes' corners along the one coordinate in which they differ.
std::optional<size_t> cut_coordinate(const std::vector<Parallelepiped>& boxes) {
  std::optional<size_t> found;
  for (size_t i = 0; i < boxes.front().corner.size(); ++i) {
    bool same = std::all_of(boxes.begin(), boxes.end(), [&](const Parallelepiped& b) {
      return b.corner[i] == boxes.front().corner[i];
    });
    if (same) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

long groups_of(const Parallelepiped& box) {
  auto d = describe(box);
  return d && d->couplings.size() == 1 ? d->couplings.front().groups : 1;
}

/// Names an operator whose filters fall into parts that are treated differently.
std::string parts_name(const Original& o, std::vector<Parallelepiped> boxes) {
  auto cut = cut_coordinate(boxes);
  if (!cut) return "unnamed";
  std::sort(boxes.begin(), boxes.end(), [&](const Parallelepiped& a, const Parallelepiped& b) {
    return a.corner[*cut] < b.corner[*cut];
  });
  std::vector<std::string> names;
  std::vector<long> sizes;
  for (size_t k = 0; k < boxes.size(); ++k) {
    long end = k + 1 < boxes.size() ? boxes[k + 1].corner[*cut] : o.extents[*cut];
    Original part = o;
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
  if (filters && grouped && names[0].starts_with("grouped")) {
    return fmt::format("sequence 3 (filters in {} and {} groups)", groups_of(boxes[0]),
                       groups_of(boxes[1]));
  }
  std::string out;
  for (size_t k = 0; k < names.size(); ++k) {
    out += fmt::format("{}{} of {}: {}", k > 0 ? "; " : "", sizes[k], o.names[*cut], names[k]);
  }
  return out;
}

/// Names a 1x1 convolution behind the operator: is there a normalisation before it, and are there
/// more channels than it reads?
std::string widening_name(const Nest& nest, const Statement& s) {
  for (const Access& access : s.reads) {
    const Tensor& source = nest.tensors()[access.tensor];
    if (source.role != Role::local) continue;
    for (const Statement& writer : nest.statements()) {
      bool normalises = writer.write.tensor == access.tensor && writer.value.op == Expr::Op::max;
      if (normalises) return ", deepened";
    }
    if (source.shape == nest.tensors()[s.write.tensor].shape) return ", mixed";
  }
  return ", expanded";
}

/// Does the statement sum up what was there before any step: the operator's input?
bool reads_input(const Nest& original, const Statement& s) {
  return s.update == Update::add &&
         std::any_of(s.reads.begin(), s.reads.end(), [&](const Access& access) {
           return access.tensor < original.tensors().size() &&
                  original.tensors()[access.tensor].role == Role::input;
         });
}

/// How are elements made that the operator itself no longer writes, and what it reads instead of
/// its input?
std::string completion_name(const Nest& original, const Statement& main, const Nest& nest) {
  std::string out;
  for (const Statement& s : nest.statements()) {
    bool completes = s.write.tensor == main.write.tensor;
    bool is_added = s.origin.statement.empty();
    if (!is_added || (!completes && !reads_input(original, s))) continue;
    std::string part = !completes                   ? ", reduced"
                       : s.update == Update::assign ? ", repeated"
                                                    : widening_name(nest, s);
    if (out.find(part) == std::string::npos) out += part;
  }
  return out;
}

}  // namespace

std::string meaning_name(const Nest& original, const Nest& nest) {
  if (canonical(original) == canonical(nest)) return "the same operator";
  auto main = std::find_if(original.statements().begin(), original.statements().end(),
                           [](const Statement& s) { return s.update != Update::assign; });
  if (main == original.statements().end()) return "unnamed";
  auto box_sides = poly::sides(main->domain);
  if (!box_sides) return "unnamed";
  Original o{{}, main->dims, {}};
  for (size_t i = 0; i < main->dims.size(); ++i) {
    o.roles.push_back(role_of(*main, original.tensors(), i));
    o.extents.push_back((*box_sides)[i].size());
  }
  std::vector<Parallelepiped> boxes;
  for (const Statement& s : nest.statements()) {
    if (s.origin.statement != main->name) continue;
    auto box = image_of_box(s.domain, s.origin.at);
    if (!box) return "unnamed";
    boxes.push_back(std::move(*box));
  }
  if (boxes.empty()) return "unnamed";
  join_neighbours(boxes);
  std::string name =
      boxes.size() == 1 ? box_name(o, boxes.front()).value_or("unnamed") : parts_name(o, boxes);
  return name + completion_name(original, *main, nest);
}

}  // namespace lathe
