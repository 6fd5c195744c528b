// llvm.cpp: objects and the process. Interface: llvm.h.
#include "backends/llvm.h"

#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>

#include <map>

#include "backends/llvm_emit.h"
#include "backends/llvm_machine.h"
#include "base/error.h"

namespace lathe {
namespace {

[[noreturn]] void fail_with(llvm::Error error) {
  fail("code generation: {}", llvm::toString(std::move(error)));
}

}  // namespace

struct LlvmCompiler::State {
  /// What writes modules as files of one type. It is used again: to put the passes together takes
  /// as long as some of them do.
  struct Writer {
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream{bytes};
    llvm::legacy::PassManager passes;
  };
  Target target;
  Effort effort;
  std::unique_ptr<llvm::TargetMachine> machine;
  llvm::LLVMContext context;
  std::map<llvm::CodeGenFileType, Writer> writers;

  State(const Target& given, Effort given_effort)
      : target(given), effort(given_effort), machine(make_machine(given)) {}

  std::unique_ptr<llvm::Module> module_of(const std::vector<NamedCode>& kernels) {
    auto module = std::make_unique<llvm::Module>("lathe", context);
    module->setTargetTriple(target.triple);
    module->setDataLayout(machine->createDataLayout());
    for (const NamedCode& kernel : kernels) {
      emit_function(*module, kernel.symbol, kernel.code, target);
    }
    std::string problem;
    llvm::raw_string_ostream stream(problem);
    bool wrong = llvm::verifyModule(*module, &stream);
    check(!wrong, stream.str().c_str());
    if (effort == Effort::thorough) optimise(*module);
    return module;
  }

  void optimise(llvm::Module& module) {
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager calls;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder passes(machine.get());
    passes.registerModuleAnalyses(modules);
    passes.registerCGSCCAnalyses(calls);
    passes.registerFunctionAnalyses(functions);
    passes.registerLoopAnalyses(loops);
    passes.crossRegisterProxies(loops, functions, calls, modules);
    passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
  }

  /// Adds what addPassesToEmitFile() does, but for what brings nothing here.
  void add_passes(llvm::legacy::PassManager& passes, llvm::raw_pwrite_stream& stream,
                  llvm::CodeGenFileType type) {
    auto& generator = static_cast<llvm::LLVMTargetMachine&>(*machine);
    auto* info = new llvm::MachineModuleInfoWrapperPass(&generator);
    llvm::TargetPassConfig* config = generator.createPassConfig(passes);
    config->setDisableVerify(true);
    // The code is written in a good order, and for AArch64 put into a better one after registers
    // were chosen: there it need not be before.
    bool once = effort == Effort::quick && target.architecture == Architecture::aarch64;
    if (once) config->disablePass(&llvm::MachineSchedulerID);
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
    auto [entry, is_new] = writers.try_emplace(type);
    Writer& writer = entry->second;
    if (is_new) add_passes(writer.passes, writer.stream, type);
    writer.bytes.clear();
    writer.passes.run(*module);
    return {writer.bytes.data(), writer.bytes.size()};
  }
};

LlvmCompiler::LlvmCompiler(const Target& target, Effort effort) {
  state_ = std::make_unique<State>(target, effort);
}

LlvmCompiler::~LlvmCompiler() = default;

std::string LlvmCompiler::object(const std::vector<NamedCode>& kernels) {
  return state_->emitted(kernels, llvm::CodeGenFileType::ObjectFile);
}

std::string LlvmCompiler::assembly(const std::vector<NamedCode>& kernels) {
  return state_->emitted(kernels, llvm::CodeGenFileType::AssemblyFile);
}

std::string LlvmCompiler::ir(const std::vector<NamedCode>& kernels) {
  auto module = state_->module_of(kernels);
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, nullptr);
  return text;
}

struct Jit::State {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

Jit::Jit() {
  initialise_llvm();
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit) fail_with(jit.takeError());
  auto symbols = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!symbols) fail_with(symbols.takeError());
  (*jit)->getMainJITDylib().addGenerator(std::move(*symbols));
  state_ = std::make_unique<State>(State{std::move(*jit)});
}

Jit::~Jit() = default;

void Jit::add(const std::string& object) {
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(object, "kernels");
  if (auto error = state_->jit->addObjectFile(std::move(buffer))) fail_with(std::move(error));
}

void* Jit::find(const std::string& symbol) {
  auto address = state_->jit->lookup(symbol);
  if (!address) fail_with(address.takeError());
  return address->toPtr<void*>();
}

std::string llvm_version() { return LLVM_VERSION_STRING; }

}  // namespace lathe
