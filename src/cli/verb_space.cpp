// verb_space.cpp: options about a space of networks. Interface: verb_space.h.
#include "cli/verb_space.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace lathe {
namespace {

/// Takes a list apart at its commas.
std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin < list.size();) {
    size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) names.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

}  // namespace

void add_space_arguments(Command& app, SpaceArguments& arguments) {
  SpaceOptions& space = arguments.space;
  app.add_option("--include PATTERN", space.include,
                 "change only layers of this name, like 'layer[34].*'");
  app.add_option("--exclude PATTERN", space.exclude, "leave layers of this name alone");
  app.add_flag("!--no-pointwise", space.pointwise, "leave 1x1 convolutions alone");
  app.add_flag("!--no-narrow", space.narrow, "take no channels away");
  app.add_option("--families LIST", arguments.families,
                 "use only variants of these families, like grouped,shuffled; "
                 "'lathe list families' names them")
      ->otherwise("all");
  app.add_option("--without LIST", arguments.without, "use no variants of these families");
  app.add_option("--neural", space.variants.neural, "use at most so many neural steps in a recipe")
      ->check(range(1, 3));
}

SpaceOptions space_options(const SpaceArguments& arguments) {
  return of_families(arguments.space, {names_in(arguments.families), names_in(arguments.without)});
}

}  // namespace lathe
