// Tables between the widths that were measured.
#include "search/width_tables.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "models/model.h"

namespace lathe::test {
namespace {

double bilinear(Widths w) {
  auto f = static_cast<double>(w.filters), i = static_cast<double>(w.inputs);
  return 3 + 0.5 * f + 0.25 * i + 0.125 * f * i;
}

TEST(WidthTables, InterpolateWhatIsBilinear) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    lathe::Random random(seed, "widths");
    std::vector<WidthPoint> points;
    for (long f : {16, 32, 64}) {
      for (long i : {32, 64, 128}) {
        bool inside = f == 32 || i == 64;  // those at the corners are there always
        if (inside && random.below(3) == 0) continue;
        points.push_back({{f, i}, bilinear({f, i})});
      }
    }
    Widths at{16 + static_cast<long>(random.below(49)), 32 + static_cast<long>(random.below(97))};
    auto value = interpolated(points, at);
    ASSERT_TRUE(value);
    EXPECT_NEAR(*value, bilinear(at), 1e-9 * *value);
  }
}

TEST(WidthTables, FollowTheWorkWhereThereIsNoRectangle) {
  std::vector<WidthPoint> points{{{16, 16}, 1}, {{64, 64}, 16}};
  EXPECT_NEAR(*interpolated(points, {32, 32}), 4, 1e-12);
  EXPECT_NEAR(*interpolated(points, {16, 64}), 4, 1e-12);
  EXPECT_FALSE(interpolated(points, {8, 16}));
  EXPECT_FALSE(interpolated({}, {8, 16}));
}

/// Returns tables in which every number of a variant is its MACs.
LayerTables tables_of(const NetworkSpace& space) {
  LayerTables tables;
  for (size_t s = 0; s < space.sites.size(); ++s) {
    tables.times.emplace_back();
    for (const LayerVariant& v : space.kinds[space.sites[s].kind].variants) {
      tables.times.back().push_back(static_cast<double>(v.macs));
    }
  }
  tables.gains = tables.times;
  tables.metrics.push_back({find_metric("fisher"), tables.times, {}, 1, 1});
  return tables;
}

TEST(WidthTables, RefinedSpacesAreNearWhatWasChosen) {
  Graph network = load_model("resnet20-cifar");
  NetworkSpace space =
      with_links(network_space(network, {.variants = {.neural = 0}}), network, SpaceOptions());
  LayerTables tables = tables_of(space);
  Assignment half(space.sites.size(), 0);
  for (size_t l = 0; l < space.links.size(); ++l) {
    ASSERT_TRUE(set_level(space, l, space.links[l].levels.size() - 1, half));
  }
  for (Spacing spacing : {Spacing::sixteenths, Spacing::steps}) {
    KnownSpace near = refined(space, tables, half, spacing);
    for (size_t l = 0; l < space.links.size(); ++l) {
      const LinkLevels &before = space.links[l].levels, &now = near.space.links[l].levels;
      EXPECT_EQ(now.front(), before.front());
      EXPECT_NE(std::find(now.begin(), now.end(), before.back()), now.end());
      for (const std::vector<long>& level : now) EXPECT_GE(level, before.back());
    }
    // MACs are bilinear: what is interpolated is what the variants have.
    size_t count = 0;
    for (size_t s = 0; s < near.space.sites.size(); ++s) {
      for (size_t v = 0; v < near.tables.times[s].size(); ++v) {
        if (!is_possible(near.space, s, v)) continue;
        ASSERT_NEAR(near.tables.times[s][v], static_cast<double>(near.space.variant(s, v).macs),
                    1e-6 * near.tables.times[s][v])
            << near.space.sites[s].layer << ": " << near.space.variant(s, v).meaning;
        ++count;
      }
    }
    EXPECT_GT(count, near.space.sites.size() * 10);
  }
}

}  // namespace
}  // namespace lathe::test
