// target.cpp: the machines that Lathe compiles for. Interface: target.h.
#include "codegen/target.h"

#include <fmt/ranges.h>

#include <cstdlib>
#include <fstream>

#include "base/error.h"

namespace lathe {
namespace {

#if defined(__x86_64__)
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

std::string native_name() {
  if (has_avx512()) return "x86-64-v4";
  bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (!v3) fail("this processor has no AVX2 and FMA, which the code for x86-64 needs");
  return "x86-64-v3";
}
#elif defined(__aarch64__)
std::string native_name() { return "aarch64"; }
#else
std::string native_name() {
  fail("code is generated for AArch64 and x86-64 only; give --target to compile for one of them");
}
#endif

/// Returns what a file of the kernel holds: "64K", "Data".
std::string line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

long cache_bytes(int level) {
  constexpr int most_caches = 8;  // that the kernel lists for a core: of data, code, or both
  for (int index = 0; index < most_caches; ++index) {
    std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    if (line_of(folder + "level") != std::to_string(level)) continue;
    if (line_of(folder + "type") == "Instruction") continue;
    std::string size = line_of(folder + "size");
    char unit = size.empty() ? ' ' : size.back();
    return std::atol(size.c_str()) * (unit == 'M' ? 1 << 20 : unit == 'K' ? 1 << 10 : 1);
  }
  return 0;
}

const std::vector<Target>& targets() {
  // Vectors and registers are those of the instructions; caches, which differ from one processor to
  // the next, those of common servers: 32 to 64 KiB, and 1 MiB.
  static const std::vector<Target> all = {
      {"aarch64", Architecture::aarch64, "aarch64-linux-gnu", "+neon", 16, 32, true, 64 << 10,
       1 << 20},
      {"x86-64-v3", Architecture::x86_64, "x86_64-linux-gnu",
       "+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+popcnt,+sse4.2", 32, 16, false, 32 << 10, 1 << 20},
      {"x86-64-v4", Architecture::x86_64, "x86_64-linux-gnu",
       "+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+popcnt,+sse4.2,+avx512f,+avx512bw,+avx512cd,+avx512dq,"
       "+avx512vl,-prefer-256-bit",
       64, 32, false, 48 << 10, 1 << 20},
  };
  return all;
}

Target target_named(const std::string& name) {
  if (name == "native") return native_target();
  std::vector<std::string> known;
  for (const Target& target : targets()) {
    if (target.name == name) return target;
    known.push_back(target.name);
  }
  fail("unknown target '{}'; there are native, {}", name, fmt::join(known, ", "));
}

Target native_target() {
  Target target = target_named(native_name());
  if (long l1 = cache_bytes(1)) target.l1_bytes = l1;
  if (long l2 = cache_bytes(2)) target.l2_bytes = l2;
  return target;
}

}  // namespace lathe
