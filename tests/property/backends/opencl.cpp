// Kernels of GPUs compute what the interpreter does: random nests with loops bound to blocks and
// threads. They run on an OpenCL device, or are written for another one (support/device_cases.h).
#include <gtest/gtest.h>

#include "nest/starts.h"
#include "nest/wide_sums.h"
#include "support/layouts.h"
#include "support/on_device.h"
#include "support/random_threads.h"

namespace lathe::test {
namespace {

/// Which outputs does a nest read, maybe before it sets them? They start at 0.
std::vector<bool> outputs_read(const Nest& nest) {
  std::vector<bool> result(nest.tensors().size(), false);
  for (const Statement& s : nest.statements()) {
    for (const Access& read : s.reads) {
      if (nest.tensors()[read.tensor].role == Role::output) result[read.tensor] = true;
    }
  }
  return result;
}

/// Returns the nest in which what nothing writes is given, whatever it says.
Nest with_given(const Nest& nest) {
  std::vector<Tensor> tensors = nest.tensors();
  for (size_t t = 0; t < tensors.size(); ++t) {
    bool written = std::any_of(nest.statements().begin(), nest.statements().end(),
                               [&](const Statement& s) { return s.write.tensor == t; });
    if (!written && tensors[t].role != Role::constant) tensors[t].role = Role::input;
  }
  return {nest.name, std::make_shared<Meaning>(tensors, nest.statements(), nest.order), nest.order};
}

/// Makes a case of a nest in which loops are bound. Nothing, if the machine cannot have it.
std::optional<CompiledCase> case_of(const Nest& given, const Nest& bound, const Target& target,
                                    const std::string& story) {
  CompiledCase c;
  c.story = story;
  c.wanted = interpreted(given);
  Nest nest = with_given(with_starts(bound));
  c.zeroed = outputs_read(nest);
  try {
    if (judge_order(nest).violation) return std::nullopt;
    LoopTree tree = scan_for(target, nest, row_major_layouts(nest));
    c.tensors = tree.nest.tensors();
    c.layouts = tree.layouts;
    c.story += print(tree);
    c.kernels = lower(tree, target);
  } catch (const UserError& error) {
    std::string reason = error.what();
    bool known = reason.find("memory") != std::string::npos ||
                 reason.find("threads, but") != std::string::npos ||
                 reason.find("threads along z") != std::string::npos;
    EXPECT_TRUE(known) << reason << "\n" << c.story;
    return std::nullopt;
  }
  c.zeroed.resize(c.tensors.size(), false);
  return c;
}

/// Draws a nest. Its tensors are in the device's memory, where they can begin with zeros: local
/// ones might be read before they are set.
std::string nest_without_locals(Random& random) {
  std::string text = random_nest(random);
  constexpr std::string_view word = ": local ";
  for (size_t at = text.find(word); at != text.npos; at = text.find(word)) {
    text.replace(at, word.size(), ": output ");
  }
  return text;
}

/// What the kernels of cases have.
struct Counts {
  long nests = 0, blocks = 0, barriers = 0, shared = 0, privately = 0;

  void add(const std::vector<Code>& kernels) {
    ++nests;
    for (const Code& code : kernels) {
      blocks += code.blocks() > 1 ? 1 : 0;
      shared += code.shared_bytes > 0 ? 1 : 0;
      privately += code.private_bytes > 0 ? 1 : 0;
      barriers += print(code).find("barrier") != std::string::npos ? 1 : 0;
    }
  }
};

constexpr long cases_together = 25, default_batches = 31;

/// Runs a part of the cases: a driver takes a tenth of a second for each kernel, so that several
/// processes share them.
void run_part(long part) {
  LATHE_NEEDS_DEVICE(target);
  Counts counts;
  for_each_case(default_batches, [&](Case& trial) {
    constexpr long most = 1L << 40;
    trial.random = Random(trial.random.between(0, most), part);  // each part draws others
    Context ctx;
    std::vector<CompiledCase> cases;
    while (static_cast<long>(cases.size()) < cases_together) {
      std::string text = nest_without_locals(trial.random);
      Case inner{trial.random, fmt::format("{}, nest {}\n", trial.repeat, cases.size())};
      Nest nest = random_threads(inner, ctx, text);
      trial.random = inner.random;
      if (find_axis(nest) == nullptr) continue;  // it would say nothing about blocks and threads
      auto made = case_of(load(ctx, text), nest, *target, inner.story);
      if (!made) continue;
      counts.add(made->kernels);
      cases.push_back(std::move(*made));
    }
    run_all_on_device(cases, *target);
  });
  std::cout << counts.nests << " nests; kernels with blocks " << counts.blocks << ", barriers "
            << counts.barriers << ", shared memory " << counts.shared << ", private memory "
            << counts.privately << "\n";
}

TEST(OpenCl, KernelsComputeWhatTheInterpreterDoes1) { run_part(1); }
TEST(OpenCl, KernelsComputeWhatTheInterpreterDoes2) { run_part(2); }
TEST(OpenCl, KernelsComputeWhatTheInterpreterDoes3) { run_part(3); }
TEST(OpenCl, KernelsComputeWhatTheInterpreterDoes4) { run_part(4); }

}  // namespace
}  // namespace lathe::test
