// Families of variants: what a layer became, roughly. A family is told from the meaning of a
// variant, never from its recipe: two recipes that mean the same are in the same family.
//
//   name_of(family_of(original, nest))       "shuffled"
//
// Searches can be restricted to some families. What is measured is chosen so that each is tried.
#pragma once

#include <string>
#include <vector>

#include "nest/nest.h"

namespace lathe {

enum class Family {
  same,
  grouped,
  shuffled,
  depthwise,
  reads,
  repeated,
  expanded,
  grouped_bottleneck,
  spatial,
  grouped_spatial,
  stripes,
  parts,
  window,
  narrow,
  other,
};

/// A family as users see it.
struct FamilyRecord {
  Family family;
  const char* name;
  const char* text;  ///< what its variants are, in one line
};

/// Returns all families but that of the layer as it was. This is the only list.
const std::vector<FamilyRecord>& families();

/// Names a family: "grouped"; "as it was" for that of the layer itself.
const char* name_of(Family family);

/// Tells the family of what steps made of "original".
Family family_of(const Nest& original, const Nest& nest);

/// Which families a search may use.
struct FamilyChoice {
  std::vector<std::string> only;     ///< names; none: all
  std::vector<std::string> without;  ///< names

  /// Is a family among them? The layer as it was always is.
  bool has(Family family) const;
};

/// Fails if a choice names a family that there is not, or leaves none; the message lists them.
void check_families(const FamilyChoice& choice);

}  // namespace lathe
