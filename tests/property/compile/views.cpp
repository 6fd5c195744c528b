// Random small networks that choose elements: slices, shuffles, repetitions and any list, before
// convolutions dense and in groups, sums and concatenations. Compiled, they compute what the
// interpreter does: whatever is read through, nothing else is read.
#include <gtest/gtest.h>

#include <numeric>

#include "compile/executor.h"
#include "support/interpreted.h"
#include "support/random_case.h"
#include "support/run_graph.h"

namespace lathe::test {
namespace {

class ViewWriter {
 public:
  explicit ViewWriter(Random& random) : random_(random) {
    std::vector<long> shape{1, random_.pick(std::vector<long>{4, 8, 12, 16, 32, 64}),
                            random_.between(2, 12), random_.between(2, 12)};
    values_.push_back({"x", shape});
    given_ = fmt::format("input x: {}\n", type(shape));
    if (random_.chance(80)) add_convolution(values_.front());
  }

  std::string write() {
    for (long n = random_.between(2, 7); n > 0; --n) add_node();
    return "graph random\n" + given_ + nodes_ + fmt::format("output {}\n", values_.back().name);
  }

 private:
  struct Image {
    std::string name;
    std::vector<long> shape;
  };
  Random& random_;
  std::vector<Image> values_;
  std::string given_, nodes_;

  static std::string type(const std::vector<long>& shape) {
    return fmt::format("f32[{}]", fmt::join(shape, "x"));
  }

  Image pick() { return random_.chance(70) ? values_.back() : random_.pick(values_); }

  void add(const std::string& call, const std::vector<long>& shape) {
    std::string name = fmt::format("v{}", values_.size());
    nodes_ += fmt::format("{} = {}: {}\n", name, call, type(shape));
    values_.push_back({name, shape});
  }

  std::string weight(const std::string& shape) {
    std::string name = fmt::format("w{}", std::count(given_.begin(), given_.end(), '\n'));
    given_ += fmt::format("weight {}: f32[{}] = normal(0.2)\n", name, shape);
    return name;
  }

  void add_convolution(const Image& x) {
    std::vector<long> groups;
    for (long g : {1, 2, 4, 8, 16}) {
      if (x.shape[1] % g == 0) groups.push_back(g);
    }
    long g = random_.pick(groups), k = random_.between(0, 1), s = random_.chance(15) ? 2 : 1;
    long out = g * random_.pick(std::vector<long>{1, 2, 4, 8});
    std::vector<long> shape{1, out, (x.shape[2] - 1) / s + 1, (x.shape[3] - 1) / s + 1};
    std::string w = weight(fmt::format("{0}x{1}x{2}x{2}", out, x.shape[1] / g, 2 * k + 1));
    std::string bias = random_.chance(50) ? ", " + weight(fmt::format("{}", out)) : "";
    add(fmt::format("conv({0}, {1}{2}, groups={3}, pads=[{4}, {4}, {4}, {4}], strides=[{5}, {5}])",
                    x.name, w, bias, g, k, s),
        shape);
  }

  void add_slice(const Image& x) {
    std::vector<long> starts{0, 0, 0, 0}, sizes = x.shape;
    auto d = static_cast<size_t>(random_.between(1, 3));
    starts[d] = random_.between(0, x.shape[d] - 1);
    sizes[d] = random_.between(1, x.shape[d] - starts[d]);
    if (random_.chance(40) && d == 1 && x.shape[1] % 4 == 0) {
      starts[1] = random_.chance(50) ? x.shape[1] / 2 : 0;
      sizes[1] = x.shape[1] / (random_.chance(50) ? 2 : 4);
    }
    add(fmt::format("slice({}, starts=[{}], sizes=[{}])", x.name, fmt::join(starts, ", "),
                    fmt::join(sizes, ", ")),
        sizes);
  }

  std::vector<long> list_for(long extent) {
    std::vector<long> list(static_cast<size_t>(extent));
    std::iota(list.begin(), list.end(), 0L);
    long parts = random_.pick(std::vector<long>{2, 4});
    switch (random_.between(0, 4)) {
      case 0:
      case 1: {  // every so many, part by part
        if (extent % parts != 0) return list;
        long each = extent / parts;
        for (long i = 0; i < extent; ++i)
          list[static_cast<size_t>(i)] = i % each * parts + i / each;
        return list;
      }
      case 2:  // all again
        if (extent > 32) return list;
        for (long i = 0; i < extent; ++i) list.push_back(i);
        return list;
      case 3:  // each twice
        if (extent > 32) return list;
        list.resize(static_cast<size_t>(2 * extent));
        for (size_t i = 0; i < list.size(); ++i) list[i] = static_cast<long>(i / 2);
        return list;
      default:
        for (long& index : list) index = random_.between(0, extent - 1);
        return list;
    }
  }

  void add_take(const Image& x) {
    auto d = static_cast<size_t>(random_.chance(60) ? 1 : random_.between(2, 3));
    std::vector<long> list = list_for(x.shape[d]), shape = x.shape;
    shape[d] = static_cast<long>(list.size());
    add(fmt::format("take({}, axis={}, indices=[{}])", x.name, d, fmt::join(list, ", ")), shape);
  }

  void add_of_two(const Image& x) {
    Image y = x;
    for (const Image& v : values_) {
      if (v.shape == x.shape && random_.chance(60)) y = v;
    }
    auto d = static_cast<size_t>(random_.between(1, 2));
    if (random_.chance(60) || x.shape[d] > 32) {
      return add(fmt::format("add({}, {})", x.name, y.name), x.shape);
    }
    std::vector<long> shape = x.shape;
    shape[d] += y.shape[d];
    add(fmt::format("concat({}, {}, axis={})", x.name, y.name, d), shape);
  }

  void add_node() {
    Image x = pick();
    switch (random_.between(0, 9)) {
      case 0:
        return add("relu(" + x.name + ")", x.shape);
      case 1:
        return add_of_two(x);
      case 2:
      case 3:
        return add_slice(x);
      case 4:
      case 5:
      case 6:
        return add_take(x);
      default:
        return add_convolution(x);
    }
  }
};

TEST(CompiledViews, ComputeWhatTheInterpreterDoes) {
  for_each_case(150, [](Case& trial) {
    trial.story = ViewWriter(trial.random).write();
    Graph graph = initialised(parse_graph(trial.story), 1);
    verify_types(graph);
    std::vector<lathe::Array> inputs = random_inputs(graph), wanted = interpreted(graph, inputs);
    Executor executor(graph, {.target = native_target(),
                              .threads = static_cast<int>(trial.random.between(1, 3))});
    for (int run = 0; run < 2; ++run) {
      std::vector<lathe::Array> got = executor.run(inputs);
      ASSERT_EQ(got.size(), wanted.size());
      double largest = 1;
      for (double x : wanted[0].reals()) largest = std::max(largest, std::abs(x));
      std::vector<double> a = got[0].reals(), b = wanted[0].reals();
      ASSERT_EQ(a.size(), b.size());
      for (size_t k = 0; k < a.size(); ++k) {
        ASSERT_NEAR(a[k], b[k], 1e-4 * largest) << "run " << run << ", element " << k;
      }
    }
  });
}

}  // namespace
}  // namespace lathe::test
