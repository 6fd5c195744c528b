// Links: which channels of networks can become fewer, what layers become then, and that the network
// of an assignment is what the tables say and what the interpreter computes.
#include "search/channel_links.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "models/model.h"
#include "ops/op_graph.h"
#include "program/fewer_channels.h"
#include "program/layers.h"
#include "search/network_space.h"
#include "support/run_graph.h"

namespace lathe::test {
namespace {

/// Every kind of layer that couples channels: a stem, a residual add with a shortcut, groups,
/// depthwise layers, a concatenation, normalisations, biases, a flattening.
Graph all_kinds() {
  GraphBuilder g("net");
  ValueId x = g.input("x", {Element::f32, {1, 4, 6, 6}});
  auto conv = [&](const std::string& name, ValueId from, long filters, long groups = 1,
                  long kernel = 3) {
    Shape shape{filters, g.shape(from)[1] / groups, kernel, kernel};
    long pad = kernel / 2;
    ValueId y = g.call("conv",
                       {from, g.weight(name + ".weight", shape, he_fan_out(shape, groups)),
                        g.weight(name + ".bias", {filters}, {Initial::Kind::normal, 1})},
                       {{"pads", Shape{pad, pad, pad, pad}}, {"groups", groups}}, name);
    auto vector = [&](const char* part, Initial initial, Value::Kind kind) {
      return g.weight(name + part, {filters}, initial, kind);
    };
    return g.call("batch_norm",
                  {y, vector(".scale", {Initial::Kind::normal, 1}, Value::Kind::weight),
                   vector(".shift", {Initial::Kind::normal, 1}, Value::Kind::weight),
                   vector(".mean", {Initial::Kind::zeros}, Value::Kind::state),
                   vector(".variance", {Initial::Kind::ones}, Value::Kind::state)},
                  {}, name + "_norm");
  };
  auto relu = [&](ValueId from) { return g.call("relu", {from}); };
  ValueId stem = relu(conv("stem", x, 32));
  ValueId inner = relu(conv("inner", stem, 24));
  ValueId sum = relu(g.call("add", {conv("last", inner, 16), conv("shortcut", stem, 16, 1, 1)}));
  ValueId grouped = relu(conv("grouped", relu(conv("before", sum, 32)), 48, 2));
  ValueId deep = relu(conv("deep", grouped, 48, 48));
  ValueId both = g.call("concat", {deep, conv("side", sum, 8)}, {{"axis", 1L}});
  ValueId flat = g.call("reshape", {conv("d", both, 16)}, {{"shape", Shape{1, 16 * 36}}});
  ValueId w = g.weight("fc.weight", {3, 16 * 36}, {Initial::Kind::normal, 1});
  g.output(g.call("fully_connected", {flat, w}, {}, "fc"));
  return g.build();
}

/// Returns a space in which convolutions can only be as they are, or have fewer channels.
NetworkSpace linked_space(const Graph& network, const SpaceOptions& options = {}) {
  NetworkSpace space = network_space(network, {.variants = {.neural = 0}});
  return with_links(std::move(space), network, options);
}

std::string print_set(const SearchedSet& set) {
  return fmt::format("{}/{} {}+{} {}", set.set.channels, set.set.multiple, set.makers.size(),
                     set.readers.size(), set.fixed);
}

/// Counts the sets of a network by what they are.
std::map<std::string, int> sets_of(const char* network) {
  std::map<std::string, int> count;
  for (const SearchedSet& set : searched_sets(load_model(network), {})) ++count[print_set(set)];
  return count;
}

using Count = std::map<std::string, int>;

// "64/1 4+5": 64 channels in multiples of 1 that 4 layers make and 5 read; then why they are fixed.
TEST(ChannelLinks, OfResNet34) {
  EXPECT_EQ(sets_of("resnet34-cifar"), (Count{{"3/1 0+1 input 'input'", 1},
                                              {"64/1 4+5 ", 1},   // stem and stream
                                              {"64/1 1+1 ", 3},   // inside blocks
                                              {"128/1 5+5 ", 1},  // with shortcuts
                                              {"128/1 1+1 ", 4},
                                              {"256/1 7+7 ", 1},
                                              {"256/1 1+1 ", 6},
                                              {"512/1 4+3 ", 1},  // the classifier reads it
                                              {"512/1 1+1 ", 3},
                                              {"10/1 1+0 output 'output'", 1}}));
}

TEST(ChannelLinks, OfResNeXt29) {
  EXPECT_EQ(sets_of("resnext29_2x64d"), (Count{{"3/1 0+1 input 'input'", 1},
                                               {"64/1 1+2 ", 1},
                                               {"128/2 1+1 ", 6},  // before and behind groups
                                               {"256/1 4+4 ", 1},
                                               {"256/2 1+1 ", 6},
                                               {"512/1 4+4 ", 1},
                                               {"512/2 1+1 ", 6},
                                               {"1024/1 4+3 ", 1},
                                               {"10/1 1+0 output 'output'", 1}}));
}

TEST(ChannelLinks, OfDenseNet161) {
  Graph network = load_model("densenet161-cifar");
  std::map<long, int> free;
  std::vector<std::string> fixed;
  for (const SearchedSet& set : searched_sets(network, {})) {
    if (!set.fixed.empty()) fixed.push_back(print_set(set));
    if (set.fixed.empty()) ++free[set.set.channels];
  }
  EXPECT_EQ(fixed, (std::vector<std::string>{"3/1 0+1 input 'input'", "10/1 1+0 output 'output'"}));
  // What layers add to a block, what they make first, the stem, and what is between blocks.
  EXPECT_EQ(free, (std::map<long, int>{{48, 78}, {96, 1}, {192, 79}, {384, 1}, {1056, 1}}));
}

TEST(ChannelLinks, OfMobileNetV2) {
  Count sets = sets_of("mobilenet_v2");
  EXPECT_EQ(sets["32/1 1+2 "], 1);   // the stem: a depthwise layer and a 1x1 layer read it
  EXPECT_EQ(sets["960/1 1+2 "], 3);  // through depthwise layers
  EXPECT_EQ(sets["64/1 4+4 "], 1);   // a stream
  EXPECT_EQ(sets["1280/1 1+1 "], 1);
  EXPECT_EQ(sets["1000/1 1+0 output 'output'"], 1);
}

TEST(ChannelLinks, OfSsd) {
  int free = 0;
  std::set<std::string> reasons;
  for (const SearchedSet& set : searched_sets(load_model("ssd_resnet50"), {})) {
    free += set.fixed.empty() ? 1 : 0;
    reasons.insert(set.fixed);
  }
  EXPECT_GT(free, 30);
  reasons.erase("");
  for (const std::string& reason : reasons) {
    bool is_face = reason.starts_with("input ") || reason.starts_with("output ");
    EXPECT_TRUE(is_face || reason == "they are positions, not channels") << reason;
  }
}

TEST(ChannelLinks, LayersThatAreLeftAloneFixTheirChannels) {
  Graph network = all_kinds();
  std::map<std::string, std::string> fixed;
  for (const SearchedSet& set : searched_sets(network, {.exclude = "inner"})) {
    if (!set.makers.empty()) fixed[set.makers.front()] = set.fixed;
  }
  EXPECT_EQ(fixed["stem"], "'inner' is left alone");
  EXPECT_EQ(fixed["inner"], "'inner' is left alone");
  EXPECT_EQ(fixed["before"], "");
}

TEST(ChannelLinks, ConcatenatedSetsAreOneLink) {
  NetworkSpace space = linked_space(all_kinds());
  std::map<std::string, std::vector<long>> sets;
  for (const ChannelLink& link : space.links) {
    for (const LinkedSet& set : link.sets) sets[link.name].push_back(set.channels);
  }
  EXPECT_EQ(sets, (std::map<std::string, std::vector<long>>{{"stem", {32}},
                                                            {"inner", {24}},
                                                            {"last", {16}},
                                                            {"before", {32}},
                                                            {"grouped", {48, 8}},
                                                            {"d", {16}}}));
  // The stem and the classifier are sites by their channels alone.
  for (const LayerKind& kind : space.kinds) {
    const std::string& layer = space.sites[kind.sites.front()].layer;
    EXPECT_EQ(kind.dependent, layer == "stem" || layer == "fc") << layer;
  }
}

/// Puts links to random levels, and layers that can be to random groups.
Assignment random_assignment(const NetworkSpace& space, Random& random, bool groups) {
  Assignment assignment(space.sites.size(), 0);
  for (size_t s = 0; s < assignment.size() && groups; ++s) {
    const auto& variants = space.kinds[space.sites[s].kind].variants;
    std::vector<size_t> alone;
    for (size_t v = 0; v < variants.size(); ++v) {
      if (!variants[v].coupling) alone.push_back(v);
    }
    assignment[s] = alone[random.below(alone.size())];
  }
  for (size_t l = 0; l < space.links.size(); ++l) {
    set_level(space, l, random.below(space.links[l].levels.size()), assignment);
  }
  return assignment;
}

/// Expects that the tables count what the network of an assignment has.
void expect_counted(const Graph& network, const NetworkSpace& space, const Assignment& assignment) {
  Graph changed = transformed(network, recipe_of(space, assignment));
  long macs = 0, weights = 0;
  for (const Layer& layer : layers_of(changed)) {
    macs += layer.cost.macs;
    weights += layer.weights;
  }
  EXPECT_EQ(macs_of(space, assignment), macs);
  EXPECT_EQ(weights_of(space, assignment), weights);
}

TEST(ChannelLinks, TablesCountWhatNetworksHave) {
  for (const char* name : {"resnet20-cifar", "resnext29_2x64d", "densenet121-cifar",
                           "mobilenet_v2-cifar", "nasbench201:6111", "vgg11"}) {
    Graph network = load_model(name);
    NetworkSpace space = linked_space(network);
    ASSERT_FALSE(space.links.empty());
    for (uint64_t seed : {1, 2}) {
      SCOPED_TRACE(fmt::format("{}, seed {}", name, seed));
      Random random(seed, "levels");
      Assignment assignment = random_assignment(space, random, true);
      EXPECT_TRUE(agrees(space, assignment));
      for (size_t s = 0; s < assignment.size(); ++s) {
        EXPECT_TRUE(is_possible(space, s, assignment[s])) << space.sites[s].layer;
      }
      expect_counted(network, space, assignment);
    }
  }
}

/// Sets to 0 what makes channels that a changed network does not have.
Graph silenced(Graph graph, const Graph& changed) {
  for (const SearchedSet& searched : searched_sets(graph, {})) {
    if (!searched.fixed.empty()) continue;
    const ChannelSet& set = searched.set;
    auto filters = find_value(changed, searched.makers.front() + ".weight");
    long left = changed.values[*filters].type.shape[0];
    long group = set.channels / set.multiple, kept = left / set.multiple;
    for (const ChannelRange& m : set.members) {
      Value& value = graph.values[m.value];
      if (value.kind != Value::Kind::weight || m.dimension != 0) continue;
      std::vector<double> numbers = value.data->reals();
      long row = value.data->count() / value.type.shape[0];
      for (long i = 0; i < m.count; ++i) {
        if (i % group >= kept) std::fill_n(numbers.begin() + (m.first + i) * row, row, 0.0);
      }
      value.data = lathe::Array::of_reals(Element::f32, value.type.shape, numbers);
    }
  }
  return graph;
}

TEST(ChannelLinks, NetworksComputeWhatIsLeft) {
  Graph network = initialised(all_kinds(), 1);
  NetworkSpace space = linked_space(network);
  for (uint64_t seed = 0; seed < 5; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed, "levels");
    Assignment assignment = random_assignment(space, random, false);
    ASSERT_TRUE(agrees(space, assignment));
    Graph changed = transformed(network, recipe_of(space, assignment));
    expect_same_outputs(silenced(network, changed), changed, 1e-4);
    expect_counted(network, space, assignment);
  }
}

TEST(ChannelLinks, FewerChannelsComposeWithGroups) {
  Graph network = load_model("resnet18-cifar");
  NetworkSpace space = linked_space(network);
  size_t grouped = 0;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed, "groups");
    Assignment assignment = random_assignment(space, random, true);
    for (size_t s = 0; s < assignment.size(); ++s) {
      const auto& coupling = space.variant(s, assignment[s]).coupling;
      grouped += coupling && coupling->groups > 1 ? 1 : 0;
    }
    expect_counted(network, space, assignment);
  }
  EXPECT_GT(grouped, 5U);
}

TEST(ChannelLinks, DisagreementIsSeenAndMended) {
  NetworkSpace space = linked_space(all_kinds());
  Assignment assignment(space.sites.size(), 0);
  ASSERT_TRUE(set_level(space, 0, 1, assignment));
  EXPECT_EQ(level_of(space, space.links[0], assignment), 1U);
  Assignment other = assignment;
  other[space.links[0].readers.front().site] = 0;
  EXPECT_FALSE(agrees(space, space.links[0], other));
  ASSERT_TRUE(set_level(space, 0, 0, assignment));
  EXPECT_EQ(assignment, Assignment(space.sites.size(), 0));
}

TEST(ChannelLinks, FewNetworksHaveEveryVariantThatIsMeasured) {
  for (const char* name : {"resnet34-cifar", "resnext29_2x64d", "mobilenet_v2-cifar"}) {
    SCOPED_TRACE(name);
    NetworkSpace space = linked_space(load_model(name));
    std::vector<Assignment> networks = coupled_assignments(space);
    EXPECT_LE(networks.size(), 8U + 2 * 3);
    std::set<std::pair<size_t, size_t>> seen;
    for (const Assignment& network : networks) {
      EXPECT_TRUE(agrees(space, network));
      for (size_t s = 0; s < network.size(); ++s) seen.emplace(space.sites[s].kind, network[s]);
    }
    for (size_t k = 0; k < space.kinds.size(); ++k) {
      for (size_t v = 1; v < space.kinds[k].variants.size(); ++v) {
        const auto& coupling = space.kinds[k].variants[v].coupling;
        if (!coupling || !coupling->is_anchor) continue;
        EXPECT_TRUE(seen.contains({k, v}))
            << space.kinds[k].description << ": " << space.kinds[k].variants[v].meaning;
      }
    }
  }
}

}  // namespace
}  // namespace lathe::test
