// Screening: each family and amount of work is represented, by dominance, not by recipes' lengths.
#include "search/screening.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace lathe::test {
namespace {

LayerVariant variant(Family family, long macs, size_t steps = 1) {
  LayerVariant v{Recipe(steps, Step{"group", {2L}}), "", macs, macs};
  v.family = family;
  return v;
}

/// A layer of 1600 MACs, and groups and shuffled groups of it.
std::vector<LayerVariant> groups() {
  std::vector<LayerVariant> all{variant(Family::same, 1600, 0)};
  for (Family family : {Family::grouped, Family::shuffled}) {
    for (long macs : {800, 400, 200, 100}) {
      all.push_back(variant(family, macs, family == Family::grouped ? 1 : 3));
    }
  }
  return all;
}

bool has(const std::vector<size_t>& chosen, size_t v) {
  return std::find(chosen.begin(), chosen.end(), v) != chosen.end();
}

TEST(Screening, KeepsFamiliesThatScoreAlike) {
  std::vector<LayerVariant> all = groups();
  auto distance = [&](size_t v) { return 1600.0 / static_cast<double>(all[v].macs); };
  for (size_t most : {3, 5, 7, 9}) {
    std::vector<size_t> chosen = representatives(all, most, distance);
    ASSERT_EQ(chosen.size(), most);
    EXPECT_EQ(chosen[0], 0U);
    for (size_t v = 1; v <= 4; ++v) EXPECT_EQ(has(chosen, v), has(chosen, v + 4)) << v;
  }
}

TEST(Screening, RepresentsEveryFamilyAndAmountOfWork) {
  std::vector<LayerVariant> all = groups();
  all.push_back(variant(Family::reads, 800));
  all.push_back(variant(Family::spatial, 400));
  all.push_back(variant(Family::parts, 1000, 9));  // by far the longest recipe, and the farthest
  auto distance = [&](size_t v) { return all[v].family == Family::parts ? 5.0 : 0.01 * double(v); };
  std::vector<size_t> chosen = representatives(all, 10, distance);
  std::set<Family> families;
  std::set<long> work;
  for (size_t v : chosen) {
    families.insert(all[v].family);
    work.insert(all[v].macs);
  }
  EXPECT_EQ(families.size(), 6U);
  EXPECT_GE(work.size(), 5U);
}

TEST(Screening, DropsWhatIsDominatedInItsFamily) {
  std::vector<LayerVariant> all{variant(Family::same, 1600, 0), variant(Family::grouped, 800),
                                variant(Family::grouped, 400, 5), variant(Family::reads, 800)};
  // The second computes less than the first and is nearer; the third is of another family.
  auto distance = [](size_t v) { return v == 2 ? 0.1 : 0.5; };
  EXPECT_EQ(representatives(all, 3, distance), (std::vector<size_t>{0, 2, 3}));
  EXPECT_EQ(representatives(all, 9, distance), (std::vector<size_t>{0, 2, 3}));
}

TEST(Screening, LeavesOutWhatIsTooFarAway) {
  std::vector<LayerVariant> all = groups();
  auto distance = [](size_t v) {
    return v > 4 ? std::numeric_limits<double>::infinity() : static_cast<double>(v);
  };
  for (size_t v : representatives(all, 20, distance)) EXPECT_LE(v, 4U);
}

TEST(Screening, WithoutDistancesTakesTurns) {
  std::vector<LayerVariant> all = groups();
  std::vector<size_t> chosen = representatives(all, 9);
  EXPECT_EQ(chosen.size(), 9U);
  all.push_back(variant(Family::grouped, 100, 2));
  EXPECT_FALSE(has(representatives(all, 9), 9)) << "its recipe is longer than its equal's";
}

}  // namespace
}  // namespace lathe::test
