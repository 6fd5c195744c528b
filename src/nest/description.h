// What is left of an operator after steps, in its own coordinates: boxes of instances, each taken
// apart into what is left along each coordinate and what two coordinates share. Names (name.cpp)
// and families of variants (search/variant_family.h) are told from this.
#pragma once

#include <string>

#include "nest/directions.h"
#include "nest/roles.h"

namespace lathe {

/// "extent" iterations, "stride" apart.
struct SpacedDigit {
  long stride, extent;
};

/// Two coordinates that share a direction: group g of the one goes with group g of the other. From
/// one group to the next, they move by these steps.
struct SharedDirection {
  size_t first, second;
  long first_step, second_step, groups;
};

/// A box of instances.
struct BoxDescription {
  std::vector<std::vector<SpacedDigit>> along;  ///< of each coordinate alone, small strides first
  std::vector<SharedDirection> shared;

  /// How many iterations are left along a coordinate, all groups together?
  long left(size_t coordinate) const;
  /// By how much does a coordinate move from one group to the next? 0 if it shares no direction.
  long step_of(size_t coordinate) const;
  /// Are the iterations of a group apart, with those of other groups between them?
  bool is_shuffled(size_t coordinate) const;
};

/// Takes a box apart; nothing if more than two coordinates share a direction.
std::optional<BoxDescription> describe(const Parallelepiped& box);

/// What an operator was: its coordinates, their names, roles and extents.
struct OriginalLoops {
  std::vector<CoordinateRole> roles;
  std::vector<std::string> names;
  std::vector<long> extents;
};

/// How elements are made that the operator itself no longer writes, or no longer reads.
enum class CompletedBy {
  repeated,  ///< copies of others
  expanded,  ///< a 1x1 convolution makes more channels of those that are left
  mixed,     ///< a 1x1 convolution mixes channels
  deepened,  ///< the same, behind a normalisation
  reduced,   ///< a 1x1 convolution makes what is read of all channels
};

/// Names it: "repeated", ...
const char* name_of(CompletedBy by);

struct Description {
  OriginalLoops original;
  std::vector<Parallelepiped> boxes;  ///< neighbours are joined
  std::vector<CompletedBy> completed;
};

/// Describes what steps made of "original"; nothing if what is left of it is no union of boxes.
std::optional<Description> described(const Nest& original, const Nest& nest);

/// The coordinate in which boxes begin at different places, if that is one.
std::optional<size_t> cut_coordinate(const std::vector<Parallelepiped>& boxes);

}  // namespace lathe
