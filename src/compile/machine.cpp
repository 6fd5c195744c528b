// machine.cpp: measures the machine with kernels of its own. Interface: machine.h.
#include "compile/machine.h"

#include <algorithm>
#include <limits>

#include "backends/backend.h"

namespace lathe {
namespace {

using Kind = Instruction::Kind;

constexpr long real_size = sizeof(float);

/// Sums that are independent of each other, so that none waits for its last product: processors
/// need 8 to 10. When memory is read, fewer do, as each sum waits for its load anyway.
constexpr long sums_of_products = 12, sums_of_loads = 8;

/// The peak is measured in this many rounds of all sums, about a millisecond, so many times.
constexpr long rounds_of_peak = 100000;
constexpr int calls_of_peak = 20;

/// What is read takes half of a cache, so that it stays there. A third cache that is hardly larger
/// than the second is left out.
constexpr long share_of_cache = 2, clearly_larger = 4;

/// Main memory is measured with so many bytes, or so many times the last cache.
constexpr long least_memory = 256L << 20, times_of_last = 4;

/// Each level is read as often as makes so many bytes in all, some tens of milliseconds; but at
/// least and at most so often.
constexpr long bytes_read = 400000000, least_calls = 4, most_calls = 4000;

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
double best_time(const Target& target, const Code& code, int calls) {
  std::unique_ptr<Device> device = make_device(target);
  device->load(make_compiler(target)->object({{"measure", code}}));
  std::unique_ptr<Memory> memory = device->allocate(code.tensors.front().shape.front() * real_size);
  Launch launch{device->find("measure"), {{memory.get(), 0}}};
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < calls; ++i) {
    double taken = device->time(launch);
    if (i > 0) best = std::min(best, taken);
  }
  return best;
}

}  // namespace

double measure_peak(const Target& target) {
  long lanes = target.lanes(real_size), rounds = rounds_of_peak, sums = sums_of_products;
  double time = best_time(target, arithmetic(rounds, sums, lanes), calls_of_peak);
  return 2 * static_cast<double>(rounds * sums * lanes) / time;
}

Machine measure_machine(const Target& target) {
  Machine machine;
  machine.peak = measure_peak(target);
  long lanes = target.lanes(real_size);
  long l1 = target.cpu.l1_bytes, l2 = target.cpu.l2_bytes, l3 = cache_bytes(3);
  std::vector<std::pair<std::string, long>> levels = {{"L1", l1 / share_of_cache},
                                                      {"L2", l2 / share_of_cache}};
  if (l3 > clearly_larger * l2) levels.emplace_back("L3", l3 / share_of_cache);
  levels.emplace_back("memory", std::max(least_memory, times_of_last * l3));
  for (const auto& [level, bytes] : levels) {
    long sums = sums_of_loads, step = sums * lanes * real_size;
    long used = bytes / step * step;
    int calls = static_cast<int>(std::clamp(bytes_read / used, least_calls, most_calls));
    double time = best_time(target, reading(used / real_size, sums, lanes), calls);
    machine.bandwidths.push_back({level, used, static_cast<double>(used) / time});
  }
  return machine;
}

}  // namespace lathe
