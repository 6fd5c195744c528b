// llvm_emit.cpp: vector code to LLVM's language, one instruction at a time. Interface: llvm_emit.h.
//
// Variables are values in registers from the start: where a loop sets one that was set before it,
// the loop begins with a phi. Values are as wide as the registers: a variable of more lanes is
// several of them, so that LLVM need not take anything apart.
#include "backends/llvm_emit.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

#include <array>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "backends/llvm_addresses.h"
#include "backends/llvm_machine.h"
#include "backends/llvm_math.h"
#include "backends/llvm_nvptx.h"
#include "backends/llvm_panels.h"
#include "backends/llvm_squares.h"
#include "base/error.h"
#include "codegen/ahead.h"

namespace lathe {
namespace {

using llvm::Value;

/// The side of the squares that are transposed: as many as a register of 16 bytes has lanes.
constexpr unsigned square_side = 4;

class Emitter {
 public:
  Emitter(llvm::Module& module, const std::string& symbol, const Code& code, const Target& target)
      : module_(module),
        context_(module.getContext()),
        code_(code),
        builder_(context_),
        math_(builder_, module, target.architecture),
        addresses_(builder_, code, index_type(module.getContext(), code, target)),
        target_(target),
        written_(written_tensors(code)),
        values_(code.variables.size()) {
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
    bases_ = bases();
    addresses_.begin(bases_);
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
  /// The value of a variable: its lanes in order, a register each.
  using Pieces = llvm::SmallVector<Value*, 4>;
  llvm::Module& module_;
  llvm::LLVMContext& context_;
  const Code& code_;
  llvm::IRBuilder<> builder_;
  LlvmMath math_;
  LlvmAddresses addresses_;
  const Target& target_;
  std::vector<bool> written_;  // tensors
  llvm::Function* function_;
  std::map<size_t, Value*> bases_;  // where tensors begin
  std::vector<Pieces> values_;

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

  long bytes_of(size_t tensor) const { return size_of(code_.tensors[tensor].element); }

  Number number(size_t variable) const { return code_.variables[variable].number; }

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

  /// Does a guard hold?
  Value* condition(const Guard& guard) {
    Value* any = builder_.getFalse();
    for (const auto& piece : guard) {
      Value* all = builder_.getTrue();
      for (const auto& c : piece) {
        Value* value = addresses_.integer(c.expression);
        Value* holds = c.equality ? builder_.CreateICmpEQ(value, constant(0))
                                  : builder_.CreateICmpSGE(value, constant(0));
        all = builder_.CreateAnd(holds, all);
      }
      any = builder_.CreateOr(all, any);
    }
    return any;
  }

  void emit_guard(const Instruction& guard) {
    Value* any = condition(guard.guard);
    std::vector<size_t> variables = carried(guard.body);
    std::map<size_t, Pieces> old;
    for (size_t v : variables) old[v] = values_[v];
    llvm::BasicBlock *before = builder_.GetInsertBlock(), *body = new_block("then"),
                     *after = new_block("after");
    builder_.CreateCondBr(any, body, after);
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
    Squares squares;
    if (!target_.is_gpu() && target_.lanes(size_of(Number::f32)) == square_side)
      squares = find_squares(code_, block, square_side);
    std::set<size_t> inside;
    for (const auto& [at, members] : squares) inside.insert(members.begin(), members.end());
    for (size_t k = 0; k < block.size(); ++k) {
      auto square = squares.find(k);
      if (square != squares.end()) {
        std::vector<const Instruction*> columns;
        for (size_t m : square->second) columns.push_back(&block[m]);
        block[k].kind == Instruction::Kind::load ? load_squares(columns) : store_squares(columns);
      } else if (!inside.contains(k)) {
        emit(block[k]);
      }
    }
  }

  long lanes(size_t variable) const { return code_.variables[variable].lanes; }

  /// Returns how many registers so many lanes are. Where they fill none evenly, each has a power of
  /// two of them: LLVM takes vectors of other sizes apart, lane by lane. Very short ones are left
  /// to LLVM all the same.
  size_t pieces(long count, Number number) const {
    constexpr long least_bytes = 16;
    long part = std::gcd(count, target_.lanes(size_of(number)));
    bool fits = number != Number::i64 && part * size_of(number) >= least_bytes;
    return fits ? static_cast<size_t>(count / part) : 1;
  }

  long width(long count, Number number) const {
    return count / static_cast<long>(pieces(count, number));
  }

  /// Returns a variable in so many lanes: it has them, or one that all of them repeat.
  Pieces widened(size_t variable, long count) {
    if (lanes(variable) == count) return values_[variable];
    Number type = number(variable);
    return Pieces(pieces(count, type),
                  math_.widened(values_[variable].front(), width(count, type)));
  }

  Pieces taken_apart(Value* all, long count, Number number) {
    if (pieces(count, number) == 1) return {all};
    Pieces result;
    long part = width(count, number);
    for (long first = 0; first < count; first += part) {
      llvm::SmallVector<int, 16> mask;
      for (long k = 0; k < part; ++k) mask.push_back(static_cast<int>(first + k));
      result.push_back(builder_.CreateShuffleVector(all, mask));
    }
    return result;
  }

  Value* put_together(const Pieces& parts) {
    return parts.size() == 1 ? parts.front() : llvm::concatenateVectors(builder_, parts);
  }

  /// Returns how many lanes are converted at once: a power of two that they consist of, and all if
  /// no piece is as short.
  long converted_at_once(long count, Number number) const {
    long part = count & -count;
    return part % width(count, number) == 0 ? part : count;
  }

  /// Returns some of the lanes of pieces that have "each" of them; the first and the last piece are
  /// whole.
  Value* part_of(const Pieces& all, long each, long first, long count) {
    auto begin = all.begin() + first / each;
    return put_together(Pieces(begin, begin + count / each));
  }

  /// Converts a variable to another type.
  Pieces convert(const Instruction& i) {
    size_t from = i.args[0];
    long count = lanes(i.to), each = width(count, number(from));
    // Pieces of one size are converted one by one.
    long part = size_of(number(from)) == size_of(number(i.to))
                    ? each
                    : std::max(converted_at_once(count, number(i.to)),
                               converted_at_once(count, number(from)));
    Pieces result;
    for (long first = 0; first < count; first += part) {
      Value* value = math_.converted(part_of(values_[from], each, first, part), number(from));
      result.append(taken_apart(value, part, number(i.to)));
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
        values_[i.to] = is_panel(i.to) ? load_rows(i) : load(i);
        return;
      case Kind::store:
        return is_panel(i.args[0]) ? store_rows(i) : store(i);
      case Kind::barrier:
        check(target_.is_gpu(), "only kernels of GPUs have barriers");
        return nvptx_barrier(builder_);
      case Kind::prefetch: {
        if (target_.is_gpu()) return;  // other threads run meanwhile
        llvm::Function* prefetch = llvm::Intrinsic::getDeclaration(
            &module_, llvm::Intrinsic::prefetch, {builder_.getPtrTy()});
        // For reading, kept in the second cache, as data.
        builder_.CreateCall(prefetch, {addresses_.of(i), builder_.getInt32(0), builder_.getInt32(2),
                                       builder_.getInt32(1)});
        return;
      }
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
          return math_.fma(args[0], args[1], args[2]);
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
            add_panels(builder_, shape_of(i.to),
                       {values_[i.args[0]].front(), values_[i.args[1]].front(), number(i.args[0]),
                        number(i.args[1]), shape_of(i.args[0]).bytes},
                       values_[i.args[2]].front())};
        return;
      case Kind::splat: {
        if (lanes(i.to) == 1) {
          values_[i.to] = {builder_.CreateExtractElement(put_together(values_[i.args[0]]),
                                                         static_cast<uint64_t>(i.lane))};
          return;
        }
        Number type = number(i.to);
        long from = width(lanes(i.args[0]), type), count = lanes(i.to);
        std::vector<int> mask(static_cast<size_t>(width(count, type)),
                              static_cast<int>(i.lane % from));
        Value* piece = values_[i.args[0]][static_cast<size_t>(i.lane / from)];
        values_[i.to] = Pieces(pieces(count, type), builder_.CreateShuffleVector(piece, mask));
        return;
      }
      case Kind::copy:
        values_[i.to] = widened(i.args[0], lanes(i.to));
        return;
      case Kind::convert:
        values_[i.to] = convert(i);
        return;
      case Kind::sum:
        values_[i.to] = {math_.sum(put_together(values_[i.args[0]]))};
        return;
      case Kind::maximum:
        values_[i.to] = {math_.greatest(put_together(values_[i.args[0]]))};
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
    long each = width(lanes(i.to), number(i.to));
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
    for (size_t a : i.args) args.push_back(put_together(values_[a]));
    Value* sums = nvptx_matrix(builder_, number(i.args[0]), args);
    return taken_apart(sums, lanes(i.to), number(i.to));
  }

  /// Returns a group of neighbours, as many as have the bytes of a sum, in all lanes of a register.
  Value* group(size_t variable, long index, llvm::Type* type) {
    constexpr unsigned bits_of_sum = 32;
    unsigned words = static_cast<unsigned>(type->getPrimitiveSizeInBits()) / bits_of_sum;
    Value* all = put_together(values_[variable]);
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
    for (size_t a : i.args) operands.push_back(widened(a, lanes(i.to)));
    Pieces result;
    for (size_t k = 0; k < pieces(lanes(i.to), number(i.to)); ++k) {
      std::vector<Value*> args;
      for (const Pieces& operand : operands) args.push_back(operand[k]);
      result.push_back(compute(args));
    }
    return result;
  }

  /// Returns how an element is aligned that lies so many further than an access says. CPUs do not
  /// ask for more than an element has.
  llvm::Align alignment(const Instruction& i, long further = 0) const {
    if (target_.is_gpu()) return nvptx_alignment(code_, i, further);
    return llvm::Align(static_cast<uint64_t>(bytes_of(i.tensor)));
  }

  // ---- panels -----------------------------------------------------------------------------

  bool is_panel(size_t variable) const { return code_.variables[variable].rows > 0; }

  PanelShape shape_of(size_t variable) const {
    return {code_.variables[variable].rows, lanes(variable) * size_of(number(variable))};
  }

  Pieces load_rows(const Instruction& i) {
    return {
        load_panel(builder_, shape_of(i.to), addresses_.of(i), i.row_stride * bytes_of(i.tensor))};
  }

  void store_rows(const Instruction& i) {
    size_t panel = i.args[0];
    store_panel(builder_, shape_of(panel), values_[panel].front(), addresses_.of(i),
                i.row_stride * bytes_of(i.tensor));
  }

  /// Loads from so many elements further than an access says.
  Value* load_at(llvm::Type* type, const Instruction& i, long further) {
    Value* at = addresses_.of(i, further);
    // Where the guard does not hold, any element will do.
    if (!i.guard.empty()) at = builder_.CreateSelect(condition(i.guard), at, bases_.at(i.tensor));
    return marked(builder_.CreateAlignedLoad(type, at, alignment(i, further)), i);
  }

  /// Says of a load on a GPU that nothing changes what it reads, if so: it has a cache of its own.
  Value* marked(llvm::LoadInst* load, const Instruction& i) {
    if (target_.is_gpu() && !written_[i.tensor] && code_.spaces[i.tensor] == Space::global) {
      load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
    }
    return load;
  }

  /// Must the lanes be converted one by one? LLVM 19 loses the last of three
  /// bytes on AArch64.
  bool is_odd(long count, size_t tensor, Number number) const {
    bool even = (count & (count - 1)) == 0;
    return !even && bytes_of(tensor) != size_of(number);
  }

  /// Elements of another size than the numbers are converted many at once: a register holds more of
  /// them, or fewer.
  Pieces load(const Instruction& i) {
    long count = lanes(i.to);
    Number type = number(i.to);
    if (!i.picked.empty()) return taken_apart(load_picked(i), count, type);
    bool is_converted = bytes_of(i.tensor) != size_of(type);
    long part = is_converted ? converted_at_once(count, type) : width(count, type);
    Pieces result;
    for (long first = 0; first < count; first += part) {
      result.append(taken_apart(load(i, first, part), part, type));
    }
    return result;
  }

  /// Returns by how many bytes the indices of one lane move a load.
  Value* picked_bytes(const Instruction& i, long lane) {
    Value* sum = builder_.getInt64(0);
    for (size_t k = 0; k < i.picked.size(); ++k) {
      Value* value = put_together(values_[i.args[k]]);
      if (lanes(i.args[k]) > 1) {
        value = builder_.CreateExtractElement(value, static_cast<uint64_t>(lane));
      }
      math_.compute_in(number(i.args[k]));
      sum = builder_.CreateAdd(sum, math_.picked_elements(value, i.picked[k]));
    }
    math_.compute_in(number(i.to));
    return builder_.CreateMul(sum, builder_.getInt64(static_cast<uint64_t>(bytes_of(i.tensor))));
  }

  /// Loads what indices choose: all lanes at once where they lie side by side.
  Value* load_picked(const Instruction& i) {
    Element element = code_.tensors[i.tensor].element;
    llvm::Type* type = math_.memory_type(element);
    long count = lanes(i.to);
    auto load_from = [&](llvm::Type* what, Value* bytes, long further) {
      Value* at = builder_.CreateGEP(builder_.getInt8Ty(), addresses_.of(i, further), bytes);
      return math_.loaded(marked(builder_.CreateAlignedLoad(what, at, alignment(i)), i), element);
    };
    if (count == 1) return load_from(type, picked_bytes(i, 0), 0);
    bool alike =
        std::all_of(i.args.begin(), i.args.end(), [&](size_t index) { return lanes(index) == 1; });
    Value* shared = alike ? picked_bytes(i, 0) : nullptr;
    if (alike && i.stride == 1 && !is_odd(count, i.tensor, number(i.to))) {
      return load_from(llvm::FixedVectorType::get(type, static_cast<unsigned>(count)), shared, 0);
    }
    Value* all = nullptr;
    for (long k = 0; k < count; ++k) {
      Value* one = load_from(type, alike ? shared : picked_bytes(i, k), k * i.stride);
      if (k == 0) {
        all = llvm::PoisonValue::get(
            llvm::FixedVectorType::get(one->getType(), static_cast<unsigned>(count)));
      }
      all = builder_.CreateInsertElement(all, one, static_cast<uint64_t>(k));
    }
    return all;
  }

  /// Loads some of the lanes.
  Value* load(const Instruction& i, long first, long count) {
    Element element = code_.tensors[i.tensor].element;
    llvm::Type* type = math_.memory_type(element);
    if (count == 1) {
      return math_.loaded(load_at(type, i, first * i.stride), element);
    }
    auto* vector = llvm::FixedVectorType::get(type, static_cast<unsigned>(count));
    if (is_odd(count, i.tensor, number(i.to))) {
      Value* all = nullptr;
      for (long k = 0; k < count; ++k) {
        Value* one = math_.loaded(load_at(type, i, (first + k) * i.stride), element);
        if (k == 0) {
          all = llvm::PoisonValue::get(
              llvm::FixedVectorType::get(one->getType(), static_cast<unsigned>(count)));
        }
        all = builder_.CreateInsertElement(all, one, static_cast<uint64_t>(k));
      }
      return all;
    }
    if (i.stride == 1) {
      return math_.loaded(load_at(vector, i, first), element);
    }
    Value* all = llvm::PoisonValue::get(vector);
    for (long k = 0; k < count; ++k) {
      Value* one = load_at(type, i, (first + k) * i.stride);
      all = builder_.CreateInsertElement(all, one, static_cast<uint64_t>(k));
    }
    return math_.loaded(all, element);
  }

  /// Returns the columns of a square whose rows these are, or the other way round.
  std::vector<Value*> transposed(const std::vector<Value*>& rows) {
    auto mixed = [&](Value* a, Value* b, std::array<int, 4> lanes) {
      return builder_.CreateShuffleVector(a, b, lanes);
    };
    std::vector<Value*> pairs;
    for (size_t r : {0, 2}) {
      pairs.push_back(mixed(rows[r], rows[r + 1], {0, 4, 1, 5}));
      pairs.push_back(mixed(rows[r], rows[r + 1], {2, 6, 3, 7}));
    }
    return {mixed(pairs[0], pairs[2], {0, 1, 4, 5}), mixed(pairs[0], pairs[2], {2, 3, 6, 7}),
            mixed(pairs[1], pairs[3], {0, 1, 4, 5}), mixed(pairs[1], pairs[3], {2, 3, 6, 7})};
  }

  void load_squares(const std::vector<const Instruction*>& columns) {
    const Instruction& first = *columns.front();
    auto* vector = llvm::FixedVectorType::get(builder_.getFloatTy(), square_side);
    for (const Instruction* column : columns) values_[column->to].clear();
    for (long lane = 0; lane < lanes(first.to); lane += square_side) {
      std::vector<Value*> rows;
      for (long k = lane; k < lane + square_side; ++k) {
        rows.push_back(builder_.CreateAlignedLoad(vector, addresses_.of(first, k * first.stride),
                                                  alignment(first)));
      }
      rows = transposed(rows);
      for (size_t c = 0; c < columns.size(); ++c) values_[columns[c]->to].push_back(rows[c]);
    }
  }

  void store_squares(const std::vector<const Instruction*>& columns) {
    const Instruction& first = *columns.front();
    for (long lane = 0; lane < first.lane; lane += square_side) {
      std::vector<Value*> rows;
      for (const Instruction* column : columns) {
        rows.push_back(values_[column->args[0]][static_cast<size_t>(lane / square_side)]);
      }
      rows = transposed(rows);
      for (long k = 0; k < square_side; ++k) {
        builder_.CreateAlignedStore(rows[static_cast<size_t>(k)],
                                    addresses_.of(first, (lane + k) * first.stride),
                                    alignment(first));
      }
    }
  }

  void store(const Instruction& i) {
    Pieces value = widened(i.args[0], i.lane);
    Number type = number(i.args[0]);
    long each = width(i.lane, type);
    // Processors with the longest vectors store each as narrow numbers. Others have instructions
    // that make one narrow vector of several wide ones.
    constexpr long longest = 64;
    bool together = bytes_of(i.tensor) != size_of(type) && target_.cpu.vector_bytes < longest;
    long part = together ? converted_at_once(i.lane, type) : each;
    for (long first = 0; first < i.lane; first += part) {
      store(i, part_of(value, each, first, part), first, part);
    }
  }

  /// Stores some of the lanes.
  void store(const Instruction& i, Value* value, long first, long count) {
    Element element = code_.tensors[i.tensor].element;
    auto put = [&](Value* what, long lane) {
      long further = lane * i.stride;
      builder_.CreateAlignedStore(what, addresses_.of(i, further), alignment(i, further));
    };
    bool odd = count > 1 && is_odd(count, i.tensor, number(i.args[0]));
    if (!odd) value = math_.stored(value, element);
    if (!odd && (count == 1 || i.stride == 1)) return put(value, first);
    for (long k = 0; k < count; ++k) {
      Value* one = builder_.CreateExtractElement(value, static_cast<uint64_t>(k));
      put(odd ? math_.stored(one, element) : one, first + k);
    }
  }
};

}  // namespace

void emit_function(llvm::Module& module, const std::string& symbol, const Code& code,
                   const Target& target) {
  Emitter(module, symbol, code, target).run();
}

}  // namespace lathe
