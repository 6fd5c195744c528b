// machine.cpp: measures the machine with kernels of its own. Interface: machine.h.
#include "compile/machine.h"

#include <algorithm>
#include <chrono>

#include "backends/llvm.h"
#include "base/error.h"
#include "runtime/runtime.h"

namespace lathe {
namespace {

using Kind = Instruction::Kind;

poly::Affine offset(long constant, long step) {
  poly::Affine a = poly::constant_of(1, constant);
  a.coefficients[0] = step;
  return a;
}

/// A kernel over one tensor of "elements" f32, with "sums" accumulators that are stored at its end.
Code skeleton(const std::string& name, long elements, long sums, long lanes) {
  Code code;
  code.name = name;
  code.tensors = {{"X", Role::output, Element::f32, {elements}, {{}}, 0}};
  code.layouts = {row_major_layout({elements})};
  code.used = {true};
  code.scratch = {-1};
  for (long i = 0; i < sums; ++i) {
    code.variables.push_back({lanes});
    Instruction load{Kind::load};
    load.to = static_cast<size_t>(i);
    load.offset = offset(i * lanes, 0);
    code.body.push_back(load);
  }
  return code;
}

void finish(Code& code, Instruction loop, long sums, long lanes) {
  code.body.push_back(std::move(loop));
  for (long i = 0; i < sums; ++i) {
    Instruction store{Kind::store, 0, {static_cast<size_t>(i)}};
    store.offset = offset(i * lanes, 0);
    store.lane = lanes;
    code.body.push_back(store);
  }
}

/// Products and sums in registers alone.
Code arithmetic(long rounds, long sums, long lanes) {
  Code code = skeleton("peak", (sums + 2) * lanes, sums, lanes);
  size_t factor = code.variables.size();
  for (size_t i : {factor, factor + 1}) {
    code.variables.push_back({lanes});
    Instruction load{Kind::load};
    load.to = i;
    load.offset = offset(sums * lanes, 0);
    code.body.push_back(load);
  }
  Instruction loop{Kind::loop};
  loop.end = rounds;
  for (long i = 0; i < sums; ++i) {
    auto sum = static_cast<size_t>(i);
    loop.body.push_back({Kind::fma, sum, {factor, factor + 1, sum}});
  }
  finish(code, std::move(loop), sums, lanes);
  return code;
}

/// Reads "elements" one vector after the other, and adds them up.
Code reading(long elements, long sums, long lanes) {
  Code code = skeleton("read", elements, sums, lanes);
  Instruction loop{Kind::loop};
  loop.end = elements / (sums * lanes);
  for (long i = 0; i < sums; ++i) {
    code.variables.push_back({lanes});
    Instruction load{Kind::load};
    load.to = code.variables.size() - 1;
    load.offset = offset(i * lanes, sums * lanes);
    Instruction add{Kind::apply, static_cast<size_t>(i), {static_cast<size_t>(i), load.to}};
    add.op = Expr::Op::add;
    loop.body.push_back(load);
    loop.body.push_back(add);
  }
  finish(code, std::move(loop), sums, lanes);
  return code;
}

/// Returns the shortest time of several calls, in seconds.
double best_time(const Code& code, std::vector<float>& memory, int calls) {
  Target target = native_target();
  LlvmCompiler compiler(target);
  Jit jit;
  jit.add(compiler.object({{"measure", code}}));
  auto kernel = reinterpret_cast<lathe_kernel>(jit.find("measure"));
  void* tensor = memory.data();
  double best = 1e300;
  for (int i = 0; i < calls; ++i) {
    auto begin = std::chrono::steady_clock::now();
    kernel(&tensor, nullptr, 0, 1);
    std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (i > 0) best = std::min(best, taken.count());
  }
  return best;
}

}  // namespace

double measure_peak() {
  long lanes = native_target().lanes(4), rounds = 100000, sums = 12;
  std::vector<float> memory(static_cast<size_t>((sums + 2) * lanes), 0.0F);
  double time = best_time(arithmetic(rounds, sums, lanes), memory, 20);
  return 2 * static_cast<double>(rounds * sums * lanes) / time;
}

Machine measure_machine() {
  Machine machine;
  machine.peak = measure_peak();
  Target target = native_target();
  long lanes = target.lanes(4), l1 = target.l1_bytes, l2 = target.l2_bytes, l3 = cache_bytes(3);
  std::vector<std::pair<std::string, long>> levels = {{"L1", l1 / 2}, {"L2", l2 / 2}};
  if (l3 > 4 * l2) levels.emplace_back("L3", l3 / 2);
  levels.emplace_back("memory", std::max(256L << 20, 4 * l3));
  for (const auto& [level, bytes] : levels) {
    long sums = 8, step = sums * lanes * 4;
    long used = bytes / step * step;
    std::vector<float> memory(static_cast<size_t>(used / 4), 0.0F);
    int calls = static_cast<int>(std::clamp(400000000 / used, 4L, 4000L));
    double time = best_time(reading(used / 4, sums, lanes), memory, calls);
    machine.bandwidths.push_back({level, used, static_cast<double>(used) / time});
  }
  return machine;
}

}  // namespace lathe
