// opencl_prelude.cpp: the functions that kernels in OpenCL C call. Interface: opencl_source.h.
#include <fmt/format.h>

#include "backends/opencl_source.h"

namespace lathe {
namespace {

/// A type that has the first bits of an f32.
struct ShortFloat {
  const char* name;
  const char* memory;  ///< the type that it lies in
  int lost;            ///< bits of an f32 that it does not have
  const char* value;   ///< of the rounded bits r; {0} stands for the type in memory
};
constexpr ShortFloat short_floats[] = {{"bf16", "ushort", 16, "convert_{0}(r >> 16)"},
                                       {"tf32", "float", 13, "as_{0}(r & ~0x1fffu)"}};

/// Rounds f32 to a shorter type: to the nearest, half to even; what is no number stays so.
std::string rounding_function(const ShortFloat& type, long size) {
  std::string suffix = size == 1 ? "" : fmt::format("{}", size);
  std::string f = "float" + suffix, u = "uint" + suffix, memory = type.memory + suffix;
  std::string none = size == 1 ? "x != x ? 0x7fc00000u : r"
                               : fmt::format("select(r, ({})(0x7fc00000u), x != x)", u);
  return fmt::format(
      "{0} lathe_{1}_{2}({3} x) {{\n"
      "  {4} b = as_{4}(x);\n"
      "  {4} r = b + ((b >> {5}) & 1u) + {6}u;\n"
      "  r = {7};\n"
      "  return {8};\n"
      "}}\n",
      memory, type.name, size, f, u, type.lost, (1 << (type.lost - 1)) - 1, none,
      fmt::format(fmt::runtime(type.value), memory));
}

}  // namespace

std::string opencl_prelude() {
  std::string text =
      "#ifndef LATHE_PRELUDE\n"
      "#define LATHE_PRELUDE\n"
      "#ifdef cl_khr_fp64\n"
      "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
      "#endif\n"
      "#ifdef FP_FAST_FMAF\n"
      "#define LATHE_FMA fma\n"
      "#else\n"
      "#pragma OPENCL FP_CONTRACT ON\n"
      "#define LATHE_FMA(a, b, c) ((a) * (b) + (c))\n"
      "#endif\n"
      "long lathe_floor(long x, long d) { return x >= 0 ? x / d : -((d - 1 - x) / d); }\n"
      "long lathe_pick(long x, long n) { return clamp(x < 0 ? x + n : x, 0L, n - 1); }\n"
      "long lathe_div(long x, long y) { return y == 0 ? 0 : y == -1 ? -x : x / y; }\n"
      "long lathe_rem(long x, long y) { return y == 0 || y == -1 ? 0 : x % y; }\n"
      "long lathe_mod(long x, long y) { return lathe_rem(lathe_rem(x, y) + y, y); }\n"
      "long lathe_shift(long x, long by) {\n"
      "  if (by >= 0) return by < 64 ? x << by : 0;\n"
      "  return by > -64 ? (long)((ulong)x >> -by) : 0;\n"
      "}\n"
      "long lathe_pow(long x, long n) {\n"
      "  if (n < 0) return x == 1 ? 1 : x == -1 ? ((n & 1) != 0 ? -1 : 1) : 0;\n"
      "  long r = 1;\n"
      "  for (; n != 0; n >>= 1, x *= x) r = (n & 1) != 0 ? r * x : r;\n"
      "  return r;\n"
      "}\n";
  for (long size : {1L, 2L, 4L, 8L, 16L}) {
    for (const ShortFloat& type : short_floats) text += rounding_function(type, size);
  }
  return text + "#endif\n";
}

}  // namespace lathe
