// llvm_broadcast.cpp: LLVM 19 broadcasts into registers alone, so the instruction is written as
// text. Interface: llvm_broadcast.h.
#include "backends/llvm_broadcast.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/InlineAsm.h>

namespace lathe {
namespace {

/// With more vectors, loading the factor for each of them takes longer than one broadcast.
constexpr size_t most_vectors = 2;

/// Of so many factors, one is broadcast into a register.
constexpr long one_of = 3;

}  // namespace

llvm::LoadInst* LlvmBroadcasts::loaded(llvm::Value* factor) const {
  auto* load = llvm::dyn_cast_or_null<llvm::LoadInst>(llvm::getSplatValue(factor));
  if (load == nullptr || load->getParent() != builder_.GetInsertBlock()) return nullptr;
  for (const llvm::Instruction* i = load->getNextNode(); i != nullptr; i = i->getNextNode()) {
    if (i->mayWriteToMemory()) return nullptr;
  }
  return load;
}

llvm::Value* LlvmBroadcasts::fma(llvm::Value* a, llvm::Value* b, llvm::Value* c, size_t vectors) {
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(c->getType());
  bool whole = type != nullptr && type->getElementType()->isHalfTy() &&
               target_.architecture == Architecture::x86_64 &&
               type->getNumElements() == static_cast<unsigned>(target_.lanes(2));
  if (!whole || vectors > most_vectors) return nullptr;
  llvm::LoadInst* load = loaded(b);
  if (load == nullptr) {
    std::swap(a, b);
    load = loaded(b);
  }
  if (load == nullptr) return nullptr;
  if (load != last_) ++factors_;
  last_ = load;
  if (factors_ % one_of == 0) return nullptr;
  auto* signature = llvm::FunctionType::get(type, {type, type, builder_.getPtrTy()}, false);
  auto* instruction = llvm::InlineAsm::get(signature, "vfmadd231ph $3{1to32}, $2, $0", "=v,0,v,*m",
                                           /*hasSideEffects=*/false);
  llvm::CallInst* call = builder_.CreateCall(instruction, {c, a, load->getPointerOperand()});
  call->addParamAttr(2, llvm::Attribute::get(builder_.getContext(), llvm::Attribute::ElementType,
                                             builder_.getHalfTy()));
  call->setOnlyReadsMemory();
  call->setDoesNotThrow();
  return call;
}

}  // namespace lathe
