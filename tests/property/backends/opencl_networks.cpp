// Built-in networks compute on an OpenCL device what they do on the CPU.
#include <gtest/gtest.h>

#include <cmath>

#include "compile/compile.h"
#include "models/model.h"
#include "ops/op.h"
#include "program/random_inputs.h"
#include "support/on_device.h"

namespace lathe::test {
namespace {

/// A small network with residual sums, strides, pooling and a product of matrices. Drivers take
/// about a second for each kernel of a layer, so that one must do; LATHE_NETWORKS=1 runs others.
const std::vector<std::pair<std::string, ModelOptions>> networks = {
    {"resnet20-cifar", {.size = 8}},
    {"mobilenet_v2-cifar", {.size = 8}},
    {"bert_tiny", {.size = 8}},
    {"nasbench201:6111", {.size = 8}},
};

void expect_close(const std::vector<Array>& is, const std::vector<Array>& must,
                  const std::string& name) {
  ASSERT_EQ(is.size(), must.size());
  for (size_t i = 0; i < is.size(); ++i) {
    std::vector<double> a = is[i].reals(), b = must[i].reals();
    ASSERT_EQ(a.size(), b.size());
    double largest = 0, worst = 0;
    for (size_t k = 0; k < a.size(); ++k) {
      largest = std::max(largest, std::abs(b[k]));
      worst = std::max(worst, std::abs(a[k] - b[k]));
    }
    EXPECT_LE(worst, 1e-4 * largest) << name << ", output " << i;
  }
}

TEST(OpenClNetworks, ComputeWhatTheCpuDoes) {
  LATHE_NEEDS_OPENCL(target);
  bool all = environment("LATHE_NETWORKS", 0) != 0;
  for (const auto& [name, options] : networks) {
    if (!all && name != networks.front().first) break;
    Graph graph = initialised(load_model(name, options), 1);
    std::vector<Array> inputs = random_inputs(graph, 1);
    CompileOptions here;
    here.target = native_target();
    CompileOptions there;
    there.target = *target;
    std::vector<Array> wanted = Runner(compile(graph, here), 1).run(inputs);
    expect_close(Runner(compile(graph, there), 1).run(inputs), wanted, name);
  }
}

}  // namespace
}  // namespace lathe::test
