// CUDA kernels compile, and NVIDIA's assembler takes them where it is installed: random nests with
// loops bound to blocks and threads, examples of all operators, and units of built-in networks.
#include <gtest/gtest.h>

#include "compile/compile.h"
#include "compile/node.h"
#include "models/model.h"
#include "nest/starts.h"
#include "ops/op.h"
#include "support/compiled.h"
#include "support/layouts.h"
#include "support/ptxas.h"
#include "support/random_threads.h"

namespace lathe::test {
namespace {

/// Compiles kernels together. If there is an assembler, it must take them.
void expect_assembled(const std::vector<NamedCode>& kernels, const Target& target) {
  std::string ptx = make_compiler(target)->object(kernels);
  for (const NamedCode& kernel : kernels) {
    EXPECT_NE(ptx.find(fmt::format(".entry {}(", kernel.symbol)), std::string::npos);
  }
  EXPECT_EQ(ptx.find(".extern"), std::string::npos) << ptx;
  EXPECT_EQ(refused_by_ptxas(ptx, target), "");
}

/// Adds the kernels of a nest with bound loops; none, if the machine cannot have it.
void add_kernels(std::vector<NamedCode>& kernels, const Nest& bound, const Target& target,
                 const std::string& story) {
  Nest nest = with_starts(bound);
  try {
    if (judge_order(nest).violation) return;
    for (Code& code : lower(scan_for(target, nest, row_major_layouts(nest)), target)) {
      kernels.push_back({fmt::format("kernel_{}", kernels.size()), std::move(code)});
    }
  } catch (const UserError& error) {
    std::string reason = error.what();
    bool known = reason.find("memory") != std::string::npos ||
                 reason.find("threads, but") != std::string::npos ||
                 reason.find("threads along z") != std::string::npos;
    EXPECT_TRUE(known) << reason << "\n" << story;
  }
}

TEST(Cuda, RandomNestsAssemble) {
  LATHE_WANTS_PTXAS();
  constexpr long kernels_together = 40;
  long count = 0;
  for_each_case(12, [&](Case& trial) {
    Context ctx;
    std::vector<NamedCode> kernels;
    Target target = target_named(trial.random.pick({"cuda:sm_70", "cuda:sm_80", "cuda:sm_90"}));
    while (static_cast<long>(kernels.size()) < kernels_together) {
      Case inner{trial.random, ""};
      Nest nest = random_threads(inner, ctx, random_nest(inner.random));
      trial.random = inner.random;
      if (find_axis(nest) != nullptr) add_kernels(kernels, nest, target, inner.story);
    }
    expect_assembled(kernels, target);
    count += static_cast<long>(kernels.size());
  });
  std::cout << count << " kernels\n";
}

TEST(Cuda, OperatorsAssemble) {
  LATHE_WANTS_PTXAS();
  Context ctx;
  std::vector<NamedCode> kernels;
  Target target = target_named("cuda:sm_80");
  for (const Op& op : operators()) {
    for (const std::string& example : op.examples) {
      std::vector<Code> codes;
      try {
        Nest nest = parse_op(ctx, example);
        interpreted(nest);
        codes = lower_node(nest, row_major_layouts(nest), target).kernels;
      } catch (const UserError&) {
        continue;  // it runs without a nest, or is not for reals
      }
      for (Code& code : codes) {
        kernels.push_back({fmt::format("kernel_{}", kernels.size()), std::move(code)});
      }
    }
  }
  std::cout << kernels.size() << " kernels\n";
  EXPECT_GT(kernels.size(), 100U);
  expect_assembled(kernels, target);
}

/// Some small networks of different kinds; LATHE_NETWORKS=1 takes all that are built in.
const std::vector<std::string> some_networks = {"resnet18-cifar", "mobilenet_v2-cifar", "bert_tiny",
                                                "nasbench201:6111"};

TEST(Cuda, NetworksAssemble) {
  LATHE_WANTS_PTXAS();
  std::vector<std::string> names = some_networks;
  if (environment("LATHE_NETWORKS", 0) != 0) {
    names.clear();
    for (const ModelEntry& entry : list_models()) names.push_back(entry.example);
  }
  for (const std::string& name : names) {
    CompileOptions options;
    options.target = target_named("cuda:sm_90");
    options.cache = false;
    Compiled compiled = compile(initialised(load_model(name), 1), options);
    EXPECT_FALSE(compiled.objects.empty()) << name;
    for (const std::string& ptx : compiled.objects) {
      EXPECT_NE(ptx.find(".entry lathe_kernel_"), std::string::npos) << name;
      // Sums of convolutions are in registers.
      bool images = name.find("cifar") != name.npos;
      EXPECT_TRUE(!images || ptx.find(".local") == ptx.npos) << name << "\n" << ptx;
      EXPECT_EQ(refused_by_ptxas(ptx, options.target), "") << name;
    }
  }
}

}  // namespace
}  // namespace lathe::test
