// How many channels are left, chosen over a whole network by tables that are made up.
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "models/model.h"
#include "search/width_tables.h"
#include "strategies/strategy.h"

namespace lathe::test {
namespace {

/// A network whose layers take as long as their MACs and their channels say, and score less the
/// smaller they are.
struct WideCase {
  NetworkSpace space;
  LayerTables tables;
  GateRule rule;

  explicit WideCase(const char* name, uint64_t seed) {
    Graph network = load_model(name);
    space = with_links(network_space(network, {.variants = {.neural = 0}}), network, {});
    Random random(seed, "tables");
    tables.metrics = {{find_metric("fisher"), {}, {}}, {find_metric("macs"), {}, {}}};
    for (size_t s = 0; s < space.sites.size(); ++s) add_site(s, random);
    for (MetricTable& table : tables.metrics) {
      table.layers = space.sites.size();
      for (double own : table.own) table.total += own;
    }
    rule.network_band = 1;
    rule.layer_band = 2;
    rule.features = {{"fisher", Form::layers_distance}, {"macs", Form::log_ratio}};
    rule.weights = {-2, 0.5};
    rule.tolerance = 1;
  }

  StrategyInput input() const { return {space, tables, rule, {}, 300, 6, 1}; }

  FirstJudgement judged(const Assignment& assignment) const {
    return judge_first(rule, space, tables, assignment);
  }

 private:
  void add_site(size_t s, Random& random) {
    const auto& variants = space.kinds[space.sites[s].kind].variants;
    auto macs = [&](size_t v) { return static_cast<double>(variants[v].macs); };
    double steepness = 0.1 + 0.4 * random.uniform();
    tables.times.emplace_back();
    tables.gains.emplace_back(variants.size(), 1);
    for (MetricTable& table : tables.metrics) table.scores.emplace_back();
    for (size_t v = 0; v < variants.size(); ++v) {
      double part = macs(v) / macs(0);
      bool possible = is_possible(space, s, v);
      double time = (0.1 + 0.9 * part) * macs(0) * (0.9 + 0.2 * random.uniform());
      tables.times.back().push_back(possible ? time : INFINITY);
      tables.metrics[0].scores.back().push_back(std::pow(part, steepness));
      tables.metrics[1].scores.back().push_back(macs(v));
    }
    tables.metrics[0].own.push_back(1);
    tables.metrics[1].own.push_back(macs(0));
    tables.places.push_back(s);
  }
};

/// Expects that no link can have another level, all else being equal, and be both faster and
/// accepted.
void expect_no_better_level(const WideCase& made, const Assignment& chosen) {
  double time = made.judged(chosen).time;
  for (size_t l = 0; l < made.space.links.size(); ++l) {
    for (size_t level = 0; level < made.space.links[l].levels.size(); ++level) {
      Assignment other = chosen;
      if (!set_level(made.space, l, level, other)) continue;
      FirstJudgement judged = made.judged(other);
      EXPECT_FALSE(judged.accepted && judged.time < 0.995 * time)
          << made.space.links[l].name << ", level " << level;
    }
  }
}

TEST(Widths, AreChosenOverAWholeNetwork) {
  for (const char* name : {"resnet34-cifar", "mobilenet_v2-cifar"}) {
    SCOPED_TRACE(name);
    WideCase made(name, 1);
    auto proposal = find_strategy("assign").begin(made.input())->propose();
    ASSERT_TRUE(proposal);
    FirstJudgement judged = made.judged(proposal->assignment);
    EXPECT_TRUE(judged.accepted) << judged.reason;
    Assignment as_it_was(proposal->assignment.size(), 0);
    EXPECT_LT(judged.time, 0.8 * made.judged(as_it_was).time);
    size_t narrow = 0;
    for (const ChannelLink& link : made.space.links) {
      narrow += level_of(made.space, link, proposal->assignment).value() > 0 ? 1 : 0;
    }
    EXPECT_GT(narrow, 0U);
    expect_no_better_level(made, proposal->assignment);
  }
}

TEST(Widths, ThatAreRefinedAreNoSlower) {
  WideCase made("resnet18-cifar", 2);
  auto first = find_strategy("assign").begin(made.input())->propose();
  ASSERT_TRUE(first);
  double before = made.judged(first->assignment).time;
  for (Spacing spacing : {Spacing::sixteenths, Spacing::steps}) {
    auto proposal = find_strategy("assign").begin(made.input())->propose();
    ASSERT_TRUE(proposal);
    KnownSpace near = refined(made.space, made.tables, proposal->assignment, spacing);
    made.space = near.space;
    made.tables = near.tables;
  }
  auto last = find_strategy("assign").begin(made.input())->propose();
  ASSERT_TRUE(last);
  EXPECT_TRUE(made.judged(last->assignment).accepted);
  EXPECT_LE(made.judged(last->assignment).time, before * 1.005);
}

}  // namespace
}  // namespace lathe::test
