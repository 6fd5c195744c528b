// Layers of random sizes for the matrix units of a GPU: what a warp of 32 threads computes is what
// the interpreter does, within the errors that the steps state. Threads are simulated, and so are
// the products of matrices, unless cases are written for a device (support/device_cases.h);
// NVIDIA's assembler takes the kernels where it is installed.
#include <gtest/gtest.h>

#include <map>

#include "compile/node.h"
#include "nest/marks.h"
#include "ops/op.h"
#include "support/layouts.h"
#include "support/normal_data.h"
#include "support/on_device.h"
#include "support/ptxas.h"
#include "support/simulated_gpu.h"

namespace lathe::test {
namespace {

/// Writes a layer: channels suit matrices, positions often do not fill them.
std::string draw_layer_for_matrices(Random& random) {
  long side = random.between(4, 9), kernel = random.pick(std::vector<long>{1, 3});
  long ci = 16 * random.between(1, 3), co = 8 * random.between(1, 5), pad = kernel / 2;
  switch (random.between(0, 3)) {
    case 0:
      return fmt::format("matmul(f32[{0}x{1}], weight f32[{1}x{2}])", random.between(9, 40), ci,
                         co);
    case 1:
      return fmt::format(
          "conv(f32[1x{0}x{1}x{1}], weight f32[{2}x16x{3}x{3}], groups={4}, pads=[{5}, {5}, {5}, "
          "{5}])",
          2 * 16, side, 2 * co, kernel, 2, pad);
    default:
      return fmt::format(
          "conv(f32[1x{0}x{1}x{1}], weight f32[{2}x{0}x{3}x{3}], weight f32[{2}], pads=[{4}, {4}, "
          "{4}, {4}], strides=[{5}, {5}])",
          ci, side + 2, co, kernel, pad, random.between(1, 2));
  }
}

constexpr long default_cases = 40;

/// Are cases written for a GPU that has matrix units?
bool writes_matrices() {
  constexpr long first_with_matrices = 80;
  auto target = cases_target();
  return target && target->gpu.capability >= first_with_matrices;
}

TEST(CudaMatrices, WarpsComputeWhatTheInterpreterDoes) {
  std::map<std::string, long> seen;  // templates
  long partial = 0;
  std::vector<CompiledCase> written;
  long cases = 0;
  for_each_case(default_cases, [&](Case& trial) {
    ++cases;
    Random& random = trial.random;
    Context ctx;
    Target target = target_named(random.pick({"cuda:sm_80", "cuda:sm_90"}));
    target.gpu.multiprocessors = random.pick(std::vector<long>{1, 8, 132});
    std::string text = draw_layer_for_matrices(random);
    std::string element = random.pick({"tf32", "f16", "bf16"});
    Nest wide = parse_op(ctx, text);
    Applied narrow = apply(wide, Step{"cast", {element}});
    NodeCode code = lower_node(narrow.nest, row_major_layouts(narrow.nest), target);
    CompiledCase c{code.tensors, code.layouts, code.repackings, code.kernels, {}, ""};
    trial.story = fmt::format("{}\ncast({})\n{}: {}\n", text, element, code.schedule, code.recipe);
    c.wanted = reference_of_normal_data(wide, random);
    // A product that is missing, or one too many, is off by more.
    c.wanted.slack = 2 * *narrow.error * root_mean_square(c.wanted.reals.at("O"));
    double worst = 0;
    if (writes_matrices()) {
      c.story = trial.repeat + "\n" + trial.story;
      written.push_back(c);
    } else {
      run_simulated(c, worst);
    }
    ++seen[code.schedule];
    for (const Code& kernel : code.kernels) {
      if (print(kernel).find("where") != std::string::npos) ++partial;
    }
  });
  if (!written.empty()) run_all_on_device(written, *cases_target());
  for (const auto& [name, count] : seen) std::cout << name << ": " << count << " cases\n";
  std::cout << partial << " kernels with rows or columns that nobody has\n";
  if (environment("LATHE_CASE", -1) >= 0 || testing::Test::HasFailure()) return;
  EXPECT_GE(2 * seen["matrices"], cases);
  EXPECT_GE(8 * partial, cases);
}

TEST(CudaMatrices, KernelsAssemble) {
  LATHE_WANTS_PTXAS();
  Context ctx;
  Target target = target_named("cuda:sm_80");
  for (const char* element : {"tf32", "f16", "bf16"}) {
    Nest wide = parse_op(ctx, "conv(co=64, ci=64, oh=14, ow=14, k=3, pad=1)");
    NodeCode code = lower_node(apply(wide, Step{"cast", {std::string(element)}}).nest,
                               row_major_layouts(wide), target);
    EXPECT_EQ(code.schedule, "matrices") << element;
    std::vector<NamedCode> kernels;
    for (size_t k = 0; k < code.kernels.size(); ++k) {
      kernels.push_back({fmt::format("kernel_{}", k), code.kernels[k]});
    }
    std::string ptx = make_compiler(target)->object(kernels);
    EXPECT_NE(ptx.find("mma.sync.aligned.m16n8k"), std::string::npos) << element;
    // Sums are in registers.
    EXPECT_EQ(ptx.find(".local"), std::string::npos) << element;
    EXPECT_EQ(refused_by_ptxas(ptx, target), "") << element;
  }
}

}  // namespace
}  // namespace lathe::test
