// Random small networks whose channels are put into another order: residual adds, concatenations,
// slices, groups, depthwise layers, normalisations, gates, a flattening. They compute the same as
// before, or the order is refused. Where nothing groups, fixes or repeats channels, none is.
#include "program/channel_order.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/error.h"
#include "support/interpreted.h"
#include "support/random_network.h"
#include "support/run_graph.h"
#include "transforms/transform_network.h"
#include "transforms/transform_permute.h"

namespace lathe::test {
namespace {

/// Draws networks of convolutions and what couples their channels.
class NetworkWriter : RandomNetwork {
 public:
  explicit NetworkWriter(Random& random) : RandomNetwork(random) {
    values_.push_back(g_.input("x", {Element::f32, {1, 4, rows, rows}}));
    values_.push_back(convolution(values_[0], 12, 1));
  }

  Graph write() {
    for (long n = random_.between(3, 9); n > 0; --n) values_.push_back(node());
    ValueId last = convolution(values_.back(), random_.pick(widths), 1);
    g_.output(random_.chance(50) ? flattened(last) : convolution(last, 3, 1));
    return with_data(g_.build());
  }

 private:
  static constexpr long rows = 3;
  inline static const std::vector<long> widths = {4, 6, 8, 12};

  ValueId convolution(ValueId x, long filters, long groups) {
    long k = random_.between(0, 1);
    std::vector<ValueId> inputs{x, weight({filters, channels(x) / groups, 2 * k + 1, 2 * k + 1})};
    if (random_.chance(50)) inputs.push_back(weight({filters}));
    return g_.call("conv", inputs, {{"groups", groups}, {"pads", Shape{k, k, k, k}}});
  }
  ValueId grouped(ValueId x) {
    std::vector<long> divisors;
    for (long d : {2L, 3L, 4L, channels(x)}) {
      if (channels(x) % d == 0) divisors.push_back(d);
    }
    if (divisors.empty()) return convolution(x, 12, 1);
    long groups = random_.pick(divisors);
    return convolution(x, groups * random_.between(1, 3), groups);
  }
  /// What a block makes, added to what it reads; or another value of as many channels.
  ValueId added(ValueId x) {
    if (ValueId sum = added_to_another(x); sum != no_value) return sum;
    ValueId inside = g_.call("relu", {convolution(x, random_.pick(widths), 1)});
    return g_.call("add", {convolution(inside, channels(x), 1), x});
  }
  ValueId gated(ValueId x) {
    ValueId gate = g_.call("sigmoid", {convolution(g_.call("global_pool", {x}), channels(x), 1)});
    return g_.call("mul", {x, gate});
  }
  ValueId sliced(ValueId x) {
    if (channels(x) < 4) return convolution(x, 8, 1);
    long step = random_.between(1, 2), first = random_.between(0, 1);
    long left = (channels(x) - first + step - 1) / step;
    return g_.call("slice", {x},
                   {{"starts", Shape{0, first, 0, 0}},
                    {"sizes", Shape{1, left, rows, rows}},
                    {"steps", Shape{1, step, 1, 1}}});
  }
  ValueId flattened(ValueId x) {
    long columns = channels(x) * rows * rows;
    ValueId flat = g_.call("reshape", {x}, {{"shape", Shape{1, columns}}});
    return g_.call("fully_connected", {flat, weight({5, columns})});
  }

  ValueId node() {
    ValueId x = pick();
    switch (random_.between(0, 9)) {
      case 0:
        return normalised(x);
      case 1:
        return added(x);
      case 2:
        if (channels(x) > 24) return convolution(x, 8, 1);
        return g_.call("concat", {x, pick()}, {{"axis", 1L}});
      case 3:
      case 4:
        return grouped(x);
      case 5:
        return gated(x);
      case 6:
        return sliced(x);
      case 7:
        return g_.call("softmax", {x}, {{"axis", 1L}});
      default:
        return g_.call("relu", {convolution(x, random_.pick(widths), 1)});
    }
  }

  static Graph with_data(const Graph& graph) { return initialised(graph, 7); }
};

std::vector<long> in_order(long channels) {
  std::vector<long> order(static_cast<size_t>(channels));
  std::iota(order.begin(), order.end(), 0L);
  return order;
}

/// Does a channel occur several times in one value? Then a slice may read one copy of it and
/// another copy of the next: such orders are refused, though the copies are the same.
bool is_repeated(const Graph& graph, const ChannelSet& set) {
  return std::any_of(set.members.begin(), set.members.end(), [&](const ChannelRange& m) {
    const Value& value = graph.values[m.value];
    bool is_image = value.kind == Value::Kind::computed && value.type.shape.size() == 4;
    return is_image && m.count > set.channels;
  });
}

/// Draws an order; if channels are in groups, mostly one that keeps them in equal blocks.
std::vector<long> random_order(Random& random, const ChannelSet& set) {
  std::vector<long> order = in_order(set.channels);
  long blocks = random.chance(80) ? set.multiple : 1, size = set.channels / blocks;
  for (long b = 0; b < blocks; ++b) {
    std::vector<long> block(order.begin() + b * size, order.begin() + (b + 1) * size);
    random.shuffle(block);
    std::copy(block.begin(), block.end(), order.begin() + b * size);
  }
  return order;
}

void expect_near(const std::vector<lathe::Array>& wanted, const std::vector<lathe::Array>& got) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    std::vector<double> a = got[i].reals(), b = wanted[i].reals();
    ASSERT_EQ(a.size(), b.size());
    double largest = 0;
    for (double x : b) largest = std::max(largest, std::abs(x));
    ASSERT_TRUE(std::isfinite(largest));
    for (size_t k = 0; k < b.size(); ++k) ASSERT_NEAR(a[k], b[k], 1e-5 * largest);
  }
}

bool same_data(const Graph& a, const Graph& b) {
  for (ValueId id = 0; id < a.values.size(); ++id) {
    if (a.values[id].data != b.values[id].data) return false;
  }
  return true;
}

/// Expects that a recipe for a layer that makes the channels does the same.
void expect_same_by_recipe(const Graph& graph, const ChannelOrder& order, const Graph& wanted) {
  for (const Node& node : graph.nodes) {
    if (node.op != "conv") continue;
    for (const ChannelRange& m : order.set.members) {
      bool makes = m.value == node.inputs[1] && m.dimension == 0 &&
                   m.elements == in_order(order.set.channels);
      if (!makes || m.count != graph.values[m.value].type.shape[0]) continue;
      Recipe recipe = {permute_step(order.order)};
      EXPECT_EQ(order_of(recipe[0], order.set.channels), order.order);
      std::string text = print(NetworkRecipe{{pattern_of(node.name), recipe}});
      EXPECT_TRUE(same_data(transformed(graph, parse_network_recipe(text)), wanted)) << text;
      return;
    }
  }
}

TEST(ChannelOrders, ChangeNoOutput) {
  long applied = 0, refused = 0, in_groups = 0;
  for_each_case(120, [&](Case& trial) {
    Graph graph = NetworkWriter(trial.random).write();
    trial.story = print(graph);
    std::vector<lathe::Array> inputs = random_inputs(graph), wanted = interpreted(graph, inputs);
    std::vector<ChannelOrder> all;
    for (const ChannelSet& set : channel_sets(graph)) {
      if (set.fixed) continue;
      ChannelOrder order{set, random_order(trial.random, set)};
      trial.story += fmt::format("{} of {}\n", print(permute_step(order.order)),
                                 graph.values[set.members.front().value].name);
      try {
        Graph changed = with_order(graph, {order});
        EXPECT_EQ(same_data(changed, graph), order.order == in_order(set.channels));
        expect_same_by_recipe(graph, order, changed);
        all.push_back(order);
        in_groups += set.multiple > 1 ? 1 : 0;
      } catch (const UserError& error) {
        trial.story += fmt::format("refused: {}\n", error.what());
        EXPECT_TRUE(set.multiple > 1 || is_repeated(graph, set)) << error.what();
        ++refused;
      }
    }
    applied += static_cast<long>(all.size());
    // Orders that are possible alone are so together.
    Graph changed = with_order(graph, all);
    expect_near(wanted, interpreted(changed, inputs));
  });
  std::cout << fmt::format("{} orders applied, {} of them in groups; {} refused\n", applied,
                           in_groups, refused);
  bool is_whole_run = environment("LATHE_CASE", -1) < 0;
  if (is_whole_run && environment("LATHE_CASES", 120) >= 120) {
    EXPECT_GT(applied, 200);
    EXPECT_GT(in_groups, 20);
    EXPECT_GT(refused, 5);
  }
}

}  // namespace
}  // namespace lathe::test
