// Random sequences of passes on random small networks: after each pass the graph is valid, and in
// the end it computes what it did. Some are compiled so, too.
#include <gtest/gtest.h>

#include <cmath>

#include "compile/executor.h"
#include "support/interpreted.h"
#include "support/random_network.h"
#include "support/run_graph.h"

namespace lathe::test {
namespace {

/// Draws networks that give every pass something to do.
class PassNetworkWriter : RandomNetwork {
 public:
  explicit PassNetworkWriter(Random& random) : RandomNetwork(random) {
    values_.push_back(g_.input("x", {Element::f32, {1, 4, rows, rows}}));
  }

  Graph write() {
    for (long n = random_.between(3, 8); n > 0; --n) values_.push_back(node());
    for (ValueId id : values_) {
      if (id != values_.front() && random_.chance(10)) g_.output(id);
    }
    g_.output(random_.chance(60) ? head(values_.back()) : values_.back());
    if (random_.chance(5)) g_.output(values_.front());
    return initialised(g_.build(), 7);
  }

 private:
  static constexpr long rows = 4;
  ValueId constant(const Shape& shape, double least, double most) {
    std::vector<double> numbers;
    for (long i = 0; i < count_of(shape); ++i) {
      numbers.push_back(least + (most - least) * static_cast<double>(random_.between(0, 8)) / 8);
    }
    return g_.constant(Array::of_reals(Element::f32, shape, numbers));
  }

  ValueId convolution(ValueId x, long filters, long k) {
    long groups = random_.chance(20) && channels(x) % 2 == 0 ? 2 : 1;
    std::vector<ValueId> inputs{x, weight({filters, channels(x) / groups, 2 * k + 1, 2 * k + 1})};
    if (random_.chance(40)) inputs.push_back(weight({filters}));
    Attributes how;
    if (groups > 1) how["groups"] = groups;
    if (k > 0 && random_.chance(40)) {
      inputs[0] = g_.call("pad", {x}, {{"pads", Shape{0, 0, k, k, 0, 0, k, k}}});
    } else if (k > 0) {
      how["pads"] = Shape{k, k, k, k};
    }
    return g_.call("conv", inputs, how);
  }
  ValueId convolution(ValueId x) {
    return convolution(x, 2 * random_.between(1, 4), random_.between(0, 1));
  }
  ValueId scaled(ValueId x) {
    Shape shape = random_.chance(50) ? Shape{channels(x), 1, 1} : Shape{1, channels(x), 1, 1};
    ValueId factor = constant(shape, 0.5, 2);
    return random_.chance(50) ? g_.call("mul", {x, factor}) : g_.call("mul", {factor, x});
  }
  /// Convolutions of the same value, put together again.
  ValueId branches(ValueId x) {
    ValueId a = convolution(x, 2, 0), b = convolution(x, 4, 0);
    return g_.call("concat", {a, random_.chance(50) ? g_.call("relu", {b}) : b}, {{"axis", 1L}});
  }
  /// What changes nothing in the end.
  ValueId detour(ValueId x) {
    switch (random_.between(0, 4)) {
      case 0: {
        ValueId t = g_.call("transpose", {x}, {{"perm", Shape{0, 2, 3, 1}}});
        return g_.call("transpose", {t}, {{"perm", Shape{0, 3, 1, 2}}});
      }
      case 1: {
        ValueId r = g_.call("reshape", {x}, {{"shape", Shape{channels(x), rows * rows}}});
        return g_.call("reshape", {r}, {{"shape", g_.shape(x)}});
      }
      case 2:
        return g_.call("add", {x, constant({1}, 0, 0)});
      case 3:
        return g_.call("cast", {g_.call("cast", {x}, {{"to", std::string("f64")}})},
                       {{"to", std::string("f32")}});
      default:
        return g_.call("identity", {x});
    }
  }
  /// A function of each element that is dear, or made of such ones.
  ValueId activated(ValueId x) {
    static const std::vector<std::string> functions = {"tanh",  "erf",  "sigmoid",
                                                       "swish", "gelu", "gelu_tanh"};
    return g_.call(random_.pick(functions), {x});
  }
  ValueId indices(const Shape& shape, long extent) {
    std::vector<long> numbers;
    for (long i = 0; i < count_of(shape); ++i) numbers.push_back(random_.between(0, extent - 1));
    return g_.constant(Array::of_integers(Element::i64, shape, numbers));
  }
  /// Elements that known indices choose.
  ValueId chosen(ValueId x) {
    Shape shape = g_.shape(x);
    switch (random_.between(0, 3)) {
      case 0:
        return g_.call("gather", {x, indices({2 * random_.between(1, 3)}, channels(x))},
                       {{"axis", 1L}});
      case 1:
        return g_.call("gather_elements", {x, indices(shape, rows)}, {{"axis", 3L}});
      case 2:
        return g_.call("reverse_sequence", {x, indices({channels(x)}, rows + 1)},
                       {{"batch_axis", 1L}, {"time_axis", 2L}});
      default:
        return g_.call("scatter_elements", {x, indices(shape, rows), x}, {{"axis", 2L}});
    }
  }
  /// Bytes with a sign or without one, whose zero point is near the middle.
  struct Bytes {
    Element element;
    long middle;
  };
  Bytes bytes() { return random_.chance(50) ? Bytes{Element::i8, 0} : Bytes{Element::u8, 128}; }
  ValueId number(Element element, long value) {
    return g_.constant(Array::of_integers(element, {}, std::vector<long>{value}));
  }
  ValueId quantised(ValueId x, double scale) {
    Bytes type = bytes();
    ValueId zero = number(type.element, type.middle + random_.between(-3, 3));
    std::vector<ValueId> how{constant({}, scale, scale), zero};
    ValueId q =
        g_.call("quantize", {x, how[0], how[1]}, {{"to", std::string(name_of(type.element))}});
    return g_.call("dequantize", {q, how[0], how[1]});
  }
  /// Weights that are small integers, with a zero point or without one.
  ValueId quantised_weights(const Shape& shape) {
    Bytes type = bytes();
    std::vector<long> numbers;
    for (long i = 0; i < count_of(shape); ++i) {
      numbers.push_back(type.middle + random_.between(-2, 2));
    }
    ValueId w = g_.constant(Array::of_integers(type.element, shape, numbers));
    std::vector<ValueId> operands{w, constant({}, 0.25, 0.25)};
    if (type.middle != 0 || random_.chance(30)) {
      operands.push_back(number(type.element, type.middle + random_.between(-1, 1)));
    }
    return g_.call("dequantize", operands);
  }
  /// A layer between numbers that integers stand for. All are multiples of a power of 2 and few
  /// bits long, so nothing is rounded, and no pass can make another integer of one.
  ValueId quantised_layer() {
    ValueId x = quantised(values_.front(), 0.125);
    long groups = random_.chance(30) ? (random_.chance(50) ? 2 : channels(x)) : 1;
    long k = random_.between(0, 1), before = random_.between(0, 2 * k);
    Attributes how{{"groups", groups}, {"pads", Shape{before, k, 2 * k - before, k}}};
    ValueId y = g_.call(
        "conv", {x, quantised_weights({4, channels(x) / groups, 2 * k + 1, 2 * k + 1})}, how);
    if (random_.chance(50)) y = quantised(y, 0.25);
    if (random_.chance(50)) y = g_.call("relu", {y});
    if (random_.chance(30)) y = g_.call("concat", {y, y}, {{"axis", 1L}});
    if (random_.chance(30)) y = g_.call("add", {y, y});
    return random_.chance(50) ? quantised(y, 0.25) : y;
  }
  ValueId added(ValueId x) {
    if (ValueId sum = added_to_another(x); sum != no_value) return sum;
    return g_.call("add", {convolution(x, channels(x), 1), x});
  }
  ValueId head(ValueId x) {
    ValueId flat =
        g_.call("reshape", {g_.call("global_pool", {x})}, {{"shape", Shape{1, channels(x)}}});
    ValueId a, b;
    switch (random_.between(0, 2)) {
      case 0:
        a = g_.call("fully_connected", {flat, weight({5, channels(x)})});
        b = g_.call("fully_connected", {flat, weight({5, channels(x)})});
        break;
      case 1:
        a = g_.call("matmul", {flat, weight({channels(x), 5})});
        b = g_.call("matmul", {flat, weight({channels(x), 5})});
        break;
      default:
        a = g_.call("matmul", {flat, g_.call("transpose", {weight({5, channels(x)})},
                                             {{"perm", Shape{1, 0}}})});
        b = g_.call("relu", {a});
    }
    return g_.call("add", {a, b});
  }

  ValueId node() {
    ValueId x = pick();
    switch (random_.between(0, 12)) {
      case 10:
        return activated(x);
      case 11:
        return chosen(x);
      case 12:
        return quantised_layer();
      case 0:
        return normalised(convolution(x));
      case 1:
        return added(x);
      case 2:
        return g_.call("concat", {x, pick()}, {{"axis", 1L}});
      case 3:
        return branches(x);
      case 4:
        return scaled(random_.chance(60) ? convolution(x) : x);
      case 5:
        return convolution(scaled(x));
      case 6:
        return detour(x);
      case 7:
        return normalised(x);
      default:
        return g_.call("relu", {convolution(x)});
    }
  }
};

/// Returns the largest of all elements, whatever their sign.
double largest_of(const std::vector<double>& elements) {
  double largest = 1e-3;
  for (double x : elements) largest = std::max(largest, std::abs(x));
  return largest;
}

/// Returns what passes promise of one layer, twice, as the layers behind it can make it more.
/// Integers are exact here: see quantised_layer().
double tolerance_of(const std::vector<std::string>& passes) {
  double sum = 0;
  for (const std::string& name : passes) {
    bool of_integers = name == "FakeQuantizationToInteger" || name == "FoldQuantizationScale";
    if (!of_integers) sum += 2 * find_pass(name).tolerance;
  }
  return sum;
}

/// Expects outputs that differ by no more than the order of sums and "tolerance" explain. Sums may
/// cancel, so that is a part of the largest number that comes out or goes in.
void expect_near(const std::vector<Array>& got, const std::vector<Array>& wanted,
                 const std::vector<Array>& inputs, double tolerance) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].shape(), wanted[i].shape());
    std::vector<double> a = got[i].reals(), b = wanted[i].reals();
    double largest = largest_of(b);
    double bound = 1e-4 * largest + tolerance * std::max(largest, largest_of(inputs.at(0).reals()));
    for (size_t k = 0; k < b.size(); ++k) ASSERT_NEAR(a[k], b[k], bound) << "output " << i;
  }
}

TEST(PassSequences, ComputeTheSame) {
  std::vector<std::string> all;
  for (const Pass& pass : passes::all()) {
    if (pass.stage == Pass::Stage::graph && is_rewrite(pass)) all.push_back(pass.name);
  }
  for_each_case(2000, [&](Case& trial) {
    Graph graph = PassNetworkWriter(trial.random).write();
    std::vector<std::string> names;
    for (long n = trial.random.between(1, 10); n > 0; --n) names.push_back(trial.random.pick(all));
    trial.story = print(graph);
    Graph changed = after_passes(graph, names, {.workers = trial.random.between(1, 2)},
                                 [&](const Pass& pass, const Graph& result) {
                                   trial.story += "after " + pass.name + ":\n" + print(result);
                                   verify_types(result);
                                 });
    std::vector<Array> inputs = random_inputs(graph);
    std::vector<Array> wanted = interpreted(graph, inputs);
    expect_near(interpreted(changed, inputs), wanted, inputs, tolerance_of(names));
    if (testing::Test::HasFailure() || !trial.random.chance(5)) return;
    if (trial.random.chance(50)) names.push_back("AlterOpLayout");
    if (trial.random.chance(50)) names.push_back("ConcatInPlace");
    if (trial.random.chance(50)) names.push_back("StorePadding");
    ExecutorOptions how;
    how.target = native_target();
    how.passes = names;
    trial.story += "compiled\n";
    expect_near(Executor(graph, how).run(inputs), wanted, inputs, tolerance_of(names));
  });
}

}  // namespace
}  // namespace lathe::test
