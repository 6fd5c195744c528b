// llvm_machine.cpp: LLVM's setup. Interface: llvm_machine.h.
#include "backends/llvm_machine.h"

#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>

#include <mutex>

#include "base/error.h"

namespace lathe {
namespace {

/// Sets an option of LLVM, and its default: the linker sets all options back to their defaults.
void set_option(const char* name, bool value) {
  auto& options = llvm::cl::getRegisteredOptions();
  auto found = options.find(name);
  check(found != options.end(), "LLVM has the options that are set");
  static_cast<llvm::cl::opt<bool>*>(found->second)->setInitialValue(value);
}

const char* feature_of(Extra extra, Architecture architecture) {
  bool arm = architecture == Architecture::aarch64;
  switch (extra) {
    case Extra::f16:
      return arm ? "+fullfp16" : "+avx512fp16";
    case Extra::i8_dot:
      return arm ? "+dotprod" : "+avx512vnni";
    case Extra::i8_matrix:
      return arm ? "+i8mm" : "+amx-tile,+amx-int8";
    case Extra::bf16_dot:
      return arm ? "+bf16" : "+avx512bf16";
    case Extra::bf16_matrix:
      return "+amx-tile,+amx-bf16";
    case Extra::f16_matrix:
      return "+amx-tile,+amx-fp16";
  }
  return "";
}

}  // namespace

std::string features_for(const Target& target, const std::set<Extra>& needs) {
  std::string features = target.features;
  for (Extra extra : needs) features += fmt::format(",{}", feature_of(extra, target.architecture));
  return features;
}

void initialise_llvm() {
  static std::once_flag once;  // LLVM's options belong to the process
  std::call_once(once, [] {
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64AsmParser();
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    // Loads moved together keep all their values alive at once, and spill.
    set_option("misched-cluster", false);
    // Pointers are stepped as the loops are: finding that out again takes longer than all the rest.
    set_option("disable-lsr", true);
    // It moves addresses to where they are used, which is where they are.
    set_option("disable-cgp", true);
    // Shared memory has less than 4 GiB.
    set_option("nvptx-short-ptr", true);
  });
}

std::unique_ptr<llvm::TargetMachine> make_machine(const Target& target) {
  initialise_llvm();
  std::string error;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(target.triple, error);
  if (found == nullptr) fail("target '{}': {}", target.name, error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  bool nvptx = target.architecture == Architecture::nvptx;
  std::string processor = nvptx ? fmt::format("sm_{}", target.gpu.capability) : "generic";
  return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(
      target.triple, processor, target.features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
      llvm::CodeGenOptLevel::Default));
}

}  // namespace lathe
