// Backends: what makes code for machines, and runs it there. Each file X.cpp of this folder defines
// one; what only X needs is in X_*.cpp.
//
//   std::unique_ptr<Compiler> compiler = make_compiler(target);
//   std::unique_ptr<Device> device = make_device(target);
//   device->load(compiler->object({{"add", code}}));
//   device->launch({device->find("add"), {{memory.get(), 0}}, code.count()});
//
// A device has memory of its own, which the host may not see. Weights and what is between the
// layers of a network stay there; only inputs and outputs are copied.
#pragma once

#include <functional>
#include <memory>

#include "backends/backend_network.h"
#include "codegen/code.h"

namespace lathe {

/// How much a backend may do to the code before it chooses instructions.
enum class Effort {
  quick,    ///< nothing: what the schedule wrote is what runs
  thorough  ///< its usual passes
};

/// A kernel and the name that its function gets.
struct NamedCode {
  std::string symbol;
  Code code;
};

/// Compiles kernels for one target. A compiler belongs to one thread; several may work at a time.
class Compiler {
 public:
  virtual ~Compiler() = default;

  /// Returns what devices load and libraries hold, with a function for each kernel (runtime.h says
  /// how those of CPUs are called).
  virtual std::string object(const std::vector<NamedCode>& kernels) = 0;
  /// Returns the same in one of the backend's text forms.
  virtual std::string text(const std::string& form, const std::vector<NamedCode>& kernels) = 0;
};

/// Memory of a device. It begins with zeros, and is given back with this object.
class Memory {
 public:
  virtual ~Memory() = default;

  /// Copies bytes to the device, or from there, so many bytes behind the beginning.
  virtual void write(long offset, std::span<const std::byte> bytes) = 0;
  virtual void read(long offset, std::span<std::byte> bytes) const = 0;
  /// Returns all that it holds where the host can see it: the memory itself, or a copy that stays
  /// until the next call.
  virtual const std::byte* look() = 0;
};

/// A kernel that a device has loaded. What the handle is, the device knows.
struct Kernel {
  void* handle = nullptr;
};

/// One run of a kernel.
struct Launch {
  /// Where a tensor begins.
  struct Tensor {
    Memory* memory;
    long offset;  ///< in bytes
  };
  Kernel kernel;
  std::vector<Tensor> tensors;
  long count = 1;          ///< iterations of its outermost parallel loop
  long scratch_bytes = 0;  ///< of memory that each worker needs for itself
  Grid grid = {};          ///< of a GPU
};

/// A network on a device, ready to run. The device must outlive it.
class DeviceNetwork {
 public:
  virtual ~DeviceNetwork() = default;

  /// Reads inputs[i] and writes outputs[i], each dense and row-major, in the host's memory.
  virtual void run(const void* const* inputs, void* const* outputs) = 0;
  /// Runs one step alone, on the tensors of the last run. This is for measuring.
  virtual void run_step(size_t step) = 0;
  /// Lets "write" change the weights, and runs the first steps again. It gets the address of all
  /// weights in the host's memory.
  virtual void change_weights(const std::function<void(std::byte*)>& write) = 0;
};

/// A machine that runs kernels.
class Device {
 public:
  virtual ~Device() = default;

  /// Loads what a compiler for this machine made. Its kernels live as long as the device.
  virtual void load(const std::string& object) = 0;
  /// Finds a kernel in what was loaded.
  virtual Kernel find(const std::string& symbol) = 0;

  virtual std::unique_ptr<Memory> allocate(long bytes) = 0;

  /// Runs a kernel. On a CPU the calling thread does it all.
  virtual void launch(const Launch& launch) = 0;
  /// Runs a kernel and returns the seconds that it took, by the clock of the device.
  virtual double time(const Launch& launch) = 0;

  /// Makes a network ready to run, on a CPU with so many workers. Its kernels are loaded. "write"
  /// is called once: it writes so many bytes of weights to the address that it gets, in the host's
  /// memory.
  virtual std::unique_ptr<DeviceNetwork> start(const Tables& network, int workers,
                                               long weight_bytes,
                                               const std::function<void(std::byte*)>& write) = 0;
};

/// A language in which a backend shows code.
struct TextForm {
  std::string name;     ///< "asm"; no two backends have forms of the same name
  std::string summary;  ///< "assembly"
};

struct Backend {
  std::string name;     ///< "llvm"
  std::string summary;  ///< one line
  std::string version;  ///< of what makes the code: code that another version made is not the same
  std::vector<Architecture> architectures;  ///< that it makes code for; no other backend does
  std::vector<TextForm> forms;
  /// Returns the machines of this computer that it can run code on.
  std::vector<Target> (*here)();
  std::unique_ptr<Compiler> (*compiler)(const Target&, Effort);
  std::unique_ptr<Device> (*device)(const Target&);
  void (*write_library)(const LibraryParts&);
};

namespace backends {
/// Returns all backends, sorted by the names of their files.
const std::vector<Backend>& all();
}  // namespace backends

/// Returns the backend that makes code for a target.
const Backend& backend_for(const Target& target);

/// Returns what compiles for a target.
std::unique_ptr<Compiler> make_compiler(const Target& target, Effort effort = Effort::quick);

/// Returns the machine of this computer that runs code for a target.
std::unique_ptr<Device> make_device(const Target& target);

/// Returns a machine of this computer by the name of its target, with all that it has: "native",
/// "opencl:1". Fails if there is none.
Target machine_named(const std::string& name);

/// Returns a target by name, with all that the machine of this computer has, if there is one.
Target target_or_machine(const std::string& name);

/// Returns the text forms of all backends, by name.
std::vector<std::string> text_forms();

/// Returns kernels for a target in a text form. If its backend has no such form, the error lists
/// those that it has.
std::string print_kernels(const Target& target, const std::string& form,
                          const std::vector<NamedCode>& kernels);

}  // namespace lathe
