// What the templates for GPUs make of operators computes on an OpenCL device, or on another one
// (support/device_cases.h), what the interpreter does: examples of all operators, and layers of the
// shapes that the templates are for.
#include <gtest/gtest.h>

#include "legality/legality.h"
#include "nest/starts.h"
#include "nest/text.h"
#include "ops/op.h"
#include "support/on_device.h"

namespace lathe::test {
namespace {

/// Layers that tiles is for: sizes that divide and sizes that do not, groups, samples, strides.
const std::vector<std::string> layers = {
    "matmul(i=64, j=64, k=64)",
    "matmul(i=7, j=10, k=33)",
    "matmul(n=3, i=16, j=32, k=8)",
    "conv(co=32, ci=16, oh=8, ow=8, k=3, pad=1)",
    "conv(n=2, co=16, ci=8, oh=7, ow=7, k=3, stride=2, pad=1)",
    "conv(co=64, ci=32, oh=7, ow=7, k=1)",
    "conv(co=16, ci=16, oh=8, ow=8, k=3, pad=1, groups=4)",
    "conv(co=10, ci=5, oh=13, ow=11, k=3, bias=1)",
    "depthwise(c=32, oh=14, ow=14, k=3, pad=1)",
    "max_pool(c=8, oh=7, ow=7, k=3, stride=2)",
};

std::vector<std::string> operator_examples() {
  std::vector<std::string> result = layers;
  Context ctx;
  for (const Op& op : operators()) {
    for (const std::string& example : op.examples) {
      try {
        interpreted(parse_op(ctx, example));
        result.push_back(example);
      } catch (const UserError&) {
        continue;  // it runs without a nest, or is not for reals
      }
    }
  }
  return result;
}

std::vector<Layout> plain_layouts(const Nest& nest) {
  std::vector<Layout> layouts;
  for (const Tensor& tensor : nest.tensors()) {
    layouts.push_back(tensor.role == Role::local ? Layout{} : row_major_layout(tensor.shape));
  }
  return layouts;
}

CompiledCase case_of_operator(const std::string& text, isl::ctx ctx, const Target& target) {
  Nest nest = parse_op(ctx, text);
  NodeCode code = lower_node(nest, plain_layouts(nest), target);
  EXPECT_NO_THROW(replay(with_starts(nest), parse_recipe(code.recipe))) << code.recipe;
  return {code.tensors, code.layouts,      code.repackings,
          code.kernels, interpreted(nest), text + "\n" + code.schedule + ": " + code.recipe + "\n"};
}

TEST(OpenClOperators, ComputeWhatTheInterpreterDoes) {
  LATHE_NEEDS_DEVICE(target);
  Context ctx;
  std::vector<CompiledCase> cases;
  std::map<std::string, long> schedules;
  for (const std::string& text : operator_examples()) {
    cases.push_back(case_of_operator(text, ctx, *target));
    ++schedules[cases.back().story.substr(text.size() + 1, 5)];
  }
  for (const auto& [name, count] : schedules) std::cout << name << " " << count << "\n";
  run_all_on_device(cases, *target);
}

/// A CPU behind OpenCL gets the templates for CPUs: vectors, and blocks of one thread.
TEST(OpenClOperators, OfCpusComputeWhatTheInterpreterDoes) {
  LATHE_NEEDS_CPU(target);
  Context ctx;
  std::vector<CompiledCase> cases;
  long contractions = 0, shared = 0;
  for (const std::string& text : operator_examples()) {
    cases.push_back(case_of_operator(text, ctx, *target));
    contractions += cases.back().story.find("\ncontraction") != std::string::npos ? 1 : 0;
    for (const Code& code : cases.back().kernels) {
      EXPECT_EQ(code.threads(), 1) << cases.back().story;
      shared += code.blocks() > 1 ? 1 : 0;
    }
  }
  EXPECT_GE(contractions, 8);
  EXPECT_GE(shared, 8);
  run_all_on_device(cases, *target);
}

/// On a machine with many multiprocessors slices of the threads of a block share sums.
TEST(OpenClOperators, SlicesOfSumsComputeWhatTheInterpreterDoes) {
  LATHE_NEEDS_DEVICE(machine);
  Target many = *machine;
  many.gpu.multiprocessors = 64;
  Context ctx;
  std::vector<CompiledCase> cases;
  long sliced = 0;
  for (const std::string& text : layers) {
    cases.push_back(case_of_operator(text, ctx, many));
    sliced += cases.back().story.find("rfactor") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(sliced, 4);
  run_all_on_device(cases, *machine);
}

TEST(OpenClOperators, TilesTakesProducts) {
  Context ctx;
  Target target = target_named("opencl");
  for (const char* text : {"matmul(i=64, j=64, k=64)", "conv(co=64, ci=32, oh=16, ow=16, k=3)"}) {
    Nest nest = parse_op(ctx, text);
    NodeCode code = lower_node(nest, plain_layouts(nest), target);
    EXPECT_EQ(code.schedule, "tiles") << text;
    EXPECT_EQ(code.kernels.size(), 1U) << text;
    EXPECT_GT(code.kernels.back().shared_bytes, 0) << text;
    EXPECT_NE(print(code.kernels.back()).find("barrier"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace lathe::test
