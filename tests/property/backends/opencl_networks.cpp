// Built-in networks compute on an OpenCL device, or on another one (support/device_cases.h), what
// they do on the CPU.
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

/// What an output may be off by, as a part of its largest element.
constexpr double close = 1e-4;

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
    EXPECT_LE(worst, close * largest) << name << ", output " << i;
  }
}

/// Rounds weights to numbers of few digits: files of them can be made small.
Graph with_few_digits(Graph graph) {
  for (Value& value : graph.values) {
    if (!value.data || !is_float(value.data->element())) continue;
    std::vector<double> reals = value.data->reals();
    for (double& x : reals) {
      int exponent = 0;
      double part = std::frexp(x, &exponent);
      x = std::ldexp(std::round(8 * part) / 8, exponent);
    }
    value.data = Array::of_reals(value.data->element(), value.data->shape(), reals);
  }
  return graph;
}

std::vector<std::byte> bytes_of(const Array& array) {
  return {array.bytes().begin(), array.bytes().end()};
}

/// Returns an output of a network, which must be nearly this.
DeviceTensor output_tensor(const Array& wanted) {
  DeviceTensor tensor{"output", wanted.element(), std::vector<std::byte>(wanted.bytes().size())};
  tensor.expected.reals = wanted.reals();
  double largest = 0;
  for (double x : tensor.expected.reals) largest = std::max(largest, std::abs(x));
  tensor.expected.allowed.assign(tensor.expected.reals.size(), close * largest);
  for (size_t k = 0; k < tensor.expected.reals.size(); ++k) tensor.offsets.push_back(k);
  return tensor;
}

/// Returns which tensor of write_network() a place lies in.
size_t tensor_of(const lathe_place& place, size_t inputs) {
  auto index = static_cast<size_t>(place.index);
  switch (place.where) {
    case LATHE_ARENA:
      return 0;
    case LATHE_PREPARED:
      return 1;
    case LATHE_WEIGHTS:
      return 2;
    default:
      return 3 + index + (place.where == LATHE_OUTPUT ? inputs : 0);
  }
}

/// Writes a network as one case.
void write_network(const std::string& name, const Compiled& compiled,
                   const std::vector<Array>& inputs, const std::vector<Array>& wanted) {
  auto zeros = [](long bytes) { return std::vector<std::byte>(static_cast<size_t>(bytes)); };
  DeviceCase network{name + "\n", {}, {}};
  network.tensors = {{"arena", Element::f32, zeros(compiled.arena_bytes), true},
                     {"prepared", Element::f32, zeros(compiled.prepared_bytes), true},
                     {"weights", Element::f32, compiled.weights}};
  for (const Array& input : inputs) {
    network.tensors.push_back({"input", input.element(), bytes_of(input)});
  }
  for (const Array& output : wanted) network.tensors.push_back(output_tensor(output));
  for (const CompiledStep& step : compiled.steps) {
    DeviceLaunch launch{step.symbol, step.grid, {}};
    for (const lathe_place& place : step.places) {
      launch.places.emplace_back(tensor_of(place, inputs.size()), place.offset);
    }
    network.launches.push_back(std::move(launch));
  }
  write_cases(compiled.target, compiled.objects, {network});
}

void expect_as_on_the_cpu(const Target& target) {
  bool all = environment("LATHE_NETWORKS", 0) != 0;
  for (const auto& [name, options] : networks) {
    if (!all && name != networks.front().first) break;
    Graph graph = initialised(load_model(name, options), 1);
    if (cases_target()) graph = with_few_digits(graph);
    std::vector<Array> inputs = random_inputs(graph, 1);
    CompileOptions here;
    here.target = native_target();
    CompileOptions there;
    there.target = target;
    std::vector<Array> wanted = Runner(compile(graph, here), 1).run(inputs);
    Compiled compiled = compile(graph, there);
    if (cases_target()) {
      write_network(name, compiled, inputs, wanted);
    } else {
      expect_close(Runner(compiled, 1).run(inputs), wanted, name);
    }
  }
}

TEST(OpenClNetworks, ComputeWhatTheCpuDoes) {
  LATHE_NEEDS_DEVICE(target);
  expect_as_on_the_cpu(*target);
}

TEST(OpenClNetworks, OfCpusComputeWhatTheCpuDoes) {
  LATHE_NEEDS_CPU(target);
  expect_as_on_the_cpu(*target);
}

}  // namespace
}  // namespace lathe::test
