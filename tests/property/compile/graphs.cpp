// Random small networks with whatever storage could get wrong: values with several users,
// concatenations of concatenations, borders of several widths, outputs in the middle. Compiled,
// they compute what the interpreter does, again and again.
#include <gtest/gtest.h>

#include "compile/executor.h"
#include "support/interpreted.h"
#include "support/random_case.h"
#include "support/run_graph.h"

namespace lathe::test {
namespace {

class GraphWriter {
 public:
  explicit GraphWriter(Random& random) : random_(random) {
    long channels = random_.pick(std::vector<long>{3, 4, 8, 16});
    rows_ = random_.between(3, 7);
    values_.push_back({"x", channels, rows_});
    given_ = fmt::format("input x: {}\n", type(channels, rows_));
  }

  std::string write() {
    for (long n = random_.between(2, 9); n > 0; --n) add_node();
    std::string outputs = fmt::format("output {}\n", values_.back().name);
    for (size_t i = 1; i + 1 < values_.size(); ++i) {
      if (random_.chance(10)) outputs += fmt::format("output {}\n", values_[i].name);
    }
    return "graph random\n" + given_ + nodes_ + outputs;
  }

 private:
  struct Image {
    std::string name;
    long channels, rows;
  };
  Random& random_;
  long rows_;
  std::vector<Image> values_;
  std::string given_, nodes_;

  static std::string type(long channels, long rows) {
    return fmt::format("f32[1x{}x{}x{}]", channels, rows, rows);
  }

  Image pick() { return random_.chance(50) ? values_.back() : random_.pick(values_); }

  std::string weight(const std::string& shape) {
    std::string name = fmt::format("w{}", std::count(given_.begin(), given_.end(), '\n'));
    given_ += fmt::format("weight {}: f32[{}] = normal(0.2)\n", name, shape);
    return name;
  }

  void add(const std::string& call, long channels, long rows) {
    std::string name = fmt::format("v{}", values_.size());
    nodes_ += fmt::format("{} = {}: {}\n", name, call, type(channels, rows));
    values_.push_back({name, channels, rows});
  }

  void add_convolution(const Image& x) {
    long out = random_.pick(std::vector<long>{3, 4, 8, 10, 16, 32}), k = random_.between(0, 2);
    std::string pads = fmt::format("pads=[{0}, {0}, {0}, {0}]", k);
    std::string bias;
    bool each = random_.chance(30);  // channel by channel
    if (each) out = x.channels;
    std::string w =
        weight(fmt::format("{}x{}x{}x{}", out, each ? 1 : x.channels, 2 * k + 1, 2 * k + 1));
    if (random_.chance(50)) bias = ", " + weight(fmt::format("{}", out));
    std::string groups = each && x.channels > 1 ? fmt::format("groups={}, ", x.channels) : "";
    add(fmt::format("conv({}, {}{}, {}{})", x.name, w, bias, groups, pads), out, x.rows);
  }

  void add_node() {
    Image x = pick();
    switch (random_.between(0, 8)) {
      case 0:
        return add(random_.pick({"relu", "neg", "sigmoid"}) + "(" + x.name + ")", x.channels,
                   x.rows);
      case 1: {
        Image y = x;
        for (const Image& v : values_) {
          if (v.channels == x.channels && random_.chance(60)) y = v;
        }
        return add(fmt::format("add({}, {})", x.name, y.name), x.channels, x.rows);
      }
      case 2:
      case 3: {
        std::string parts = x.name;
        long channels = x.channels;
        for (long n = random_.between(1, 2); n > 0; --n) {
          Image y = pick();
          parts += ", " + y.name;
          channels += y.channels;
        }
        if (channels > 64) return add_convolution(x);
        return add(fmt::format("concat({}, axis=1)", parts), channels, x.rows);
      }
      case 4:
        return add(fmt::format("{}({}, kernel=[3, 3], pads=[1, 1, 1, 1])",
                               random_.pick({"max_pool", "avg_pool"}), x.name),
                   x.channels, x.rows);
      default:
        return add_convolution(x);
    }
  }
};

TEST(CompiledGraphs, ComputeWhatTheInterpreterDoes) {
  for_each_case(150, [](Case& trial) {
    trial.story = GraphWriter(trial.random).write();
    Graph graph = initialised(parse_graph(trial.story), 1);
    verify_types(graph);
    std::vector<lathe::Array> inputs = random_inputs(graph), wanted = interpreted(graph, inputs);
    Executor executor(graph, {.target = native_target(),
                              .threads = static_cast<int>(trial.random.between(1, 3))});
    for (int run = 0; run < 3; ++run) {
      std::vector<lathe::Array> got = executor.run(inputs);
      ASSERT_EQ(got.size(), wanted.size());
      for (size_t i = 0; i < got.size(); ++i) {
        double largest = 1;
        for (double x : wanted[i].reals()) largest = std::max(largest, std::abs(x));
        std::vector<double> a = got[i].reals(), b = wanted[i].reals();
        ASSERT_EQ(a.size(), b.size());
        for (size_t k = 0; k < a.size(); ++k) {
          ASSERT_NEAR(a[k], b[k], 1e-4 * largest)
              << "run " << run << ", output " << i << ", element " << k;
        }
      }
    }
  });
}

}  // namespace
}  // namespace lathe::test
