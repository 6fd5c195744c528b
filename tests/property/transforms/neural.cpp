// Neural steps against what they are defined to compute: plain loops over arrays, which share
// nothing with nests. Weights keep their places: W[co, ci, kh, kw] of the dense convolution.
#include <gtest/gtest.h>

#include <functional>

#include "support/random_case.h"
#include "support/run_op.h"

namespace lathe::test {
namespace {

struct Shape {
  long n, co, ci, oh, ow, kh, kw, stride, dilation, pad, bias;

  std::string text() const {
    return fmt::format(
        "conv(n={}, co={}, ci={}, oh={}, ow={}, kh={}, kw={}, stride={}, dilation={}, pad={}, "
        "bias={})",
        n, co, ci, oh, ow, kh, kw, stride, dilation, pad, bias);
  }
};

/// Draws the sizes that no test asks for.
Shape random_shape(Random& random, long co, long ci, long oh, long ow) {
  auto upto = [&](long most) { return random.between(1, most); };
  Shape s{0, co, ci, oh, ow, upto(3), upto(3), upto(2), upto(2), 0, random.between(0, 1)};
  bool room = (oh - 1) * s.stride + (s.kh - 1) * s.dilation >= 2 &&
              (ow - 1) * s.stride + (s.kw - 1) * s.dilation >= 2;
  if (room && random.chance(50)) s.pad = 1;
  return s;
}

/// Which input channels does an output read?
using Reads = std::function<bool(long co, long ci, long oh, long ow)>;

/// One output of a convolution that sums over the channels that it "reads". All arrays have a
/// batch.
long sum_at(const Shape& s, const Array<long>& input, const Array<long>& weight, const Reads& reads,
            std::initializer_list<long> at) {
  long n = at.begin()[0], co = at.begin()[1], oh = at.begin()[2], ow = at.begin()[3], sum = 0;
  for (long ci = 0; ci < s.ci; ++ci) {
    if (!reads(co, ci, oh, ow)) continue;
    for (long kh = 0; kh < s.kh; ++kh) {
      for (long kw = 0; kw < s.kw; ++kw) {
        long row = oh * s.stride + kh * s.dilation - s.pad;
        long column = ow * s.stride + kw * s.dilation - s.pad;
        if (!input.has({n, ci, row, column})) continue;
        sum += weight({co, ci, kh, kw}) * input({n, ci, row, column});
      }
    }
  }
  return sum;
}

template <class Visit>
void for_each_output(const std::vector<long>& shape, Visit visit) {
  for (long n = 0; n < shape[0]; ++n) {
    for (long co = 0; co < shape[1]; ++co) {
      for (long oh = 0; oh < shape[2]; ++oh) {
        for (long ow = 0; ow < shape[3]; ++ow) visit(n, co, oh, ow);
      }
    }
  }
}

/// The whole convolution. With Bias::none the bias is left out.
enum class Bias { added, none };
Array<long> convolution(const OpRun<long>& run, const Shape& s, const Reads& reads,
                        Bias bias = Bias::added) {
  Array<long> input = run.tensor("I").raised_to(4), weight = run.tensor("W");
  Array<long> offset({s.co});
  if (s.bias == 1 && bias == Bias::added) offset = run.tensor("B");
  Array<long> output({std::max(s.n, 1L), s.co, s.oh, s.ow});
  for_each_output(output.shape, [&](long n, long co, long oh, long ow) {
    output({n, co, oh, ow}) = offset({co}) + sum_at(s, input, weight, reads, {n, co, oh, ow});
  });
  return output;
}

bool reads_all(long, long, long, long) { return true; }

/// Where an element of the result is found in the dense output.
using From = std::function<std::vector<long>(long co, long oh, long ow)>;

/// Picks elements of a dense output.
Array<long> picked(const Array<long>& dense, std::vector<long> shape, const From& from) {
  shape.insert(shape.begin(), dense.shape[0]);
  Array<long> result(shape);
  for_each_output(shape, [&](long n, long co, long oh, long ow) {
    std::vector<long> at = from(co, oh, ow);
    result({n, co, oh, ow}) = dense({n, at[0], at[1], at[2]});
  });
  return result;
}

/// Applies a recipe to a convolution and interprets it.
OpRun<long> run_recipe(Case& trial, const Shape& s, const std::string& recipe) {
  trial.story = s.text() + "\n" + recipe + "\n";
  OpRun<long> run(s.text(), recipe);
  trial.story += print(run.nest());
  run.run();
  return run;
}

TEST(Neural, GroupIsTheGroupedConvolution) {
  for_each_case(200, [](Case& trial) {
    Random& random = trial.random;
    long groups = random.between(2, 4), f = random.between(1, 3), c = random.between(1, 3);
    Shape s = random_shape(random, groups * f, groups * c, random.between(1, 3), 2);
    s.n = random.chance(30) ? 2 : 0;
    std::string first = s.n > 0 ? "reorder(co, ci, n) -> " : "";
    OpRun<long> run = run_recipe(trial, s, first + fmt::format("group({})", groups));
    auto same_group = [&](long co, long ci, long, long) { return co / f == ci / c; };
    EXPECT_EQ(run.tensor("O").raised_to(4), convolution(run, s, same_group));
  });
}

TEST(Neural, GroupOfPositionsCopiesTheSliceOfTheFirstLoop) {
  for_each_case(150, [](Case& trial) {
    Random& random = trial.random;
    long groups = random.between(2, 3), a = random.between(1, 2), b = random.between(1, 2);
    bool rows = random.chance(50);
    Shape s = rows ? random_shape(random, 2, 2, groups * a, groups * b)
                   : random_shape(random, groups * a, 2, groups * b, 2);
    std::string order = rows ? "reorder(oh, ow, co, ci)" : "reorder(co, oh, ci)";
    OpRun<long> run = run_recipe(trial, s, fmt::format("{} -> group({}, repeat)", order, groups));
    Array<long> dense = convolution(run, s, reads_all);
    EXPECT_EQ(run.tensor("O").raised_to(4),
              picked(dense, {s.co, s.oh, s.ow}, [&](long co, long oh, long ow) {
                if (rows) return std::vector<long>{co, oh, oh / a * b + ow % b};
                return std::vector<long>{co, co / a * b + oh % b, ow};
              }));
  });
}

TEST(Neural, OutputBottleneck) {
  for_each_case(200, [](Case& trial) {
    Random& random = trial.random;
    long factor = random.between(2, 3), left = random.between(1, 3);
    Shape s = random_shape(random, factor * left, random.between(1, 4), 2, random.between(1, 3));
    std::string completion = random.pick({"", ", propagate", ", repeat"});
    OpRun<long> run = run_recipe(trial, s, fmt::format("bottleneck({}{})", factor, completion));
    long channels = completion == ", repeat" ? s.co : left;
    Array<long> dense = convolution(run, s, reads_all);
    EXPECT_EQ(run.tensor("O").raised_to(4),
              picked(dense, {channels, s.oh, s.ow}, [&](long co, long oh, long ow) {
                return std::vector<long>{co % left, oh, ow};
              }));
  });
}

TEST(Neural, KeepLeavesTheFirstFilters) {
  for_each_case(200, [](Case& trial) {
    Random& random = trial.random;
    long filters = random.between(2, 9), left = random.between(1, filters - 1);
    Shape s = random_shape(random, filters, random.between(1, 4), 2, random.between(1, 3));
    std::string completion = random.pick({"", ", propagate", ", repeat"});
    OpRun<long> run = run_recipe(trial, s, fmt::format("keep({}{})", left, completion));
    long channels = completion == ", repeat" ? filters : left;
    Array<long> dense = convolution(run, s, reads_all);
    EXPECT_EQ(run.tensor("O").raised_to(4),
              picked(dense, {channels, s.oh, s.ow}, [&](long co, long oh, long ow) {
                return std::vector<long>{co % left, oh, ow};
              }));
  });
}

TEST(Neural, KeepLeavesTheFirstFiltersOfGroupedLayers) {
  for_each_case(150, [](Case& trial) {
    Random& random = trial.random;
    long groups = random.between(2, 3), f = random.between(1, 3), c = random.between(1, 3);
    long more = random.between(1, 2 * groups), left = groups * f;
    Shape s = random_shape(random, left + more, groups * c, random.between(1, 3), 2);
    OpRun<long> run =
        run_recipe(trial, s, fmt::format("keep({}, repeat) -> group({})", left, groups));
    auto same_group = [&](long co, long ci, long, long) { return co % left / f == ci / c; };
    Array<long> grouped = convolution(run, s, same_group);
    EXPECT_EQ(run.tensor("O").raised_to(4),
              picked(grouped, {s.co, s.oh, s.ow}, [&](long co, long oh, long ow) {
                return std::vector<long>{co % left, oh, ow};
              }));
  });
}

TEST(Neural, KeepReadsTheFirstChannels) {
  for_each_case(150, [](Case& trial) {
    Random& random = trial.random;
    long channels = random.between(2, 9), left = random.between(1, channels - 1);
    Shape s = random_shape(random, random.between(2, 4), channels, 2, random.between(1, 3));
    OpRun<long> run = run_recipe(trial, s, fmt::format("interchange(co, ci) -> keep({})", left));
    auto first = [&](long, long ci, long, long) { return ci < left; };
    EXPECT_EQ(run.tensor("O").raised_to(4), convolution(run, s, first));
  });
}

TEST(Neural, OutputBottleneckExpands) {
  for_each_case(150, [](Case& trial) {
    Random& random = trial.random;
    long factor = random.between(2, 3), left = random.between(1, 3);
    Shape s = random_shape(random, factor * left, random.between(1, 4), 2, random.between(1, 3));
    OpRun<long> run = run_recipe(trial, s, fmt::format("bottleneck({}, expand)", factor));
    Array<long> narrow = convolution(run, s, reads_all, Bias::none), wanted(narrow.shape);
    Array<long> expand = run.tensor("E");
    for_each_output(wanted.shape, [&](long n, long co, long oh, long ow) {
      long& sum = wanted({n, co, oh, ow});
      if (s.bias == 1) sum = run.tensor("B")({co});
      for (long cm = 0; cm < left; ++cm) sum += expand({co, cm}) * narrow({n, cm, oh, ow});
    });
    EXPECT_EQ(run.tensor("O").raised_to(4), wanted);
  });
}

TEST(Neural, GroupsThatAConvolutionMixes) {
  for_each_case(150, [](Case& trial) {
    Random& random = trial.random;
    long groups = random.between(2, 4), f = random.between(1, 3), c = random.between(1, 3);
    Shape s = random_shape(random, groups * f, groups * c, random.between(1, 3), 2);
    OpRun<long> run = run_recipe(trial, s, fmt::format("group({}, expand)", groups));
    auto same_group = [&](long co, long ci, long, long) { return co / f == ci / c; };
    Array<long> grouped = convolution(run, s, same_group, Bias::none), wanted(grouped.shape);
    Array<long> expand = run.tensor("E");
    for_each_output(wanted.shape, [&](long n, long co, long oh, long ow) {
      long& sum = wanted({n, co, oh, ow});
      if (s.bias == 1) sum = run.tensor("B")({co});
      for (long cm = 0; cm < s.co; ++cm) sum += expand({co, cm}) * grouped({n, cm, oh, ow});
    });
    EXPECT_EQ(run.tensor("O").raised_to(4), wanted);
  });
}

TEST(Neural, DeepenNormalisesAndRectifiesWhatIsLeft) {
  for_each_case(150, [](Case& trial) {
    Random& random = trial.random;
    long factor = random.between(2, 3), left = random.between(1, 3);
    Shape s = random_shape(random, factor * left, random.between(1, 4), 2, random.between(1, 3));
    std::string recipe = fmt::format("bottleneck({}, deepen)", factor);
    trial.story = s.text() + "\n" + recipe + "\n";
    OpRun<double> run(s.text(), recipe);
    for (double& variance : run.elements("variance")) variance = std::abs(variance);
    run.run();
    Array<double> narrow = run.tensor("O.narrow").raised_to(4), got = run.tensor("O").raised_to(4);
    auto of_channel = [&](const char* name, long c) { return run.tensor(name)({c}); };
    Array<double> wanted(got.shape);
    for_each_output(wanted.shape, [&](long n, long co, long oh, long ow) {
      double& sum = wanted({n, co, oh, ow});
      if (s.bias == 1) sum = of_channel("B", co);
      for (long c = 0; c < left; ++c) {
        double centred = narrow({n, c, oh, ow}) - of_channel("mean", c);
        double normal = centred / std::sqrt(of_channel("variance", c) + 1e-5);
        double active = normal * of_channel("scale", c) + of_channel("shift", c);
        sum += run.tensor("E")({co, c}) * std::max(active, 0.0);
      }
    });
    expect_near(got, wanted);
  });
}

/// One input channel that reduce made, at one place; 0 in the padding.
double reduced_at(const OpRun<double>& run, const Array<double>& input,
                  std::initializer_list<long> at) {
  long n = at.begin()[0], cm = at.begin()[1], row = at.begin()[2], column = at.begin()[3];
  if (!input.has({n, 0, row, column})) return 0;
  double sum = 0;
  for (long ci = 0; ci < input.shape[1]; ++ci) {
    sum += run.tensor("D")({cm, ci}) * input({n, ci, row, column});
  }
  auto of_channel = [&](const char* name) { return run.tensor(name)({cm}); };
  double normal = (sum - of_channel("mean")) / std::sqrt(of_channel("variance") + 1e-5);
  return std::max(normal * of_channel("scale") + of_channel("shift"), 0.0);
}

TEST(Neural, ReduceMakesTheChannelsThatAreReadOfAll) {
  for_each_case(150, [](Case& trial) {
    Random& random = trial.random;
    long factor = random.between(2, 3), left = random.between(1, 3), groups = 1;
    Shape s = random_shape(random, random.between(2, 4), factor * left, 2, random.between(1, 3));
    s.n = random.chance(30) ? 2 : 0;
    std::string order = s.n > 0 ? "reorder(ci, co, n)" : "interchange(co, ci)";
    std::string recipe = fmt::format("{} -> bottleneck({}, reduce)", order, factor);
    if (left == 2 && s.co % 2 == 0) {  // what follows acts on the layer, not on the 1x1 before it
      groups = 2;
      recipe += " -> group(2)";
    }
    trial.story = s.text() + "\n" + recipe + "\n";
    OpRun<double> run(s.text(), recipe);
    trial.story += print(run.nest());
    for (double& variance : run.elements("variance")) variance = std::abs(variance);
    run.run();
    Array<double> input = run.tensor("I").raised_to(4), got = run.tensor("O").raised_to(4);
    Array<double> wanted(got.shape);
    for_each_output(wanted.shape, [&](long n, long co, long oh, long ow) {
      double& sum = wanted({n, co, oh, ow});
      if (s.bias == 1) sum = run.tensor("B")({co});
      for (long ci = 0; ci < left; ++ci) {
        if (co / (s.co / groups) != ci / (left / groups)) continue;
        for (long kh = 0; kh < s.kh; ++kh) {
          for (long kw = 0; kw < s.kw; ++kw) {
            long row = oh * s.stride + kh * s.dilation - s.pad;
            long column = ow * s.stride + kw * s.dilation - s.pad;
            sum += run.tensor("W")({co, ci, kh, kw}) * reduced_at(run, input, {n, ci, row, column});
          }
        }
      }
    });
    expect_near(got, wanted);
  });
}

TEST(Neural, InputBottleneckReadsTheFirstChannels) {
  for_each_case(150, [](Case& trial) {
    Random& random = trial.random;
    long factor = random.between(2, 3), left = random.between(1, 3);
    Shape s = random_shape(random, random.between(2, 4), factor * left, 2, random.between(1, 3));
    OpRun<long> run =
        run_recipe(trial, s, fmt::format("interchange(co, ci) -> bottleneck({})", factor));
    auto first = [&](long, long ci, long, long) { return ci < left; };
    EXPECT_EQ(run.tensor("O").raised_to(4), convolution(run, s, first));
  });
}

TEST(Neural, SpatialBottleneck) {
  for_each_case(200, [](Case& trial) {
    Random& random = trial.random;
    long factor = random.between(2, 3), left = random.between(1, 3), other = random.between(1, 3);
    bool rows = random.chance(50), repeat = random.chance(50);
    Shape s = random_shape(random, 2, random.between(1, 3), rows ? factor * left : other,
                           rows ? other : factor * left);
    OpRun<long> run = run_recipe(trial, s,
                                 fmt::format("interchange(co, {}) -> bottleneck({}{})",
                                             rows ? "oh" : "ow", factor, repeat ? ", repeat" : ""));
    auto computed = [&](long at) { return repeat ? at - at % factor : at * factor; };
    long extent = repeat ? factor * left : left;
    Array<long> dense = convolution(run, s, reads_all);
    EXPECT_EQ(run.tensor("O").raised_to(4),
              picked(dense, {s.co, rows ? extent : s.oh, rows ? s.ow : extent},
                     [&](long co, long oh, long ow) {
                       if (rows) return std::vector<long>{co, computed(oh), ow};
                       return std::vector<long>{co, oh, computed(ow)};
                     }));
  });
}

TEST(Neural, SequenceOneReadsOneSliceOfChannelsInEachStripe) {
  for_each_case(150, [](Case& trial) {
    Random& random = trial.random;
    long groups = random.between(2, 3), rows = random.between(2, 3), c = random.between(2, 3);
    Shape s = random_shape(random, random.between(2, 3), groups * c, groups * rows, 2);
    OpRun<long> run =
        run_recipe(trial, s,
                   fmt::format("split(oh, {}) -> interchange(co, oh.o) -> group({}) -> "
                               "interchange(ci, oh.i) -> fuse(g, oh.i, oh)",
                               rows, groups));
    auto stripe = [&](long, long ci, long oh, long) { return oh / rows == ci / c; };
    EXPECT_EQ(run.tensor("O").raised_to(4), convolution(run, s, stripe));
  });
}

TEST(Neural, SequenceTwoGroupsAllButTheFirstFilters) {
  for_each_case(150, [](Case& trial) {
    Random& random = trial.random;
    long groups = random.between(2, 3), f = random.between(2, 3), c = random.between(2, 3);
    long dense = random.between(1, 3);
    Shape s = random_shape(random, dense + groups * f, groups * c, random.between(1, 2), 2);
    OpRun<long> run = run_recipe(
        trial, s,
        fmt::format("unroll(co, {}) -> group({}) -> interchange(co.1, ci)", dense, groups));
    auto reads = [&](long co, long ci, long, long) {
      return co < dense || (co - dense) / f == ci / c;
    };
    EXPECT_EQ(run.tensor("O").raised_to(4), convolution(run, s, reads));
  });
}

TEST(Neural, SequenceThreeGroupsTheHalvesDifferently) {
  for_each_case(150, [](Case& trial) {
    Random& random = trial.random;
    long a = random.between(2, 3), b = random.between(2, 3), both = a * b;
    Shape s = random_shape(random, 4 * both, both, random.between(1, 2), 1);
    std::string swap = s.bias == 1 ? "conv.0:co.0, conv.1:co.1" : "co.0, co.1";
    OpRun<long> run =
        run_recipe(trial, s,
                   fmt::format("split_range(co, 1/2) -> group({}) -> interchange({}) -> group({})",
                               a, swap, b));
    auto reads = [&](long co, long ci, long, long) {
      long half = s.co / 2, groups = co < half ? a : b;
      return co % half / (half / groups) == ci / (s.ci / groups);
    };
    EXPECT_EQ(run.tensor("O").raised_to(4), convolution(run, s, reads));
  });
}

}  // namespace
}  // namespace lathe::test
