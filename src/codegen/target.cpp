// target.cpp: the machines that Lathe compiles for. Interface: target.h.
#include "codegen/target.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <regex>
#if defined(__aarch64__)
#include <sys/auxv.h>
#elif defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

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

/// The extended features of the processor, some of which not every compiler has a name for (clang
/// 14): registers "a" and "d" of a subleaf of CPUID.
struct Features {
  unsigned a = 0, d = 0;

  explicit Features(unsigned subleaf) {
    constexpr unsigned leaf = 7;
    unsigned b = 0, c = 0;
    if (__get_cpuid_count(leaf, subleaf, &a, &b, &c, &d) == 0) a = d = 0;
  }
};

bool has_bit(unsigned bits, unsigned bit) { return (bits >> bit & 1) != 0; }

/// May this process use the registers of panels (AMX)? The kernel must be asked: threads then have
/// 8 KiB more to save.
bool may_use_panels() {
  constexpr long ask_for_state = 0x1023, state_of_tiles = 18;  // ARCH_REQ_XCOMP_PERM, TILEDATA
  return syscall(SYS_arch_prctl, ask_for_state, state_of_tiles) == 0;
}

std::set<Extra> native_extras() {
  std::set<Extra> extras;
  if (!has_avx512()) return extras;
  const Features first(0), second(1);
  constexpr unsigned f16 = 23, panels = 24, of_bytes = 25, of_bf16 = 22;  // of the first, in d
  constexpr unsigned of_f16 = 21;                                         // of the second, in a
  if (has_bit(first.d, f16)) extras.insert(Extra::f16);
  if (__builtin_cpu_supports("avx512vnni")) extras.insert(Extra::i8_dot);
  if (__builtin_cpu_supports("avx512bf16")) extras.insert(Extra::bf16_dot);
  if (!has_bit(first.d, panels) || !may_use_panels()) return extras;
  if (has_bit(first.d, of_bytes)) extras.insert(Extra::i8_matrix);
  if (has_bit(first.d, of_bf16)) extras.insert(Extra::bf16_matrix);
  if (has_bit(second.a, of_f16)) extras.insert(Extra::f16_matrix);
  return extras;
}
#elif defined(__aarch64__)
std::string native_name() { return "aarch64"; }

std::set<Extra> native_extras() {
  // Bits of the kernel's interface, by the names that /proc/cpuinfo has for them.
  constexpr unsigned long asimdhp = 1 << 10, asimddp = 1 << 20, i8mm = 1 << 13, bf16 = 1 << 14;
  unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
  std::set<Extra> extras;
  if ((first & asimdhp) != 0) extras.insert(Extra::f16);
  if ((first & asimddp) != 0) extras.insert(Extra::i8_dot);
  if ((second & i8mm) != 0) extras.insert(Extra::i8_matrix);
  if ((second & bf16) != 0) extras.insert(Extra::bf16_dot);
  return extras;
}
#else
std::set<Extra> native_extras() { return {}; }

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

/// Finds an extra of a target by its name. The error lists those that there are.
Extra extra_named(const std::string& name, const Target& target) {
  std::vector<const char*> known;
  for (Extra extra : possible_extras(target)) {
    if (name == name_of(extra)) return extra;
    known.push_back(name_of(extra));
  }
  if (known.empty()) fail("the target {} has no extras: leave out '+{}'", target.name, name);
  fail("the target {} has no extra '{}'; there are {}", target.name, name, fmt::join(known, ", "));
}

/// Adds the extras of a name, "+f16+dot", to a target.
void add_extras(Target& target, const std::string& names) {
  for (size_t at = 0; at < names.size();) {
    size_t end = std::min(names.find('+', at + 1), names.size());
    target.cpu.extras.insert(extra_named(names.substr(at + 1, end - at - 1), target));
    at = end;
  }
}

const std::vector<Target>& cpus() {
  // Vectors and registers are those of the instructions; caches, which differ from one processor to
  // the next, those of common servers: 32 to 64 KiB, and 1 MiB.
  static const std::vector<Target> all = {
      {"aarch64", Architecture::aarch64, "aarch64-linux-gnu", "+neon",
       Cpu{16, 32, true, 64 << 10, 1 << 20}},
      {"x86-64-v3", Architecture::x86_64, "x86_64-linux-gnu",
       "+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+popcnt,+sse4.2", Cpu{32, 16, false, 32 << 10, 1 << 20}},
      {"x86-64-v4", Architecture::x86_64, "x86_64-linux-gnu",
       "+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+popcnt,+sse4.2,+avx512f,+avx512bw,+avx512cd,+avx512dq,"
       "+avx512vl,-prefer-256-bit",
       Cpu{64, 32, false, 48 << 10, 1 << 20}},
  };
  return all;
}

/// What any device with OpenCL has, or nearly any: drivers tell more of those that are here.
Target opencl_target() {
  return {"opencl", Architecture::opencl, "", "", Cpu{16, 32, false, 16 << 10, 256 << 10}};
}

/// What a CUDA device of some kind has. A block gets as much shared memory as it may without asking
/// for more. A thread may have twice the registers, but then few blocks run at a time.
Target cuda_target(long capability, long multiprocessors) {
  Target target{fmt::format("cuda:sm_{}", capability), Architecture::nvptx, "nvptx64-nvidia-cuda",
                fmt::format("+sm_{}", capability), Cpu{16, 32, false, 16 << 10, 256 << 10}};
  target.gpu.shared_bytes = 48 << 10;
  target.gpu.most_threads = 1024;
  target.gpu.registers = 128;
  target.gpu.multiprocessors = multiprocessors;
  target.gpu.device = any_device;
  target.gpu.capability = capability;
  return target;
}

std::vector<Target> all_gpus() {
  // Multiprocessors are those of a V100, T4, A100, RTX 3090, RTX 4090 and H200.
  std::vector<Target> kinds = {cuda_target(70, 80), cuda_target(75, 40),  cuda_target(80, 108),
                               cuda_target(86, 82), cuda_target(89, 128), cuda_target(90, 132)};
  Target first = kinds.back();
  first.name = "cuda";
  first.gpu.device = 0;
  std::vector<Target> all = {opencl_target(), first};
  all.insert(all.end(), kinds.begin(), kinds.end());
  return all;
}

/// Returns the number behind the colon of "opencl:1", if the name begins with "stem" and is of this
/// form. The first device has no number.
std::optional<long> device_of(const std::string& name, const std::string& stem) {
  constexpr size_t most_digits = 3;
  if (name == stem) return 0;
  std::string digits = name.starts_with(stem + ":") ? name.substr(stem.size() + 1) : "";
  bool fits = !digits.empty() && digits.size() <= most_digits &&
              digits.find_first_not_of("0123456789") == std::string::npos;
  return fits ? std::optional(std::stol(digits)) : std::nullopt;
}

/// Returns the device elsewhere that "opencl:units=132" says, as any other, but for the blocks that
/// it runs at the same time; or "opencl:vectors=64", a CPU with vectors of so many bytes.
std::optional<Target> opencl_elsewhere(const std::string& name) {
  static const std::regex form("opencl:(?:units=([1-9][0-9]{0,3})|vectors=(16|32|64))");
  std::smatch found;
  if (!std::regex_match(name, found, form)) return std::nullopt;
  Target target = opencl_target();
  target.name = name;
  target.gpu.device = any_device;
  if (found[1].matched) {
    target.gpu.multiprocessors = std::stol(found[1]);
  } else {
    make_cpu(target, std::stol(found[2]));
  }
  return target;
}

/// Finds a GPU by its name.
std::optional<Target> gpu_named(const std::string& name) {
  if (auto elsewhere = opencl_elsewhere(name)) return elsewhere;
  for (const Target& gpu : gpu_targets()) {
    if (name == gpu.name) return gpu;
    auto device = gpu.gpu.device == any_device ? std::nullopt : device_of(name, gpu.name);
    if (!device) continue;
    Target target = gpu;
    target.gpu.device = *device;
    if (*device > 0) target.name += fmt::format(":{}", *device);
    return target;
  }
  return std::nullopt;
}

}  // namespace

const char* name_of(Extra extra) {
  switch (extra) {
    case Extra::f16:
      return "f16";
    case Extra::i8_dot:
      return "dot";
    case Extra::i8_matrix:
      return "i8mm";
    case Extra::bf16_dot:
      return "bf16";
    case Extra::bf16_matrix:
      return "bf16mm";
    case Extra::f16_matrix:
      return "f16mm";
  }
  return "";
}

std::string full_name(const Target& target) { return full_name(target, target.cpu.extras); }

std::string full_name(const Target& target, const std::set<Extra>& needed) {
  std::string name = target.name;
  for (Extra extra : needed) name += fmt::format("+{}", name_of(extra));
  return name;
}

std::set<Extra> possible_extras(const Target& target) {
  if (target.is_gpu()) return {};
  if (target.architecture == Architecture::aarch64) {
    return {Extra::f16, Extra::i8_dot, Extra::i8_matrix, Extra::bf16_dot};
  }
  // On x86-64 they came with the longest vectors.
  constexpr long longest = 64;
  if (target.cpu.vector_bytes < longest) return {};
  return {Extra::f16,      Extra::i8_dot,      Extra::i8_matrix,
          Extra::bf16_dot, Extra::bf16_matrix, Extra::f16_matrix};
}

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

const std::vector<Target>& targets() { return cpus(); }

void make_cpu(Target& opencl, long vector_bytes) {
  const Target* found = &cpus().front();
  for (const Target& target : cpus()) {
    long bytes = target.cpu.vector_bytes;
    if (bytes <= vector_bytes && bytes > found->cpu.vector_bytes) found = &target;
  }
  opencl.cpu = found->cpu;
  opencl.gpu.warp = 1;
}

const std::vector<Target>& gpu_targets() {
  static const std::vector<Target> all = all_gpus();
  return all;
}

Target target_named(const std::string& name) {
  if (name == "native") return native_target();
  if (auto gpu = gpu_named(name)) return *gpu;
  std::vector<std::string> known;
  for (Target target : targets()) {
    known.push_back(target.name);
    if (name != target.name && !name.starts_with(target.name + "+")) continue;
    add_extras(target, name.substr(target.name.size()));
    return target;
  }
  for (const Target& gpu : gpu_targets()) known.push_back(gpu.name);
  fail("unknown target '{}'; there are native, {}", name, fmt::join(known, ", "));
}

Target native_target() {
  Target target = target_named(native_name());
  if (long l1 = cache_bytes(1)) target.cpu.l1_bytes = l1;
  if (long l2 = cache_bytes(2)) target.cpu.l2_bytes = l2;
  target.cpu.extras = native_extras();
  return target;
}

}  // namespace lathe
