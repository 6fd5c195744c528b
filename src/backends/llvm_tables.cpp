// llvm_tables.cpp: the tables of a network as an object file. Interface: llvm_library.h.
//
// The structures are those of runtime.h, laid out by LLVM as C does for a 64-bit target.
#include "backends/llvm_tables.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/FileSystem.h>

#include <array>
#include <cstddef>

#include "backends/backend_runtime.h"
#include "backends/llvm_library.h"
#include "backends/llvm_machine.h"
#include "base/error.h"

namespace lathe {
namespace {

// What LLVM makes of the types below; on both architectures a pointer has 8 bytes.
static_assert(sizeof(lathe_place) == 16 && offsetof(lathe_place, index) == 4 &&
              offsetof(lathe_place, offset) == 8);
static_assert(sizeof(lathe_step) == 24 && offsetof(lathe_step, first) == 8 &&
              offsetof(lathe_step, tensors) == 12 && offsetof(lathe_step, count) == 16);
static_assert(sizeof(lathe_face) == 40 && offsetof(lathe_face, element) == 8 &&
              offsetof(lathe_face, rank) == 16 && offsetof(lathe_face, shape) == 24 &&
              offsetof(lathe_face, bytes) == 32);
static_assert(sizeof(lathe_launch) == 32 && offsetof(lathe_launch, blocks) == 8 &&
              offsetof(lathe_launch, threads) == 20);
static_assert(sizeof(lathe_module) == 16 && offsetof(lathe_module, bytes) == 8);
static_assert(sizeof(lathe_network) == 160 && offsetof(lathe_network, name) == 8 &&
              offsetof(lathe_network, target) == 16 && offsetof(lathe_network, steps) == 24 &&
              offsetof(lathe_network, places) == 28 && offsetof(lathe_network, inputs) == 32 &&
              offsetof(lathe_network, outputs) == 36 && offsetof(lathe_network, step) == 40 &&
              offsetof(lathe_network, place) == 48 && offsetof(lathe_network, input) == 56 &&
              offsetof(lathe_network, output) == 64 && offsetof(lathe_network, weights) == 72 &&
              offsetof(lathe_network, arena_bytes) == 80 &&
              offsetof(lathe_network, scratch_bytes) == 88 &&
              offsetof(lathe_network, prepared_bytes) == 96 &&
              offsetof(lathe_network, first_step) == 104 && offsetof(lathe_network, next) == 112 &&
              offsetof(lathe_network, machine) == 120 && offsetof(lathe_network, launch) == 128 &&
              offsetof(lathe_network, module) == 136 && offsetof(lathe_network, modules) == 144 &&
              offsetof(lathe_network, weight_bytes) == 152);
static_assert(LATHE_RUNTIME_VERSION == 4, "the structures changed: change the types below, too");

/// The functions of a library (api.h), with their types as letters: the result, then the arguments.
/// i: int, l: int64_t, p: a pointer, v: nothing.
struct LibraryFunction {
  const char* name;
  const char* types;
};
constexpr std::array library_functions = {
    LibraryFunction{"create", "pi"},
    LibraryFunction{"destroy", "vp"},
    LibraryFunction{"run", "ippp"},
    LibraryFunction{"repeat", "ipip"},
    LibraryFunction{"threads", "ip"},
    LibraryFunction{"error", "p"},
    LibraryFunction{"input_count", "i"},
    LibraryFunction{"input_name", "pi"},
    LibraryFunction{"input_element", "pi"},
    LibraryFunction{"input_rank", "ii"},
    LibraryFunction{"input_shape", "pi"},
    LibraryFunction{"input_bytes", "li"},
    LibraryFunction{"output_count", "i"},
    LibraryFunction{"output_name", "pi"},
    LibraryFunction{"output_element", "pi"},
    LibraryFunction{"output_rank", "ii"},
    LibraryFunction{"output_shape", "pi"},
    LibraryFunction{"output_bytes", "li"},
    LibraryFunction{"variant_count", "i"},
    LibraryFunction{"variant_for", "ip"},
    LibraryFunction{"create_variant", "pii"},
    LibraryFunction{"variant_input_shape", "pii"},
    LibraryFunction{"variant_input_bytes", "lii"},
    LibraryFunction{"variant_output_shape", "pii"},
    LibraryFunction{"variant_output_bytes", "lii"},
};

/// Puts the tables into a module.
class TableWriter {
 public:
  TableWriter(llvm::Module& module, const LibraryParts& parts, const char* machine)
      : module_(module),
        parts_(parts),
        variants_(parts.variants),
        machine_name_(machine),
        int_(llvm::Type::getInt32Ty(module.getContext())),
        long_(llvm::Type::getInt64Ty(module.getContext())),
        pointer_(llvm::PointerType::get(module.getContext(), 0)) {}

  void write() {
    weights_ = parts_.without_weights ? nothing() : elsewhere("lathe_weights");
    machine_ = modules_ = nothing();
    if (machine_name_ != nullptr) add_machine();
    // Each one refers to the next: the last is written first.
    network_ = nothing();
    for (size_t i = variants_.size(); i-- > 0;) network_ = network(variants_[i], network_);
    for (const LibraryFunction& function : library_functions) add_function(function);
  }

 private:
  llvm::Module& module_;
  const LibraryParts& parts_;
  const std::vector<Tables>& variants_;
  const char* machine_name_;
  llvm::IntegerType *int_, *long_;
  llvm::PointerType* pointer_;
  llvm::Constant *weights_ = nullptr, *network_ = nullptr, *machine_ = nullptr, *modules_ = nullptr;

  llvm::Constant* nothing() { return llvm::ConstantPointerNull::get(pointer_); }

  llvm::Constant* number(llvm::IntegerType* type, int64_t value) {
    return llvm::ConstantInt::getSigned(type, value);
  }

  llvm::GlobalVariable* constant(llvm::Constant* value, const char* name) {
    return new llvm::GlobalVariable(module_, value->getType(), /*isConstant=*/true,
                                    llvm::GlobalValue::PrivateLinkage, value, name);
  }

  llvm::Constant* text(const std::string& value) {
    return constant(llvm::ConstantDataArray::getString(module_.getContext(), value), "text");
  }

  llvm::Constant* array(llvm::Type* type, const std::vector<llvm::Constant*>& values,
                        const char* name) {
    return constant(llvm::ConstantArray::get(llvm::ArrayType::get(type, values.size()), values),
                    name);
  }

  llvm::Constant* structure(llvm::StructType* type, const std::vector<llvm::Constant*>& values) {
    return llvm::ConstantStruct::get(type, values);
  }

  /// Refers to something hidden that another object, or the assembly, defines.
  llvm::Constant* hidden(llvm::GlobalValue* value) {
    value->setVisibility(llvm::GlobalValue::HiddenVisibility);
    value->setDSOLocal(true);
    return value;
  }

  /// Refers to data that another object, or the assembly, defines.
  llvm::Constant* elsewhere(const char* name) {
    auto* type = llvm::Type::getInt8Ty(module_.getContext());
    return hidden(llvm::cast<llvm::GlobalVariable>(module_.getOrInsertGlobal(name, type)));
  }

  /// Adds the kernels of a GPU, as texts, and refers to what runs them.
  void add_machine() {
    machine_ = elsewhere(machine_name_);
    auto* type = llvm::StructType::get(pointer_, long_);
    std::vector<llvm::Constant*> rows;
    for (std::string_view code : parts_.kernels) {
      rows.push_back(structure(
          type, {text(std::string(code)), number(long_, static_cast<int64_t>(code.size()))}));
    }
    modules_ = array(type, rows, "modules");
  }

  llvm::Constant* kernel(const std::string& symbol) {
    if (machine_name_ != nullptr) return nothing();
    auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(module_.getContext()),
                                         {pointer_, pointer_, long_, long_}, false);
    auto callee = module_.getOrInsertFunction(symbol, type);
    return hidden(llvm::cast<llvm::Function>(callee.getCallee()));
  }

  llvm::Constant* steps(const Tables& tables) {
    auto* type = llvm::StructType::get(pointer_, int_, int_, long_);
    std::vector<llvm::Constant*> rows;
    for (const TableStep& step : tables.steps) {
      rows.push_back(structure(type, {kernel(step.symbol), number(int_, step.first),
                                      number(int_, step.tensors), number(long_, step.count)}));
    }
    return array(type, rows, "steps");
  }

  llvm::Constant* launches(const Tables& tables) {
    if (machine_name_ == nullptr) return nothing();
    auto* three = llvm::ArrayType::get(int_, 3);
    auto* type = llvm::StructType::get(pointer_, three, three);
    std::vector<llvm::Constant*> rows;
    auto triple = [&](const int32_t(&values)[3]) {
      return llvm::ConstantArray::get(
          three, {number(int_, values[0]), number(int_, values[1]), number(int_, values[2])});
    };
    for (const TableStep& step : tables.steps) {
      lathe_launch launch = launch_of(step);
      rows.push_back(
          structure(type, {text(step.symbol), triple(launch.blocks), triple(launch.threads)}));
    }
    return array(type, rows, "launches");
  }

  llvm::Constant* places(const Tables& tables) {
    auto* type = llvm::StructType::get(int_, int_, long_);
    std::vector<llvm::Constant*> rows;
    for (const lathe_place& place : tables.places) {
      rows.push_back(structure(type, {number(int_, place.where), number(int_, place.index),
                                      number(long_, place.offset)}));
    }
    return array(type, rows, "places");
  }

  llvm::Constant* faces(const std::vector<TableFace>& list, const char* name) {
    auto* type = llvm::StructType::get(pointer_, pointer_, int_, pointer_, long_);
    std::vector<llvm::Constant*> rows;
    for (const TableFace& face : list) {
      std::vector<llvm::Constant*> shape;
      for (int64_t extent : face.shape) shape.push_back(number(long_, extent));
      rows.push_back(structure(type, {text(face.name), text(face.element),
                                      number(int_, static_cast<int64_t>(shape.size())),
                                      array(long_, shape, "shape"), number(long_, face.bytes)}));
    }
    return array(type, rows, name);
  }

  llvm::Constant* count(size_t n) { return number(int_, static_cast<int64_t>(n)); }

  llvm::Constant* network(const Tables& tables, llvm::Constant* next) {
    auto* type = llvm::StructType::get(int_, pointer_, pointer_, int_, int_, int_, int_, pointer_,
                                       pointer_, pointer_, pointer_, pointer_, long_, long_, long_,
                                       long_, pointer_, pointer_, pointer_, pointer_, long_, long_);
    size_t modules = machine_name_ == nullptr ? 0 : parts_.kernels.size();
    const llvm::DataLayout& layout = module_.getDataLayout();
    check(layout.getTypeAllocSize(type) == sizeof(lathe_network), "LLVM lays structures out as C");
    return constant(structure(type, {number(int_, LATHE_RUNTIME_VERSION),
                                     text(tables.name),
                                     text(full_name(tables.target, tables.needs)),
                                     count(tables.steps.size()),
                                     count(tables.places.size()),
                                     count(tables.inputs.size()),
                                     count(tables.outputs.size()),
                                     steps(tables),
                                     places(tables),
                                     faces(tables.inputs, "inputs"),
                                     faces(tables.outputs, "outputs"),
                                     weights_,
                                     number(long_, tables.arena_bytes),
                                     number(long_, tables.scratch_bytes),
                                     number(long_, tables.prepared_bytes),
                                     number(long_, tables.first_step),
                                     next,
                                     machine_,
                                     launches(tables),
                                     modules_,
                                     number(long_, static_cast<int64_t>(modules)),
                                     number(long_, static_cast<int64_t>(parts_.weights.size()))}),
                    "network");
  }

  llvm::Type* type_of(char letter) {
    switch (letter) {
      case 'i':
        return int_;
      case 'l':
        return long_;
      case 'p':
        return pointer_;
      default:
        return llvm::Type::getVoidTy(module_.getContext());
    }
  }

  /// Defines NAME_x(a, ...) as lathe_api_x(&network, a, ...).
  void add_function(const LibraryFunction& function) {
    llvm::Type* result = type_of(function.types[0]);
    std::vector<llvm::Type*> types;
    for (const char* at = function.types + 1; *at != 0; ++at) types.push_back(type_of(*at));
    auto* outer = llvm::Function::Create(llvm::FunctionType::get(result, types, false),
                                         llvm::Function::ExternalLinkage,
                                         variants_.front().name + "_" + function.name, module_);
    types.insert(types.begin(), pointer_);
    auto callee = module_.getOrInsertFunction(std::string("lathe_api_") + function.name,
                                              llvm::FunctionType::get(result, types, false));
    hidden(llvm::cast<llvm::Function>(callee.getCallee()));
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module_.getContext(), "", outer));
    std::vector<llvm::Value*> arguments = {network_};
    for (llvm::Argument& argument : outer->args()) arguments.push_back(&argument);
    llvm::CallInst* call = builder.CreateCall(callee, arguments);
    call->setTailCall();
    if (result->isVoidTy()) {
      builder.CreateRetVoid();
    } else {
      builder.CreateRet(call);
    }
  }
};

void write_module(llvm::Module& module, llvm::TargetMachine& machine, const std::string& path) {
  std::string problem;
  llvm::raw_string_ostream problem_to(problem);
  check(!llvm::verifyModule(module, &problem_to), problem);
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (code) fail("cannot write '{}': {}", path, code.message());
  llvm::legacy::PassManager passes;
  bool refused =
      machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile);
  check(!refused, "LLVM writes objects for its targets");
  passes.run(module);
  stream.close();
  if (!stream.has_error()) return;
  code = stream.error();
  stream.clear_error();
  fail("cannot write '{}': {}", path, code.message());
}

/// Writes a path as assembly does a string.
std::string quoted(const std::string& path) {
  std::string text = "\"";
  for (char c : path) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

}  // namespace

std::vector<std::string> exported_names(const std::string& name) {
  std::vector<std::string> names;
  for (const LibraryFunction& function : library_functions)
    names.push_back(name + "_" + function.name);
  return names;
}

void write_tables(const LibraryParts& parts, const char* machine_name,
                  const std::string& weights_file, const std::string& object_file) {
  const Target& target = parts.host;
  std::unique_ptr<llvm::TargetMachine> machine = make_machine(target);
  llvm::LLVMContext context;
  llvm::Module module("tables", context);
  module.setTargetTriple(target.triple);
  module.setDataLayout(machine->createDataLayout());
  // Not through LLVM's constants: weights may be hundreds of megabytes.
  if (!parts.without_weights) {
    module.setModuleInlineAsm(
        fmt::format(".section .rodata.lathe_weights,\"a\",%progbits\n"
                    ".balign 64\n"
                    ".globl lathe_weights\n"
                    ".hidden lathe_weights\n"
                    "lathe_weights:\n"
                    ".incbin {}\n",
                    quoted(weights_file)));
  }
  TableWriter(module, parts, machine_name).write();
  write_module(module, *machine, object_file);
}

void write_assembly(const Target& target, const std::string& assembly,
                    const std::string& object_file) {
  std::unique_ptr<llvm::TargetMachine> machine = make_machine(target);
  llvm::LLVMContext context;
  llvm::Module module("assembly", context);
  module.setTargetTriple(target.triple);
  module.setDataLayout(machine->createDataLayout());
  module.setModuleInlineAsm(assembly);
  write_module(module, *machine, object_file);
}

}  // namespace lathe
