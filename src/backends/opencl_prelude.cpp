// opencl_prelude.cpp: the functions that kernels in OpenCL C call. Interface: opencl_source.h.
#include <fmt/format.h>

#include "backends/opencl_source.h"

namespace lathe {
namespace {

/// Rounds f32 to bf16: to the nearest, half to even; what is no number stays so.
std::string bf16_function(long size) {
  std::string suffix = size == 1 ? "" : fmt::format("{}", size);
  std::string f = "float" + suffix, u = "uint" + suffix, s = "ushort" + suffix;
  std::string none = size == 1 ? "x != x ? 0x7fc00000u : r"
                               : fmt::format("select(r, ({})(0x7fc00000u), x != x)", u);
  return fmt::format(
      "{0} lathe_bf16_{3}({1} x) {{\n"
      "  {2} b = as_{2}(x);\n"
      "  {2} r = b + ((b >> 16) & 1u) + 0x7fffu;\n"
      "  r = {4};\n"
      "  return convert_{0}(r >> 16);\n"
      "}}\n",
      s, f, u, size, none);
}

/// Rounds f32 to tf32 in the same way.
std::string tf32_function(long size) {
  std::string suffix = size == 1 ? "" : fmt::format("{}", size);
  std::string f = "float" + suffix, u = "uint" + suffix;
  std::string none = size == 1 ? "x != x ? 0x7fc00000u : r"
                               : fmt::format("select(r, ({})(0x7fc00000u), x != x)", u);
  return fmt::format(
      "{0} lathe_tf32_{2}({0} x) {{\n"
      "  {1} b = as_{1}(x);\n"
      "  {1} r = (b + ((b >> 13) & 1u) + 0xfffu) & ~0x1fffu;\n"
      "  return as_{0}({3});\n"
      "}}\n",
      f, u, size, none);
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
      "#define LATHE_FMA mad\n"
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
  for (long size : {1L, 2L, 4L, 8L, 16L}) text += bf16_function(size) + tf32_function(size);
  return text + "#endif\n";
}

}  // namespace lathe
