// llvm_nvptx.cpp: entries, memory and threads of NVIDIA's GPUs. Interface: llvm_nvptx.h.
#include "backends/llvm_nvptx.h"

#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "codegen/ahead.h"

namespace lathe {
namespace {

using llvm::Value;
namespace intrinsics = llvm::Intrinsic;

// LLVM's numbers for memory.
constexpr unsigned global_memory = 1, shared_memory = 3, local_memory = 5;

/// The longest vector that is loaded at once. Weights and what a unit has for itself are aligned to
/// it; its inputs and outputs may begin within padding.
constexpr uint64_t vector_alignment = 16;

/// Gives memory of a thread values that are never used, one by one, so that it can still become
/// registers. A register without any, ptxas (13.0) takes for what is loaded into it somewhere, and
/// leaves out later loads of that.
void set_to_zeros(llvm::IRBuilder<>& builder, Value* base, Element element, long count) {
  bool real = is_float(element);
  llvm::Type* bits = builder.getIntNTy(static_cast<unsigned>(8 * size_of(element)));
  llvm::Type* type = element == Element::f64                     ? builder.getDoubleTy()
                     : real && size_of(element) == sizeof(float) ? builder.getFloatTy()
                                                                 : bits;
  for (long k = 0; k < count; ++k) {
    Value* at = builder.CreateConstInBoundsGEP1_64(type, base, static_cast<uint64_t>(k));
    builder.CreateAlignedStore(llvm::Constant::getNullValue(type), at,
                               llvm::Align(static_cast<uint64_t>(size_of(element))));
  }
}

intrinsics::ID intrinsic_of(Mark axis) {
  switch (axis) {
    case Mark::block_x:
      return intrinsics::nvvm_read_ptx_sreg_ctaid_x;
    case Mark::block_y:
      return intrinsics::nvvm_read_ptx_sreg_ctaid_y;
    case Mark::block_z:
      return intrinsics::nvvm_read_ptx_sreg_ctaid_z;
    case Mark::thread_x:
      return intrinsics::nvvm_read_ptx_sreg_tid_x;
    case Mark::thread_y:
      return intrinsics::nvvm_read_ptx_sreg_tid_y;
    case Mark::thread_z:
      return intrinsics::nvvm_read_ptx_sreg_tid_z;
    default:
      check(false, "only blocks and threads are axes");
      return intrinsics::not_intrinsic;
  }
}

/// Says what LLVM has no words for of its own: that a function is an entry, and its threads.
void annotate(llvm::Function* entry, const Code& code) {
  llvm::LLVMContext& context = entry->getContext();
  llvm::Type* type = llvm::Type::getInt32Ty(context);
  auto number = [&](long value) {
    return llvm::ConstantAsMetadata::get(llvm::ConstantInt::getSigned(type, value));
  };
  auto word = [&](const char* name) { return llvm::MDString::get(context, name); };
  llvm::Metadata* all[] = {llvm::ValueAsMetadata::get(entry), word("kernel"), number(1),
                           word("reqntidx"), number(code.extent(Mark::thread_x)), word("reqntidy"),
                           number(code.extent(Mark::thread_y)), word("reqntidz"),
                           number(code.extent(Mark::thread_z)),
                           // Else registers are saved for more blocks, and threads wait for loads.
                           word("minctasm"), number(1)};
  entry->getParent()
      ->getOrInsertNamedMetadata("nvvm.annotations")
      ->addOperand(llvm::MDNode::get(context, all));
}

/// Returns how a tensor is aligned where it begins.
llvm::Align base_alignment(const Tensor& tensor) {
  bool handed = tensor.role == Role::input || tensor.role == Role::output;
  return llvm::Align(handed ? static_cast<uint64_t>(size_of(tensor.element)) : vector_alignment);
}

/// Is everything that is computed from coordinates inside "block" smaller than 2 to the 31?
class Sizes {
 public:
  explicit Sizes(const Code& code) {
    for (const Code::Axis& axis : code.axes) largest_.push_back(static_cast<double>(axis.extent));
  }

  bool fit(const Block& block) {
    return std::all_of(block.begin(), block.end(), [&](const Instruction& i) { return fits(i); });
  }

 private:
  std::vector<double> largest_;  // of the coordinates

  bool fits(const Instruction& i) {
    constexpr auto limit = static_cast<double>(std::numeric_limits<int32_t>::max());
    for (const auto& floor : i.offset.floors) {
      if (largest(floor.of) >= limit) return false;
    }
    for (const auto& piece : i.guard) {
      for (const auto& constraint : piece) {
        if (largest(constraint.expression) >= limit) return false;
      }
    }
    if (i.kind == Instruction::Kind::loop) {
      if (largest_.size() <= i.depth) largest_.resize(i.depth + 1, 0);
      largest_[i.depth] = std::max(std::abs(static_cast<double>(i.from)),  //
                                   std::abs(static_cast<double>(i.end)));
      if (largest_[i.depth] >= limit) return false;
    }
    return fit(i.body);
  }

  /// Returns a bound of all that is computed on the way to a value.
  double largest(const poly::Affine& a) const {
    double sum = std::abs(static_cast<double>(a.constant));
    for (size_t i = 0; i < a.coefficients.size(); ++i) {
      double range = i < largest_.size() ? largest_[i] : 0;
      sum += std::abs(static_cast<double>(a.coefficients[i])) * range;
    }
    for (const auto& floor : a.floors) {
      sum += std::abs(static_cast<double>(floor.coefficient)) * largest(floor.of);
    }
    return sum + std::abs(static_cast<double>(a.divisor));
  }
};

}  // namespace

llvm::Function* nvptx_entry(llvm::Module& module, const std::string& symbol, const Code& code) {
  llvm::LLVMContext& context = module.getContext();
  std::vector<size_t> arguments = arguments_of(code);
  std::vector<llvm::Type*> types(arguments.size(), llvm::PointerType::get(context, global_memory));
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false);
  auto* entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module);
  entry->setCallingConv(llvm::CallingConv::PTX_Kernel);
  entry->addFnAttr(llvm::Attribute::NoUnwind);
  annotate(entry, code);
  std::vector<bool> written = written_tensors(code);
  bool waits = has_barrier(code.body);
  for (unsigned k = 0; k < arguments.size(); ++k) {
    bool changes = written[arguments[k]];
    entry->addParamAttr(
        k, llvm::Attribute::getWithAlignment(context, base_alignment(code.tensors[arguments[k]])));
    if (!changes) entry->addParamAttr(k, llvm::Attribute::ReadOnly);
    // What other threads wrote before a barrier is seen behind it: "noalias" would deny that.
    if (!changes || !waits) entry->addParamAttr(k, llvm::Attribute::NoAlias);
  }
  return entry;
}

std::map<size_t, Value*> nvptx_bases(llvm::IRBuilder<>& builder, llvm::Function* entry,
                                     const Code& code) {
  llvm::Module& module = *entry->getParent();
  std::map<size_t, Value*> bases;
  std::vector<size_t> arguments = arguments_of(code);
  for (unsigned k = 0; k < arguments.size(); ++k) bases[arguments[k]] = entry->getArg(k);
  for (size_t t = 0; t < code.tensors.size(); ++t) {
    if (!code.used[t] || code.spaces[t] == Space::global) continue;
    long bytes = std::max(1L, code.layouts[t].size) * size_of(code.tensors[t].element);
    auto* type = llvm::ArrayType::get(builder.getInt8Ty(), static_cast<uint64_t>(bytes));
    if (code.spaces[t] == Space::shared) {
      auto* tile = new llvm::GlobalVariable(
          module, type, false, llvm::GlobalValue::InternalLinkage, llvm::UndefValue::get(type),
          fmt::format("{}_shared_{}", entry->getName().str(), t), nullptr,
          llvm::GlobalValue::NotThreadLocal, shared_memory);
      tile->setAlignment(llvm::Align(vector_alignment));
      bases[t] = tile;
    } else {
      llvm::AllocaInst* own = builder.CreateAlloca(type);
      own->setAlignment(llvm::Align(vector_alignment));
      bases[t] = builder.CreateAddrSpaceCast(own, builder.getPtrTy(local_memory));
      if (is_stored_by_some(code.body, t)) {
        set_to_zeros(builder, bases[t], code.tensors[t].element, code.layouts[t].size);
      }
    }
  }
  return bases;
}

std::vector<Value*> nvptx_axes(llvm::IRBuilder<>& builder, const Code& code) {
  llvm::IntegerType* index = nvptx_index(builder.getContext(), code);
  std::vector<Value*> coordinates;
  for (const Code::Axis& axis : code.axes) {
    Value* coordinate = llvm::ConstantInt::get(index, 0);
    if (axis.extent > 1) {
      llvm::CallInst* read = builder.CreateIntrinsic(intrinsic_of(axis.mark), {}, {});
      llvm::MDBuilder metadata(builder.getContext());
      read->setMetadata(llvm::LLVMContext::MD_range,
                        metadata.createRange(llvm::APInt(32, 0),
                                             llvm::APInt(32, static_cast<uint64_t>(axis.extent))));
      coordinate = builder.CreateZExt(read, index);
    }
    coordinates.push_back(coordinate);
  }
  return coordinates;
}

void nvptx_barrier(llvm::IRBuilder<>& builder) {
  builder.CreateIntrinsic(intrinsics::nvvm_barrier0, {}, {});
}

Value* nvptx_matrix(llvm::IRBuilder<>& builder, Number factors, const std::vector<Value*>& args) {
  auto* group = llvm::cast<llvm::FixedVectorType>(args[0]->getType());
  bool wide = factors == Number::tf32;
  unsigned elements = wide ? 1 : 2;  // of a register
  unsigned registers = group->getNumElements() / elements;
  auto part = [&](Value* all, unsigned index) {
    llvm::SmallVector<int, 2> mask;
    for (unsigned k = 0; k < elements; ++k) mask.push_back(static_cast<int>(index * elements + k));
    Value* taken = builder.CreateShuffleVector(all, mask);
    if (factors == Number::f16) return taken;
    return builder.CreateBitCast(taken, builder.getInt32Ty());
  };
  auto instruction = factors == Number::tf32  ? intrinsics::nvvm_mma_m16n8k8_row_col_tf32
                     : factors == Number::f16 ? intrinsics::nvvm_mma_m16n8k16_row_col_f32_f32
                                              : intrinsics::nvvm_mma_m16n8k16_row_col_bf16;
  constexpr size_t sums = 4, first_sum = 3;
  std::vector<Value*> sum(args.begin() + first_sum, args.end());
  for (unsigned k = 0; k < registers; k += 2) {
    std::vector<Value*> operands = {part(args[0], k),     part(args[1], k), part(args[0], k + 1),
                                    part(args[1], k + 1), part(args[2], k), part(args[2], k + 1)};
    operands.insert(operands.end(), sum.begin(), sum.end());
    Value* all = builder.CreateIntrinsic(instruction, {}, operands);
    for (unsigned s = 0; s < sums; ++s) sum[s] = builder.CreateExtractValue(all, s);
  }
  Value* result = llvm::PoisonValue::get(llvm::FixedVectorType::get(builder.getFloatTy(), sums));
  for (size_t s = 0; s < sums; ++s) result = builder.CreateInsertElement(result, sum[s], s);
  return result;
}

llvm::IntegerType* nvptx_index(llvm::LLVMContext& context, const Code& code) {
  return Sizes(code).fit(code.body) ? llvm::Type::getInt32Ty(context)
                                    : llvm::Type::getInt64Ty(context);
}

llvm::Align nvptx_alignment(const Code& code, const Instruction& access, long further) {
  long bytes = size_of(code.tensors[access.tensor].element);
  if (!access.picked.empty()) return llvm::Align(static_cast<uint64_t>(bytes));
  long common = std::gcd(access.offset.constant + further, 0L);
  for (long c : access.offset.coefficients) common = std::gcd(common, c);
  for (const auto& floor : access.offset.floors) common = std::gcd(common, floor.coefficient);
  llvm::Align base = base_alignment(code.tensors[access.tensor]);
  // A quotient is a multiple of nothing that is known.
  auto step = static_cast<uint64_t>(access.offset.divisor == 1 ? common * bytes : bytes);
  return step == 0 ? base : llvm::commonAlignment(base, step);
}

}  // namespace lathe
