// description.cpp: what is left of an operator. Interface: description.h.
#include "nest/description.h"

#include <algorithm>

namespace lathe {
namespace {

/// How does a 1x1 convolution behind the operator make its channels: is there a normalisation
/// before it, and are there more channels than it reads?
CompletedBy widened_by(const Nest& nest, const Statement& s) {
  for (const Access& access : s.reads) {
    const Tensor& source = nest.tensors()[access.tensor];
    if (source.role != Role::local) continue;
    for (const Statement& writer : nest.statements()) {
      bool normalises = writer.write.tensor == access.tensor && writer.value.op == Expr::Op::max;
      if (normalises) return CompletedBy::deepened;
    }
    if (source.shape == nest.tensors()[s.write.tensor].shape) return CompletedBy::mixed;
  }
  return CompletedBy::expanded;
}

/// Does the statement sum up what was there before any step: the operator's input?
bool reads_input(const Nest& original, const Statement& s) {
  return s.update == Update::add &&
         std::any_of(s.reads.begin(), s.reads.end(), [&](const Access& access) {
           return access.tensor < original.tensors().size() &&
                  original.tensors()[access.tensor].role == Role::input;
         });
}

std::vector<CompletedBy> completions(const Nest& original, const Statement& main,
                                     const Nest& nest) {
  std::vector<CompletedBy> found;
  for (const Statement& s : nest.statements()) {
    bool completes = s.write.tensor == main.write.tensor;
    bool is_added = s.origin.statement.empty();
    if (!is_added || (!completes && !reads_input(original, s))) continue;
    CompletedBy by = !completes                   ? CompletedBy::reduced
                     : s.update == Update::assign ? CompletedBy::repeated
                                                  : widened_by(nest, s);
    if (std::find(found.begin(), found.end(), by) == found.end()) found.push_back(by);
  }
  return found;
}

}  // namespace

long BoxDescription::left(size_t coordinate) const {
  long count = 1;
  for (const SpacedDigit& digit : along[coordinate]) count *= digit.extent;
  for (const SharedDirection& s : shared) {
    if (s.first == coordinate || s.second == coordinate) count *= s.groups;
  }
  return count;
}

long BoxDescription::step_of(size_t coordinate) const {
  for (const SharedDirection& s : shared) {
    if (s.first == coordinate) return s.first_step;
    if (s.second == coordinate) return s.second_step;
  }
  return 0;
}

bool BoxDescription::is_shuffled(size_t coordinate) const {
  long step = step_of(coordinate);
  return step != 0 && !along[coordinate].empty() && along[coordinate].back().stride > step;
}

std::optional<BoxDescription> describe(const Parallelepiped& box) {
  BoxDescription d;
  d.along.resize(box.corner.size());
  for (const BoxDirection& direction : box.directions) {
    std::vector<size_t> touched;
    for (size_t i = 0; i < direction.vector.size(); ++i) {
      if (direction.vector[i] != 0) touched.push_back(i);
    }
    if (touched.size() == 1) {
      d.along[touched[0]].push_back({direction.vector[touched[0]], direction.extent});
    } else if (touched.size() == 2) {
      d.shared.push_back({touched[0], touched[1], direction.vector[touched[0]],
                          direction.vector[touched[1]], direction.extent});
    } else {
      return std::nullopt;
    }
  }
  for (std::vector<SpacedDigit>& digits : d.along) {
    std::sort(digits.begin(), digits.end(),
              [](const SpacedDigit& a, const SpacedDigit& b) { return a.stride < b.stride; });
  }
  return d;
}

const char* name_of(CompletedBy by) {
  switch (by) {
    case CompletedBy::repeated:
      return "repeated";
    case CompletedBy::expanded:
      return "expanded";
    case CompletedBy::mixed:
      return "mixed";
    case CompletedBy::deepened:
      return "deepened";
    case CompletedBy::reduced:
      return "reduced";
  }
  return "";
}

std::optional<Description> described(const Nest& original, const Nest& nest) {
  auto main = std::find_if(original.statements().begin(), original.statements().end(),
                           [](const Statement& s) { return s.update != Update::assign; });
  if (main == original.statements().end()) return std::nullopt;
  auto box_sides = poly::sides(main->domain);
  if (!box_sides) return std::nullopt;
  Description result;
  result.original.names = main->dims;
  for (size_t i = 0; i < main->dims.size(); ++i) {
    result.original.roles.push_back(role_of(*main, original.tensors(), i));
    result.original.extents.push_back((*box_sides)[i].size());
  }
  for (const Statement& s : nest.statements()) {
    if (s.origin.statement != main->name) continue;
    auto box = image_of_box(s.domain, s.origin.at);
    if (!box) return std::nullopt;
    result.boxes.push_back(std::move(*box));
  }
  if (result.boxes.empty()) return std::nullopt;
  join_neighbours(result.boxes);
  result.completed = completions(original, *main, nest);
  return result;
}

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

}  // namespace lathe
