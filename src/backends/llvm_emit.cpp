// llvm_emit.cpp: vector code to LLVM's language, one instruction at a time. Interface: llvm_emit.h.
//
// Variables are values in registers from the start: where a loop sets one that was set before it,
// the loop begins with a phi.
#include "backends/llvm_emit.h"

#include <llvm/IR/IRBuilder.h>

#include <map>
#include <set>
#include <utility>

#include "backends/llvm_addresses.h"
#include "backends/llvm_broadcast.h"
#include "backends/llvm_machine.h"
#include "backends/llvm_math.h"
#include "backends/llvm_memory.h"
#include "backends/llvm_nvptx.h"
#include "backends/llvm_panels.h"
#include "backends/llvm_values.h"
#include "base/error.h"

namespace lathe {
namespace {

using llvm::Value;

class Emitter {
 public:
  Emitter(llvm::Module& module, const std::string& symbol, const Code& code, const Target& target)
      : context_(module.getContext()),
        code_(code),
        builder_(context_),
        math_(builder_, module, target.architecture),
        addresses_(builder_, code, index_type(module.getContext(), code, target)),
        target_(target),
        values_(builder_, math_, code, target),
        memory_(builder_, math_, addresses_, values_, code, target),
        broadcasts_(builder_, target) {
    llvm::FastMathFlags flags;
    flags.setAllowContract(true);
    builder_.setFastMathFlags(flags);
    if (target.is_gpu()) {
      function_ = nvptx_entry(module, symbol, code);
      return;
    }
    llvm::Type* pointer = builder_.getPtrTy();
    llvm::Type* integer = builder_.getInt64Ty();
    auto* type =
        llvm::FunctionType::get(builder_.getVoidTy(), {pointer, pointer, integer, integer}, false);
    function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module);
    function_->addFnAttr("target-features", features_for(target, code.needs));
    function_->addFnAttr("no-trapping-math", "true");
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    if (target.cpu.vector_bytes == 64) {
      function_->addFnAttr("prefer-vector-width", "512");
      function_->addFnAttr("min-legal-vector-width", "512");
    }
  }

  void run() {
    builder_.SetInsertPoint(new_block("entry"));
    addresses_.begin(bases());
    if (target_.is_gpu()) {
      std::vector<long> extents;
      for (const Code::Axis& axis : code_.axes) extents.push_back(axis.extent);
      addresses_.enter_shared(nvptx_axes(builder_, code_), extents);
      emit(code_.body);
    } else if (code_.parallel.empty()) {
      emit(code_.body);
    } else {
      emit_shared();
    }
    builder_.CreateRetVoid();
  }

 private:
  using Pieces = LlvmValues::Pieces;
  llvm::LLVMContext& context_;
  const Code& code_;
  llvm::IRBuilder<> builder_;
  LlvmMath math_;
  LlvmAddresses addresses_;
  const Target& target_;
  LlvmValues values_;
  LlvmMemory memory_;
  LlvmBroadcasts broadcasts_;
  llvm::Function* function_;

  Number number(size_t variable) const { return values_.number(variable); }
  long lanes(size_t variable) const { return values_.lanes(variable); }

  llvm::BasicBlock* new_block(const char* name) {
    return llvm::BasicBlock::Create(context_, name, function_);
  }

  static llvm::IntegerType* index_type(llvm::LLVMContext& context, const Code& code,
                                       const Target& target) {
    return target.is_gpu() ? nvptx_index(context, code) : llvm::Type::getInt64Ty(context);
  }

  Value* constant(long value) { return addresses_.constant(value); }

  /// Returns where tensors begin. On a CPU the first argument points to their addresses, and the
  /// second to the worker's own memory.
  std::map<size_t, Value*> bases() {
    if (target_.is_gpu()) return nvptx_bases(builder_, function_, code_);
    std::map<size_t, Value*> result;
    std::vector<size_t> arguments = arguments_of(code_);
    for (size_t i = 0; i < arguments.size(); ++i) {
      Value* place =
          builder_.CreateConstInBoundsGEP1_64(builder_.getPtrTy(), function_->getArg(0), i);
      result[arguments[i]] = builder_.CreateLoad(builder_.getPtrTy(), place);
    }
    for (size_t t = 0; t < code_.tensors.size(); ++t) {
      if (code_.scratch[t] < 0) continue;
      Value* own = function_->getArg(1);
      result[t] = code_.scratch[t] == 0
                      ? own
                      : builder_.CreateGEP(builder_.getInt8Ty(), own, constant(code_.scratch[t]));
    }
    return result;
  }

  // ---- loops ------------------------------------------------------------------------------

  /// The iterations of the parallel loops that this call was given.
  void emit_shared() {
    Value *from = function_->getArg(2), *to = function_->getArg(3);
    llvm::BasicBlock *body = new_block("shared"), *done = new_block("done");
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    builder_.CreateCondBr(builder_.CreateICmpSLT(from, to), body, done);
    builder_.SetInsertPoint(body);
    llvm::PHINode* index = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    index->addIncoming(from, before);
    Value* rest = index;
    std::vector<Value*> coordinates(code_.parallel.size());
    for (size_t d = coordinates.size(); d-- > 0;) {
      Value* extent = constant(code_.parallel[d]);
      coordinates[d] = d == 0 ? rest : builder_.CreateURem(rest, extent);
      if (d > 0) rest = builder_.CreateUDiv(rest, extent);
    }
    addresses_.enter_shared(coordinates, code_.parallel);
    emit(code_.body);
    Value* next = builder_.CreateAdd(index, constant(1));
    index->addIncoming(next, builder_.GetInsertBlock());
    builder_.CreateCondBr(builder_.CreateICmpSLT(next, to), body, done);
    builder_.SetInsertPoint(done);
  }

  void find_set(const Block& block, std::set<size_t>& set) const {
    using Kind = Instruction::Kind;
    for (const Instruction& i : block) {
      bool sets = i.kind != Kind::loop && i.kind != Kind::guard && i.kind != Kind::store &&
                  i.kind != Kind::prefetch && i.kind != Kind::barrier;
      if (sets) set.insert(i.to);
      find_set(i.body, set);
    }
  }

  /// Returns the variables that have a value and that "block" sets again.
  std::vector<size_t> carried(const Block& block) const {
    std::set<size_t> set;
    find_set(block, set);
    std::vector<size_t> result;
    for (size_t v : set) {
      if (!values_[v].empty()) result.push_back(v);
    }
    return result;
  }

  void emit_loop(const Instruction& loop) {
    std::vector<size_t> variables = carried(loop.body);
    llvm::BasicBlock *before = builder_.GetInsertBlock(), *body = new_block("loop");
    auto starts = addresses_.starts(loop);
    builder_.CreateBr(body);
    builder_.SetInsertPoint(body);
    Value* first = constant(loop.from);
    llvm::PHINode* index = builder_.CreatePHI(first->getType(), 2);
    index->addIncoming(first, before);
    LlvmAddresses::Loop addresses = addresses_.enter(starts, before);
    std::vector<llvm::PHINode*> phis;
    for (size_t v : variables) {
      for (Value*& piece : values_[v]) {
        phis.push_back(builder_.CreatePHI(piece->getType(), 2));
        phis.back()->addIncoming(std::exchange(piece, phis.back()), before);
      }
    }
    addresses_.set(loop, index);
    emit(loop.body);
    addresses_.leave(loop, std::move(addresses));
    llvm::BasicBlock *last = builder_.GetInsertBlock(), *after = new_block("after");
    auto phi = phis.begin();
    for (size_t v : variables) {
      for (Value* piece : values_[v]) (*phi++)->addIncoming(piece, last);
    }
    Value* next = builder_.CreateAdd(index, constant(1));
    index->addIncoming(next, last);
    builder_.CreateCondBr(builder_.CreateICmpSLT(next, constant(loop.end)), body, after);
    builder_.SetInsertPoint(after);
  }

  void emit_guard(const Instruction& guard) {
    Value* holds = addresses_.holds(guard.guard);
    std::vector<size_t> variables = carried(guard.body);
    std::map<size_t, Pieces> old;
    for (size_t v : variables) old[v] = values_[v];
    llvm::BasicBlock *before = builder_.GetInsertBlock(), *body = new_block("then"),
                     *after = new_block("after");
    builder_.CreateCondBr(holds, body, after);
    builder_.SetInsertPoint(body);
    emit(guard.body);
    llvm::BasicBlock* last = builder_.GetInsertBlock();
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
    for (size_t v : variables) {
      for (size_t k = 0; k < values_[v].size(); ++k) {
        llvm::PHINode* phi = builder_.CreatePHI(old[v][k]->getType(), 2);
        phi->addIncoming(old[v][k], before);
        phi->addIncoming(values_[v][k], last);
        values_[v][k] = phi;
      }
    }
  }

  // ---- instructions -----------------------------------------------------------------------

  void emit(const Block& block) {
    Squares squares = memory_.squares(block);
    std::set<size_t> inside;
    for (const auto& [at, members] : squares) inside.insert(members.begin(), members.end());
    for (size_t k = 0; k < block.size(); ++k) {
      auto square = squares.find(k);
      if (square != squares.end()) {
        std::vector<const Instruction*> columns;
        for (size_t m : square->second) columns.push_back(&block[m]);
        memory_.move_square(columns);
      } else if (!inside.contains(k)) {
        emit(block[k]);
      }
    }
  }

  /// Converts a variable to another type.
  Pieces convert(const Instruction& i) {
    size_t from = i.args[0];
    long count = lanes(i.to), each = values_.width(count, number(from));
    // Pieces of one size are converted one by one.
    long part = size_of(number(from)) == size_of(number(i.to))
                    ? each
                    : std::max(values_.converted_at_once(count, number(i.to)),
                               values_.converted_at_once(count, number(from)));
    Pieces result;
    for (long first = 0; first < count; first += part) {
      Value* value =
          math_.converted(values_.part_of(values_[from], each, first, part), number(from));
      result.append(values_.taken_apart(value, part, number(i.to)));
    }
    return result;
  }

  void emit(const Instruction& i) {
    using Kind = Instruction::Kind;
    if (i.kind == Kind::store) {
      math_.compute_in(number(i.args[0]));
    } else if (i.kind != Kind::loop && i.kind != Kind::guard && i.kind != Kind::prefetch &&
               i.kind != Kind::barrier) {
      math_.compute_in(number(i.to));
    }
    switch (i.kind) {
      case Kind::loop:
        return emit_loop(i);
      case Kind::guard:
        return emit_guard(i);
      case Kind::load:
        return memory_.load(i);
      case Kind::store:
        return memory_.store(i);
      case Kind::barrier:
        check(target_.is_gpu(), "only kernels of GPUs have barriers");
        return nvptx_barrier(builder_);
      case Kind::prefetch:
        return memory_.prefetch(i);
      case Kind::number:
        values_[i.to] = {math_.number(i.number)};
        return;
      case Kind::apply:
        values_[i.to] = divides_by_one(i) ? divided_by_one(i)
                                          : in_pieces(i, [&](const std::vector<Value*>& args) {
                                              return math_.apply(i.op, args);
                                            });
        return;
      case Kind::fma:
        values_[i.to] = in_pieces(i, [&](const std::vector<Value*>& args) {
          Value* result =
              broadcasts_.fma(args[0], args[1], args[2], values_.pieces(lanes(i.to), number(i.to)));
          return result != nullptr ? result : math_.fma(args[0], args[1], args[2]);
        });
        return;
      case Kind::dot:
        values_[i.to] = dot(i);
        return;
      case Kind::matrix:
        values_[i.to] = matrix(i);
        return;
      case Kind::panels:
        values_[i.to] = {
            add_panels(builder_, memory_.shape_of(i.to),
                       {values_[i.args[0]].front(), values_[i.args[1]].front(), number(i.args[0]),
                        number(i.args[1]), memory_.shape_of(i.args[0]).bytes},
                       values_[i.args[2]].front())};
        return;
      case Kind::splat: {
        if (lanes(i.to) == 1) {
          values_[i.to] = {builder_.CreateExtractElement(values_.whole(i.args[0]),
                                                         static_cast<uint64_t>(i.lane))};
          return;
        }
        Number type = number(i.to);
        long from = values_.width(lanes(i.args[0]), type), count = lanes(i.to);
        std::vector<int> mask(static_cast<size_t>(values_.width(count, type)),
                              static_cast<int>(i.lane % from));
        Value* piece = values_[i.args[0]][static_cast<size_t>(i.lane / from)];
        values_[i.to] =
            Pieces(values_.pieces(count, type), builder_.CreateShuffleVector(piece, mask));
        return;
      }
      case Kind::copy:
        values_[i.to] = values_.widened(i.args[0], lanes(i.to));
        return;
      case Kind::convert:
        values_[i.to] = convert(i);
        return;
      case Kind::sum:
        values_[i.to] = {math_.sum(values_.whole(i.args[0]))};
        return;
      case Kind::maximum:
        values_[i.to] = {math_.greatest(values_.whole(i.args[0]))};
        return;
    }
  }

  /// Are many numbers divided by one?
  bool divides_by_one(const Instruction& i) const {
    return i.op == Expr::Op::div && !target_.is_gpu() && number(i.to) == Number::f32 &&
           lanes(i.args[1]) == 1 && lanes(i.args[0]) == lanes(i.to) && lanes(i.to) > 1;
  }

  Pieces divided_by_one(const Instruction& i) {
    Value* divisor = values_[i.args[1]].front();
    Value* one = llvm::ConstantFP::get(divisor->getType(), 1);
    long each = values_.width(lanes(i.to), number(i.to));
    Value* reciprocal = math_.widened(builder_.CreateFDiv(one, divisor), each);
    Value* wide = math_.widened(divisor, each);
    Pieces result;
    for (Value* x : values_[i.args[0]]) {
      result.push_back(math_.divided_by_one(x, wide, reciprocal));
    }
    return result;
  }

  /// Adds a piece of products to each piece of the sums.
  Pieces dot(const Instruction& i) {
    Number factors = number(i.args[0]);
    const Pieces &own = values_[i.args[0]], &sums = values_[i.args[2]];
    check(own.size() == sums.size(), "a register of factors belongs to each register of sums");
    Value* common = group(i.args[1], i.lane, own.front()->getType());
    Pieces result;
    for (size_t k = 0; k < sums.size(); ++k) {
      result.push_back(math_.dot(own[k], common, sums[k], factors));
    }
    return result;
  }

  /// Adds a product of matrices to the sums of a thread.
  Pieces matrix(const Instruction& i) {
    std::vector<Value*> args;
    for (size_t a : i.args) args.push_back(values_.whole(a));
    Value* sums = nvptx_matrix(builder_, number(i.args[0]), args);
    return values_.taken_apart(sums, lanes(i.to), number(i.to));
  }

  /// Returns a group of neighbours, as many as have the bytes of a sum, in all lanes of a register.
  Value* group(size_t variable, long index, llvm::Type* type) {
    constexpr unsigned bits_of_sum = 32;
    unsigned words = static_cast<unsigned>(type->getPrimitiveSizeInBits()) / bits_of_sum;
    Value* all = values_.whole(variable);
    llvm::Type* word = builder_.getInt32Ty();
    unsigned own = static_cast<unsigned>(all->getType()->getPrimitiveSizeInBits()) / bits_of_sum;
    if (own == 1) {
      all = builder_.CreateVectorSplat(words, builder_.CreateBitCast(all, word));
    } else {
      all = builder_.CreateBitCast(all, llvm::FixedVectorType::get(word, own));
      std::vector<int> mask(words, static_cast<int>(index));
      all = builder_.CreateShuffleVector(all, mask);
    }
    return builder_.CreateBitCast(all, type);
  }

  /// Computes each piece of the result from those of the operands.
  template <class Compute>
  Pieces in_pieces(const Instruction& i, Compute compute) {
    std::vector<Pieces> operands;
    for (size_t a : i.args) operands.push_back(values_.widened(a, lanes(i.to)));
    Pieces result;
    for (size_t k = 0; k < values_.pieces(lanes(i.to), number(i.to)); ++k) {
      std::vector<Value*> args;
      for (const Pieces& operand : operands) args.push_back(operand[k]);
      result.push_back(compute(args));
    }
    return result;
  }
};

}  // namespace

void emit_function(llvm::Module& module, const std::string& symbol, const Code& code,
                   const Target& target) {
  Emitter(module, symbol, code, target).run();
}

}  // namespace lathe
