// Kernels run on memory that is watched, and compared with the interpreter.
//
//   Reference wanted = interpreted(nest);                        what the values must be
//   Compilation compilation;                                     many nests, one object
//   compilation.add({tensors, layouts, {}, lower(scan(...)), wanted, "its story"});
//   compilation.run(random);                                     each result is compared
//
// Whatever a kernel has not set is garbage (no number, where the type has such a thing), and so is
// what surrounds each tensor. Nothing outside of the tensors that it writes may change.
// LATHE_TELL=1 tells the story of each case before it runs, in case that it crashes.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "base/array.h"
#include "compile/node.h"
#include "runtime/runtime.h"
#include "support/random_case.h"
#include "support/reference.h"
#include "support/watched_tensor.h"

namespace lathe::test {

/// A nest as kernels, and what they must compute.
struct CompiledCase {
  std::vector<Tensor> tensors;
  std::vector<Layout> layouts;
  std::vector<Repacking> repackings;
  std::vector<Code> kernels;
  Reference wanted;
  std::string story;
  std::vector<bool> zeroed = {};  ///< tensors that hold zeros before: they are read before set
};

/// Expects the outputs of a case; "worst" becomes the largest error of reals.
inline void expect_wanted(WatchedTensor& tensor, const Reference& reference, double& worst) {
  Array got = tensor.elements();
  Expected expected = expected_of(tensor.tensor(), reference);
  const std::string& name = tensor.tensor().name;
  bool integers = !expected.integers.empty();
  std::vector<long> is_integer = integers ? got.integers() : std::vector<long>();
  std::vector<double> is = integers ? std::vector<double>() : got.reals();
  for (size_t k = 0; k < expected.allowed.size(); ++k) {
    double allowed = expected.allowed[k];
    if (std::isinf(allowed)) continue;
    if (integers) {
      ASSERT_EQ(is_integer[k], expected.integers[k]) << name << ", element " << k;
    } else if (std::isnan(expected.reals[k])) {
      ASSERT_TRUE(std::isnan(is[k])) << name << ", element " << k;
    } else if (allowed == 0) {
      ASSERT_EQ(is[k], expected.reals[k]) << name << ", element " << k;
    } else {
      worst = std::max(worst, std::abs(is[k] - expected.reals[k]));
      ASSERT_NEAR(is[k], expected.reals[k], allowed) << name << ", element " << k;
    }
  }
}

/// Returns the memory of a case before it runs.
inline std::vector<WatchedTensor> memory_of(const CompiledCase& c) {
  std::vector<WatchedTensor> memory;
  for (size_t t = 0; t < c.tensors.size(); ++t) {
    memory.emplace_back(c.tensors[t], c.layouts[t]);
    if (c.tensors[t].role == Role::input || c.tensors[t].role == Role::weight) {
      memory[t].fill(c.wanted);
    } else if (c.tensors[t].role == Role::constant) {
      memory[t].fill_values();
    } else if (!c.zeroed.empty() && c.zeroed[t]) {
      memory[t].fill_zeros();
    }
  }
  for (const Repacking& p : c.repackings) {
    repack(p, memory[p.from].data(), memory[p.to].data(), size_of(c.tensors[p.to].element));
  }
  for (WatchedTensor& tensor : memory) tensor.watch();
  return memory;
}

/// May the kernels of a case change the elements of a tensor?
inline bool may_change(const CompiledCase& c, size_t tensor) {
  // What was prepared serves every run.
  for (const Repacking& p : c.repackings) {
    if (c.tensors[p.to].name == c.tensors[tensor].name) return false;
  }
  return c.tensors[tensor].role == Role::output || c.tensors[tensor].role == Role::local;
}

/// Is a tensor of a case compared with what it must be?
inline bool is_compared(const CompiledCase& c, size_t tensor) {
  return c.tensors[tensor].role == Role::output && !c.wanted.overflow;
}

/// Expects what a case must have computed; "worst" becomes the largest error of reals.
inline void expect_computed(const CompiledCase& c, std::vector<WatchedTensor>& memory,
                            double& worst) {
  for (size_t t = 0; t < memory.size(); ++t) {
    ASSERT_EQ(memory[t].refute(may_change(c, t)), "");
    if (is_compared(c, t)) expect_wanted(memory[t], c.wanted, worst);
    if (testing::Test::HasFatalFailure()) return;
  }
}

/// Calls the kernels of a case in sequence, each in several parts in any order; "worst" becomes the
/// largest error of reals.
inline void run_case(const CompiledCase& c, const std::vector<lathe_kernel>& functions,
                     Random& random, double& worst) {
  std::vector<WatchedTensor> memory = memory_of(c);
  for (size_t k = 0; k < c.kernels.size(); ++k) {
    const Code& code = c.kernels[k];
    std::vector<void*> arguments;
    for (size_t t : arguments_of(code)) arguments.push_back(memory[t].data());
    std::vector<std::pair<long, long>> parts;
    for (long from = 0, count = code.count(); from < count;) {
      long to = random.chance(40) ? count : random.between(from + 1, count);
      parts.emplace_back(from, to);
      from = to;
    }
    random.shuffle(parts);
    for (auto [from, to] : parts) {
      std::vector<double> aligned(static_cast<size_t>(code.scratch_bytes) / 8 + 17,
                                  std::numeric_limits<double>::quiet_NaN());
      auto* scratch = reinterpret_cast<std::byte*>(aligned.data() + 8);
      functions[k](arguments.data(), code.scratch_bytes == 0 ? nullptr : scratch, from, to);
      const std::byte* behind = scratch + (code.scratch_bytes + 7) / 8 * 8;
      for (size_t i = 0; i < 8; ++i) {
        double after = 0;
        std::memcpy(&after, behind + 8 * i, 8);
        ASSERT_TRUE(std::isnan(aligned[i]) && std::isnan(after)) << "written beside the scratch";
      }
    }
  }
  expect_computed(c, memory, worst);
}

/// Cases that are compiled together, as that is quicker.
class Compilation {
 public:
  explicit Compilation(const Target& target = native_target(), Effort effort = Effort::quick)
      : target_(target), compiler_(make_compiler(target, effort)) {}

  void add(CompiledCase c) { cases_.push_back(std::move(c)); }
  bool empty() const { return cases_.empty(); }

  /// Compiles all and returns the object.
  std::string object() {
    std::vector<NamedCode> kernels;
    for (size_t i = 0; i < cases_.size(); ++i) {
      for (size_t k = 0; k < cases_[i].kernels.size(); ++k) {
        kernels.push_back({symbol(i, k), cases_[i].kernels[k]});
      }
    }
    return compiler_->object(kernels);
  }

  /// Returns the largest error of reals of each case that was run.
  const std::vector<double>& errors() const { return errors_; }

  /// Compiles and runs all cases; ends with the first that fails and tells its story.
  void run(Random& random) {
    std::unique_ptr<Device> device = make_device(target_);
    device->load(object());
    for (size_t i = 0; i < cases_.size(); ++i) {
      std::vector<lathe_kernel> functions;
      for (size_t k = 0; k < cases_[i].kernels.size(); ++k) {
        functions.push_back(reinterpret_cast<lathe_kernel>(device->find(symbol(i, k)).handle));
      }
      if (environment("LATHE_TELL", 0) != 0) std::cout << cases_[i].story << std::endl;
      errors_.push_back(0);
      run_case(cases_[i], functions, random, errors_.back());
      if (!testing::Test::HasFailure()) continue;
      std::string story = cases_[i].story;
      for (const Code& code : cases_[i].kernels) story += "kernel:\n" + print(code);
      ADD_FAILURE() << story;
      return;
    }
  }

 private:
  Target target_;
  std::unique_ptr<Compiler> compiler_;
  std::vector<CompiledCase> cases_;
  std::vector<double> errors_;

  static std::string symbol(size_t i, size_t k) { return fmt::format("case{}_kernel{}", i, k); }
};

/// Draws where the elements of a tensor lie: in blocks or not, in the middle of something larger.
inline Layout random_layout(Random& random, const std::vector<long>& shape) {
  if (shape.empty() || random.chance(40)) return row_major_layout(shape);
  long block =
      shape.size() >= 2 && random.chance(60) ? random.pick(std::vector<long>{4, 8, 16}) : 1;
  std::vector<long> whole = shape, before(shape.size(), 0);
  for (size_t i = 0; i < shape.size(); ++i) {
    if ((block > 1 && i == 1) || !random.chance(40)) continue;
    before[i] = random.between(0, 2);
    whole[i] += before[i] + random.between(0, 2);
  }
  Layout layout = blocked_layout(whole, block);
  for (size_t i = 0; i < shape.size(); ++i) layout.origin += before[i] * layout.axes[i].outer;
  return layout;
}

}  // namespace lathe::test
