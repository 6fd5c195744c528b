// Machine code through LLVM: kernels to objects, for this machine or another one, and objects into
// this process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codegen/code.h"

namespace lathe {

/// How much LLVM may do to the code before it chooses instructions.
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
class LlvmCompiler {
 public:
  explicit LlvmCompiler(const Target& target, Effort effort = Effort::quick);
  ~LlvmCompiler();

  /// Returns an object file with a function for each kernel (runtime.h says how they are called).
  std::string object(const std::vector<NamedCode>& kernels);
  /// Returns the same as text: LLVM's language, or assembly.
  std::string ir(const std::vector<NamedCode>& kernels);
  std::string assembly(const std::vector<NamedCode>& kernels);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Code in this process. Functions live as long as it does.
class Jit {
 public:
  Jit();
  ~Jit();

  /// Links an object file into the process.
  void add(const std::string& object);
  /// Returns the address of a function.
  void* find(const std::string& symbol);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns LLVM's version: code that another version made is not the same.
std::string llvm_version();

}  // namespace lathe
