// llvm_compiler.cpp: LLVM's modules, passes and files. Interface: llvm_compiler.h.
#include "backends/llvm_compiler.h"

#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>

#include <map>
#include <utility>

#include "backends/llvm_emit.h"
#include "backends/llvm_machine.h"
#include "base/error.h"

namespace lathe {
namespace {

class LlvmCompiler : public Compiler {
 public:
  LlvmCompiler(const Target& given, Effort given_effort)
      : target_(given), effort_(given_effort), machine_(make_machine(given)) {
    context_.setDiagnosticHandlerCallBack(&note_error, &error_);
  }

  std::string object(const std::vector<NamedCode>& kernels) override {
    // Drivers of GPUs take assembly.
    return emitted(kernels, target_.is_gpu() ? llvm::CodeGenFileType::AssemblyFile
                                             : llvm::CodeGenFileType::ObjectFile);
  }

  std::string text(const std::string& form, const std::vector<NamedCode>& kernels) override {
    if (form == "asm") return emitted(kernels, llvm::CodeGenFileType::AssemblyFile);
    check(form == "llvm", "there are two forms");
    auto module = module_of(kernels);
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream, nullptr);
    return text;
  }

 private:
  /// What writes modules as files of one type. It is used again: to put the passes together takes
  /// as long as some of them do.
  struct Writer {
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream{bytes};
    llvm::legacy::PassManager passes;
  };
  Target target_;
  Effort effort_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::LLVMContext context_;
  std::string error_;  // what LLVM said of the code that is being written
  std::map<llvm::CodeGenFileType, Writer> writers_;

  std::unique_ptr<llvm::Module> module_of(const std::vector<NamedCode>& kernels) {
    auto module = std::make_unique<llvm::Module>("lathe", context_);
    module->setTargetTriple(target_.triple);
    module->setDataLayout(machine_->createDataLayout());
    for (const NamedCode& kernel : kernels) {
      emit_function(*module, kernel.symbol, kernel.code, target_);
    }
    std::string problem;
    llvm::raw_string_ostream stream(problem);
    bool wrong = llvm::verifyModule(*module, &stream);
    check(!wrong, stream.str().c_str());
    if (effort_ == Effort::thorough) optimise(*module);
    return module;
  }

  void optimise(llvm::Module& module) {
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager calls;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder passes(machine_.get());
    passes.registerModuleAnalyses(modules);
    passes.registerCGSCCAnalyses(calls);
    passes.registerFunctionAnalyses(functions);
    passes.registerLoopAnalyses(loops);
    passes.crossRegisterProxies(loops, functions, calls, modules);
    passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
  }

  /// Keeps an error. Without a handler, LLVM would print it and end the process.
  static void note_error(const llvm::DiagnosticInfo* info, void* error) {
    if (info->getSeverity() != llvm::DS_Error) return;
    auto& text = *static_cast<std::string*>(error);
    text.clear();
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info->print(printer);
  }

  /// Adds what addPassesToEmitFile() does, but for what brings nothing here.
  void add_passes(llvm::legacy::PassManager& passes, llvm::raw_pwrite_stream& stream,
                  llvm::CodeGenFileType type) {
    auto& generator = static_cast<llvm::LLVMTargetMachine&>(*machine_);
    auto* info = new llvm::MachineModuleInfoWrapperPass(&generator);
    llvm::TargetPassConfig* config = generator.createPassConfig(passes);
    config->setDisableVerify(true);
    // The code is written in a good order, and for AArch64 put into a better one after registers
    // were chosen: there it need not be before.
    bool once = effort_ == Effort::quick && target_.architecture == Architecture::aarch64;
    if (once) config->disablePass(&llvm::MachineSchedulerID);
    // It would take products that are added at once apart, to wait less for each: there are others
    // to compute meanwhile.
    bool adds_products = target_.architecture == Architecture::x86_64 && target_.has(Extra::i8_dot);
    if (adds_products) config->disablePass(&llvm::MachineCombinerID);
    passes.add(config);
    passes.add(info);
    bool refused = config->addISelPasses();
    config->addMachinePasses();
    config->setInitialized();
    refused = refused ||
              generator.addAsmPrinter(passes, stream, nullptr, type, info->getMMI().getContext());
    check(!refused, "LLVM writes objects and assembly for its targets");
    passes.add(llvm::createFreeMachineFunctionPass());
  }

  std::string emitted(const std::vector<NamedCode>& kernels, llvm::CodeGenFileType type) {
    auto module = module_of(kernels);
    // What writes PTX remembers the shared memory of functions that are gone.
    if (target_.is_gpu()) writers_.clear();
    auto [entry, is_new] = writers_.try_emplace(type);
    Writer& writer = entry->second;
    if (is_new) add_passes(writer.passes, writer.stream, type);
    writer.bytes.clear();
    writer.passes.run(*module);
    if (!error_.empty()) fail("code generation: {}", std::exchange(error_, ""));
    return {writer.bytes.data(), writer.bytes.size()};
  }
};

}  // namespace

std::unique_ptr<Compiler> llvm_compiler(const Target& target, Effort effort) {
  return std::make_unique<LlvmCompiler>(target, effort);
}

}  // namespace lathe
