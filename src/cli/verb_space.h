// What the verbs about a space of networks share: the options that say which layers may change, and
// into what.
#pragma once

#include "cli/verb.h"
#include "search/network_space.h"

namespace lathe {

/// What users say of a space.
struct SpaceArguments {
  SpaceOptions space;
  std::string families, without;  ///< names, with commas between
};

/// Declares the options on "app".
void add_space_arguments(Command& app, SpaceArguments& arguments);

/// Returns the options of the space. Fails if a family is named that there is not.
SpaceOptions space_options(const SpaceArguments& arguments);

}  // namespace lathe
