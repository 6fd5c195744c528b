// variant_family.cpp: families of variants. Interface: variant_family.h.
#include "search/variant_family.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "nest/description.h"

namespace lathe {
namespace {

/// What a box lacks of the original, and which of its coordinates go together.
struct Traits {
  bool fewer_filters = false, fewer_inputs = false, fewer_positions = false, smaller_window = false;
  bool groups = false, shuffled = false, depthwise = false;  // of filters and channels
  bool other_groups = false;                                 // of other coordinates
};

Traits traits_of(const OriginalLoops& o, const BoxDescription& box) {
  Traits t;
  for (size_t i = 0; i < o.extents.size(); ++i) {
    if (box.left(i) == o.extents[i]) continue;
    CoordinateRole role = o.roles[i];
    t.fewer_filters = t.fewer_filters || role == CoordinateRole::filter;
    t.fewer_inputs = t.fewer_inputs || role == CoordinateRole::channel;
    t.fewer_positions = t.fewer_positions || role == CoordinateRole::position;
    t.smaller_window = t.smaller_window || role == CoordinateRole::window;
  }
  for (const SharedDirection& s : box.shared) {
    CoordinateRole a = o.roles[s.first], b = o.roles[s.second];
    bool of_channels = (a == CoordinateRole::filter && b == CoordinateRole::channel) ||
                       (a == CoordinateRole::channel && b == CoordinateRole::filter);
    (of_channels ? t.groups : t.other_groups) = true;
    if (!of_channels) continue;
    t.shuffled = t.shuffled || box.is_shuffled(s.first) || box.is_shuffled(s.second);
    t.depthwise = t.depthwise || (box.along[s.first].empty() && box.along[s.second].empty());
  }
  return t;
}

bool is_whole(const Traits& t) {
  return !t.fewer_filters && !t.fewer_inputs && !t.fewer_positions && !t.smaller_window &&
         !t.groups && !t.other_groups;
}

Family family_of(const Traits& t, bool widened) {
  if (t.other_groups) return Family::stripes;
  if (t.smaller_window) return Family::window;
  if (t.fewer_positions) return t.groups ? Family::grouped_spatial : Family::spatial;
  if (t.depthwise) return Family::depthwise;
  if (t.groups && (t.fewer_filters || t.fewer_inputs)) return Family::grouped_bottleneck;
  if (widened) return Family::expanded;
  if (t.groups) return t.shuffled ? Family::shuffled : Family::grouped;
  if (t.fewer_filters) return Family::repeated;
  return t.fewer_inputs ? Family::reads : Family::other;
}

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const FamilyRecord& record : families()) names.push_back(record.name);
  return names;
}

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

const std::vector<FamilyRecord>& families() {
  static const std::vector<FamilyRecord> all{
      {Family::grouped, "grouped", "filters in groups, each reads neighbouring channels"},
      {Family::shuffled, "shuffled", "filters in groups, each reads every n-th channel"},
      {Family::depthwise, "depthwise", "one channel a filter, with or without a 1x1 behind"},
      {Family::reads, "reads", "only some input channels are read"},
      {Family::repeated, "repeated", "fewer filters, whose results are repeated"},
      {Family::expanded, "expanded", "fewer filters, or groups, and a 1x1 behind"},
      {Family::grouped_bottleneck, "grouped-bottleneck", "groups with fewer filters or inputs"},
      {Family::spatial, "spatial", "only every n-th row or column is computed"},
      {Family::grouped_spatial, "grouped-spatial", "the same, with filters in groups"},
      {Family::stripes, "stripes", "groups of rows and channels, or of other two loops"},
      {Family::parts, "parts", "some filters are treated otherwise than the rest"},
      {Family::window, "window", "a smaller window"},
      {Family::narrow, "narrow", "fewer channels, in all layers that make or read them"},
      {Family::other, "other", "what has no name"},
  };
  return all;
}

const char* name_of(Family family) {
  for (const FamilyRecord& record : families()) {
    if (record.family == family) return record.name;
  }
  return "as it was";
}

Family family_of(const Nest& original, const Nest& nest) {
  auto meaning = described(original, nest);
  if (!meaning) return Family::other;
  if (meaning->boxes.size() > 1) return Family::parts;
  auto box = describe(meaning->boxes.front());
  if (!box) return Family::stripes;  // more than two loops are sliced together
  bool widened = std::any_of(meaning->completed.begin(), meaning->completed.end(),
                             [](CompletedBy by) { return by != CompletedBy::repeated; });
  Traits traits = traits_of(meaning->original, *box);
  if (is_whole(traits)) return widened ? Family::other : Family::same;
  return family_of(traits, widened);
}

bool FamilyChoice::has(Family family) const {
  if (family == Family::same) return true;
  std::string name = name_of(family);
  return (only.empty() || contains(only, name)) && !contains(without, name);
}

void check_families(const FamilyChoice& choice) {
  std::vector<std::string> names = family_names();
  for (const auto* list : {&choice.only, &choice.without}) {
    for (const std::string& name : *list) {
      if (contains(names, name)) continue;
      fail("there is no family '{}'; families are {}", name, fmt::join(names, ", "));
    }
  }
  bool any = std::any_of(families().begin(), families().end(),
                         [&](const FamilyRecord& record) { return choice.has(record.family); });
  if (!any)
    fail("--families and --without leave no family; families are {}", fmt::join(names, ", "));
}

}  // namespace lathe
