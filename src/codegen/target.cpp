// target.cpp: the machines that Lathe compiles for. Interface: target.h.
#include "codegen/target.h"

#include <fmt/ranges.h>
#include <unistd.h>

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

long cache_bytes(int name, long otherwise) {
  long bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

}  // namespace

const std::vector<Target>& targets() {
  static const std::vector<Target> all = {
      {"aarch64", "aarch64-linux-gnu", "+neon", 16, 32, true, 64 << 10, 1 << 20},
      {"x86-64-v3", "x86_64-linux-gnu", "+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+popcnt,+sse4.2", 32, 16,
       false, 32 << 10, 1 << 20},
      {"x86-64-v4", "x86_64-linux-gnu",
       "+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+popcnt,+sse4.2,+avx512f,+avx512bw,+avx512cd,+avx512dq,"
       "+avx512vl,-prefer-256-bit",
       64, 32, false, 32 << 10, 1 << 20},
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
  target.l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, target.l1_bytes);
  target.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, target.l2_bytes);
  return target;
}

}  // namespace lathe
