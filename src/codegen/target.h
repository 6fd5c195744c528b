// What a machine has. Schedules choose sizes by it, and backends choose instructions.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace lathe {

/// Bytes of a cache line: the same on all targets.
constexpr long cache_line = 64;

/// Returns the bytes of as many lines as hold "bytes" bytes.
inline long rounded_to_lines(long bytes) {
  return (bytes + cache_line - 1) / cache_line * cache_line;
}

/// The instructions that every processor of a kind has.
enum class Architecture { aarch64, x86_64, opencl, nvptx };

/// Arithmetic on narrow numbers, which not every processor of an architecture has.
enum class Extra {
  f16,          ///< adds and multiplies f16
  i8_dot,       ///< adds four products of 8-bit integers to each 32-bit one
  i8_matrix,    ///< multiplies small matrices of them
  bf16_dot,     ///< adds two products of bf16 to each f32
  bf16_matrix,  ///< multiplies small matrices of them
  f16_matrix,   ///< multiplies small matrices of f16, with sums of f32
};

/// Names an extra as targets are named: "f16" of "aarch64+f16+dot".
const char* name_of(Extra extra);

/// What a CPU has.
struct Cpu {
  long vector_bytes = 16;
  long registers = 32;  ///< of vectors
  /// Can an instruction multiply a vector by one lane of another? Then a scalar factor is loaded
  /// with its neighbours; otherwise each is broadcast from memory.
  bool lane_products = false;
  long l1_bytes = 64 << 10, l2_bytes = 1 << 20;  ///< of one core
  std::set<Extra> extras = {};
};

/// What a GPU has: machines whose kernels are run by blocks of threads.
struct Gpu {
  long warp = 32;                ///< threads that run together; 1: a CPU behind a driver for GPUs
  long shared_bytes = 32 << 10;  ///< of a block
  long most_threads = 256;       ///< of a block
  long registers = 64;           ///< of a thread, 32 bits each, that schedules count on
  long multiprocessors = 16;     ///< blocks that run at the same time
  long device = 0;               ///< which one of this machine; any_device if none is meant
  std::string model = {};        ///< what the device calls itself
  long most_blocks = 65535;      ///< along y, and along z
  long most_deep = 64;           ///< threads of a block along z
  long capability = 0;           ///< of CUDA: the instructions that there are, 90 for "sm_90"
};

/// A kind of device, not one of this machine.
constexpr long any_device = -1;

/// What every machine has, and a part for each kind of machine. Schedules for one kind read its
/// part.
struct Target {
  std::string name;  ///< "aarch64", "x86-64-v4"; full_name() tells the extras, too
  Architecture architecture = Architecture::aarch64;
  std::string triple;    ///< as compilers write it
  std::string features;  ///< instructions beyond the base of the architecture: "+avx2,+fma"
  Cpu cpu = {};
  long workers = 1;  ///< how many share the work, most of the time
  Gpu gpu = {};

  /// Do blocks of threads run its kernels?
  bool is_gpu() const {
    return architecture == Architecture::opencl || architecture == Architecture::nvptx;
  }
  /// Do threads run together, each computing with one number? If not, a thread has vectors, as
  /// "cpu" says, and a block of several threads is a loop.
  bool has_warps() const { return is_gpu() && gpu.warp > 1; }
  bool has(Extra extra) const { return cpu.extras.contains(extra); }
  long lanes(long element_bytes) const { return cpu.vector_bytes / element_bytes; }
};

/// Returns the name with all extras, in the order of the enumeration: "aarch64+f16+dot".
/// target_named() gives the target back.
std::string full_name(const Target& target);

/// Returns the name of what a machine must be to run code for a target, of whose extras the code
/// needs these.
std::string full_name(const Target& target, const std::set<Extra>& needed);

/// Returns the extras that processors of this kind may have.
std::set<Extra> possible_extras(const Target& target);

/// Returns the size in bytes of the data cache of this machine at a level from 1 to 3. Returns 0 if
/// the kernel does not tell.
long cache_bytes(int level);

/// Returns all CPUs that Lathe can compile for, sorted by name.
const std::vector<Target>& targets();

/// Makes a target for OpenCL a CPU: with what those have whose vectors are that long, or the next
/// shorter ones.
void make_cpu(Target& opencl, long vector_bytes);

/// Returns all GPUs that Lathe can compile for: the first device of each kind, "opencl" and "cuda",
/// then the kinds of CUDA devices, "cuda:sm_90". A first device that is not here is an ordinary
/// one.
const std::vector<Target>& gpu_targets();

/// Returns a target by name; "native" is this machine, "opencl:1" the second device of this kind,
/// "cuda:sm_80" any device that has these instructions. Extras are added to the names of CPUs, in
/// any order: "aarch64+f16+dot". For an unknown name the error lists those that exist.
Target target_named(const std::string& name);

/// Returns this machine, with the extras that it has. The kernel tells which instructions there
/// are. The processor's name would not do: a virtual machine may lack some that the name promises.
Target native_target();

}  // namespace lathe
