// The mixing of assignments is that of the networks that they make.
#include "search/assignment_mixing.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "models/model.h"
#include "transforms/transform_network.h"

namespace lathe::test {
namespace {

Mixing all_of(const AssignmentMixing& mixing, const Assignment& assignment) {
  auto share = [&](double Mixing::*which) { return mixing.of(assignment, which); };
  return {share(&Mixing::connected), share(&Mixing::dead), share(&Mixing::across),
          share(&Mixing::neighbours)};
}

/// Calls check(what the tables say, what the network that an assignment makes has) for some.
template <class Check>
void for_random_assignments(const SpaceOptions& options, const Check& check) {
  Graph network = load_model("resnet20-cifar", {.size = 8});
  NetworkSpace space = network_space(network, options);
  AssignmentMixing mixing(network, space);
  EXPECT_EQ(mixing.of(Assignment(space.sites.size(), 0), &Mixing::connected), 1);
  constexpr uint64_t seed = 7;
  lathe::Random random(seed, "mixing");
  for (int i = 0; i < 8; ++i) {
    Assignment assignment;
    for (const LayerSite& site : space.sites) {
      assignment.push_back(random.below(space.kinds[site.kind].variants.size()));
    }
    NetworkRecipe recipe = recipe_of(space, assignment);
    SCOPED_TRACE(fmt::format("seed {}, network {}:\n{}", seed, i, print(recipe)));
    check(all_of(mixing, assignment), mixing_of(transformed(network, recipe)));
  }
}

TEST(AssignmentMixing, IsThatOfTheNetworkItMakes) {
  for_random_assignments({.include = "layer[23].[12].*", .most = 10},
                         [](const Mixing& found, const Mixing& wanted) {
                           EXPECT_NEAR(found.connected, wanted.connected, 1e-9);
                           EXPECT_NEAR(found.across, wanted.across, 1e-9);
                         });
}

TEST(AssignmentMixing, KnowsNeighbours) {
  // Recipes that add layers are left out: these become neighbours, which no table knows.
  for_random_assignments({.include = "layer[23].[12].*",
                          .families = {.only = {"grouped", "shuffled", "reads"}},
                          .most = 10},
                         [](const Mixing& found, const Mixing& wanted) {
                           EXPECT_NEAR(found.neighbours, wanted.neighbours, 1e-9);
                         });
}

}  // namespace
}  // namespace lathe::test
