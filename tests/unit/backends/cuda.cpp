// CUDA: the PTX of kernels, targets, and what is refused.
#include <gtest/gtest.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>

#include <cmath>
#include <limits>
#include <map>

#include "backends/llvm_machine.h"
#include "backends/llvm_nvptx_math.h"
#include "support/named_kernels.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

std::string ptx_of(const std::string& nest, const std::string& recipe,
                   const std::string& form = "ptx") {
  return printed_kernels(nest, recipe, target_named("cuda:sm_80"), form);
}

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

void expect_none(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_EQ(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(CudaPtx, HasEntriesBlocksThreadsSpacesAndBarriers) {
  std::string text = ptx_of("matmul(i=8, j=32, k=16)",
                            "interchange(j, k) -> split(k, 4) -> bind(i, block.x) -> "
                            "bind(j, thread.x) -> pack(A, k.o, shared)");
  expect_parts(text, {".target sm_80", ".visible .entry kernel_1(", ".param .u64 kernel_1_param_2",
                      ".reqntid 32, 1, 1", "%ctaid.x", "%tid.x", ".shared .align 16 .b8", "[16];",
                      "bar.sync", "fma.rn.f32", "ld.global.nc.f32", "ld.shared"});
  expect_none(text, {".local", "kernel_1_param_3"});
}

TEST(CudaPtx, VectorsAreLoadedWholeWhereTheyAreAligned) {
  auto sum = [](long width) {
    return ptx_of(
        fmt::format("fused(f32[8x4x{0}], weight f32[8x4x{0}], calls=[\"add(%0, %1)\"])", width),
        "bind(n, block.x) -> vectorize(w)");
  };
  // What is handed from unit to unit may begin within padding; weights do not.
  std::string text = sum(16);
  expect_parts(text, {"ld.global.nc.v4.f32", "ld.global.nc.f32", "st.global.f32"});
  expect_none(text, {"st.global.v4", "st.global.v2"});
  expect_none(sum(15), {".v4", ".v2"});
}

TEST(CudaPtx, NeighboursOfAnUnrolledLoopAreLoadedTogether) {
  std::string text = ptx_of("conv(co=64, ci=16, oh=8, ow=8, k=1)",
                            "reorder(co, oh, ow, ci) -> split(ci, 4) -> bind(co, block.y) -> "
                            "bind(oh, block.x) -> bind(ow, thread.x) -> unroll(ci.i)");
  expect_parts(text, {"ld.global.nc.v4.f32", "fma.rn.f32"});
  expect_none(text, {".local"});
}

TEST(CudaPtx, WhatAKernelWritesIsNoConstant) {
  // The second statement reads what the first wrote, in memory that all threads see.
  std::string text = ptx_of("softmax(f32[16x32], axis=1)", "", "nvvm");
  expect_parts(text, {"noalias readonly align 16", "!invariant.load"});
  text = ptx_of("matmul(i=8, j=32, k=16)", "bind(i, thread.x)");
  expect_parts(text, {"ld.global.nc", "st.global.f32"});
}

TEST(CudaPtx, IndicesHave32BitsIfTheyFit) {
  std::string text = ptx_of("max_pool(c=100, oh=9, ow=9, k=3)",
                            "fuse(oh, ow, o) -> split(o, 32) -> bind(c, block.x) -> "
                            "bind(o.i, thread.x)");
  expect_parts(text, {"mul.hi.u32"});
  expect_none(text, {"div.s64", "rem.s64", "mul.hi.u64", "mul.hi.s64"});
}

TEST(CudaPtx, FunctionsWithoutInstructionsAreInTheModule) {
  std::string text = ptx_of("sin(c=32)", "bind(c, thread.x)");
  expect_parts(text, {".func", "lathe_sin"});
  expect_none(text, {".extern"});
}

/// The functions of GPUs, compiled for this machine.
class FunctionsHere {
 public:
  explicit FunctionsHere(const std::vector<std::string>& names) {
    initialise_llvm();
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = std::make_unique<llvm::Module>("functions", *context);
    for (const std::string& name : names) {
      nvptx_function(*module, name)->setLinkage(llvm::Function::ExternalLinkage);
    }
    auto jit = llvm::orc::LLJITBuilder().create();
    check(static_cast<bool>(jit), "LLVM makes code for this machine");
    jit_ = std::move(*jit);
    auto symbols = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
        jit_->getDataLayout().getGlobalPrefix());
    check(static_cast<bool>(symbols), "the process has symbols");
    jit_->getMainJITDylib().addGenerator(std::move(*symbols));
    llvm::cantFail(jit_->addIRModule({std::move(module), std::move(context)}));
  }

  template <class Function>
  Function* find(const std::string& name) {
    return llvm::cantFail(jit_->lookup("lathe_" + name)).toPtr<Function*>();
  }

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

void expect_close(double is, double must, double x, const std::string& name,
                  double tolerance = 1e-14) {
  if (std::isnan(must)) {
    EXPECT_TRUE(std::isnan(is)) << name << " of " << x;
  } else if (is != must) {
    EXPECT_LE(std::abs(is - must), tolerance * std::abs(must)) << name << " of " << x;
  }
}

TEST(CudaMath, FunctionsAreThoseOfTheLibrary) {
  using Function = double (*)(double);
  const std::map<std::string, Function> functions = {
      {"exp", std::exp},   {"log", std::log},   {"sin", std::sin},   {"cos", std::cos},
      {"tan", std::tan},   {"asin", std::asin}, {"acos", std::acos}, {"atan", std::atan},
      {"tanh", std::tanh}, {"erf", std::erf}};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> at = {0, 1, -1, infinity, -infinity, NAN, 1e-300, 800, -800, 1e5};
  for (int i = -400; i <= 400; ++i) at.push_back(i / 53.0);
  std::vector<std::string> names = {"pow", "fmod"};
  for (const auto& [name, function] : functions) names.push_back(name);
  FunctionsHere here(names);
  for (const auto& [name, function] : functions) {
    auto* own = here.find<double(double)>(name);
    for (double x : at) expect_close(own(x), function(x), x, name);
  }
  auto* power = here.find<double(double, double)>("pow");
  auto* remainder = here.find<double(double, double)>("fmod");
  for (double x : at) {
    for (double y : {0.0, 1.0, -1.0, 2.0, 3.0, 0.5, -2.5, infinity, -infinity, 1e-3}) {
      expect_close(power(x, y), std::pow(x, y), x, "pow", 1e-13);
      expect_close(remainder(x, y), std::fmod(x, y), x, "fmod");
    }
  }
}

TEST(CudaTargets, AreKindsAndDevices) {
  EXPECT_EQ(target_named("cuda:sm_80").gpu.capability, 80);
  EXPECT_EQ(target_named("cuda:sm_80").gpu.device, any_device);
  EXPECT_EQ(target_named("cuda").gpu.device, 0);
  EXPECT_EQ(target_named("cuda:0").name, "cuda");
  EXPECT_EQ(target_named("cuda:2").gpu.device, 2);
  EXPECT_TRUE(target_named("cuda").is_gpu());
  expect_failure([] { target_named("cuda:sm_20"); }, {"unknown target 'cuda:sm_20'", "cuda:sm_90"});
  expect_failure([] { machine_named("cuda:99"); }, {"no machine for the target 'cuda:99'"});
}

}  // namespace
}  // namespace lathe::test
