// Whole networks: compiled, with one worker and several, they compute what the interpreter computes
// from the graph as it was given; and the same bits every time.
#include <gtest/gtest.h>

#include "compile/executor.h"
#include "models/model.h"
#include "support/interpreted.h"
#include "support/run_graph.h"

namespace lathe::test {
namespace {

class Networks : public testing::TestWithParam<const char*> {};

void expect_near_outputs(const std::vector<lathe::Array>& got,
                         const std::vector<lathe::Array>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].shape(), wanted[i].shape());
    ASSERT_EQ(got[i].element(), wanted[i].element());
    std::vector<double> a = got[i].reals(), b = wanted[i].reals();
    double largest = 0;
    for (double x : b) largest = std::max(largest, std::abs(x));
    ASSERT_TRUE(std::isfinite(largest));
    ASSERT_GT(largest, 0);
    for (size_t k = 0; k < b.size(); ++k) {
      ASSERT_NEAR(a[k], b[k], 1e-4 * largest) << "output " << i << ", element " << k;
    }
  }
}

TEST_P(Networks, AreTheInterpreters) {
  Graph graph = initialised(load_model(GetParam()), 1);
  std::vector<lathe::Array> inputs = random_inputs(graph), wanted = interpreted(graph, inputs);
  for (int threads : {1, 2, 3}) {
    SCOPED_TRACE(threads);
    Executor executor(graph, {.target = native_target(), .threads = threads});
    std::vector<lathe::Array> first = executor.run(inputs);
    expect_near_outputs(first, wanted);
    for (int again = 0; again < 3; ++again) {
      std::vector<lathe::Array> next = executor.run(inputs);
      expect_near_outputs(next, wanted);
      EXPECT_TRUE(next == first) << "run " << again << " differs from the first";
    }
  }
}

// Left out, as the interpreter takes too long: networks for images of 224 pixels, and the deeper
// members of these families.
INSTANTIATE_TEST_SUITE_P(BuiltIn, Networks,
                         testing::Values("resnet18-cifar", "densenet121-cifar",
                                         "mobilenet_v2-cifar", "resnext29_2x64d", "vgg16-cifar",
                                         "wrn40_2", "nasbench201:6111", "bert_tiny"),
                         [](const auto& network) {
                           std::string name = network.param;
                           for (char& c : name) {
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace lathe::test
