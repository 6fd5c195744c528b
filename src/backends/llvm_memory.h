// Loads and stores of vector code: of lanes side by side or apart, of elements that are converted
// on the way, of what indices choose, of squares that are transposed, and of panels.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <vector>

#include "backends/llvm_addresses.h"
#include "backends/llvm_math.h"
#include "backends/llvm_panels.h"
#include "backends/llvm_squares.h"
#include "backends/llvm_values.h"
#include "codegen/code.h"

namespace lathe {

class LlvmMemory {
 public:
  LlvmMemory(llvm::IRBuilder<>& builder, LlvmMath& math, LlvmAddresses& addresses,
             LlvmValues& values, const Code& code, const Target& target);

  /// Sets the variable that a load is for.
  void load(const Instruction& i);
  void store(const Instruction& i);
  void prefetch(const Instruction& i);

  /// Returns the squares of a block whose rows are moved instead of their columns.
  Squares squares(const Block& block) const;
  /// Loads or stores a square, given the instructions of its columns.
  void move_square(const std::vector<const Instruction*>& columns);

  /// Returns the rows and bytes of a variable that is a panel.
  PanelShape shape_of(size_t variable) const;

 private:
  using Pieces = LlvmValues::Pieces;
  llvm::IRBuilder<>& builder_;
  LlvmMath& math_;
  LlvmAddresses& addresses_;
  LlvmValues& values_;
  const Code& code_;
  const Target& target_;
  std::vector<bool> written_;  // tensors

  long bytes_of(size_t tensor) const { return size_of(code_.tensors[tensor].element); }
  bool is_panel(size_t variable) const { return code_.variables[variable].rows > 0; }
  /// Must the lanes be converted one by one?
  bool is_odd(long count, size_t tensor, Number number) const;
  /// Returns how an element is aligned that lies so many further than an access says.
  llvm::Align alignment(const Instruction& i, long further = 0) const;
  /// Says of a load on a GPU that nothing changes what it reads, if so: it has a cache of its own.
  llvm::Value* marked(llvm::LoadInst* load, const Instruction& i);

  Pieces load_lanes(const Instruction& i);
  /// Loads some of the lanes.
  llvm::Value* load_lanes(const Instruction& i, long first, long count);
  /// Loads from so many elements further than an access says.
  llvm::Value* load_at(llvm::Type* type, const Instruction& i, long further);
  /// Makes a vector of what is computed for each lane.
  template <class Lane>
  llvm::Value* lane_by_lane(long count, Lane lane);
  /// Loads what indices choose: all lanes at once where they lie side by side.
  llvm::Value* load_picked(const Instruction& i);
  /// Returns by how many bytes the indices of one lane move a load.
  llvm::Value* picked_bytes(const Instruction& i, long lane);
  /// Stores some of the lanes.
  void store_lanes(const Instruction& i, llvm::Value* value, long first, long count);

  /// Returns the columns of a square whose rows these are, or the other way round.
  std::vector<llvm::Value*> transposed(const std::vector<llvm::Value*>& rows);
  void load_squares(const std::vector<const Instruction*>& columns);
  void store_squares(const std::vector<const Instruction*>& columns);
};

}  // namespace lathe
