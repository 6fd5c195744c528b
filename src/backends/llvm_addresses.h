// Addresses of the elements that vector code touches: pointers that the loops step.
//
// There is one pointer for each tensor and each way in which its offset depends on the loops.
// Offsets that differ by a constant share a pointer. A floor is computed where an iteration begins
// of the innermost loop that it depends on.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "codegen/code.h"

namespace lathe {

class LlvmAddresses {
 public:
  /// "index" is the type of coordinates, and of what is computed from them.
  LlvmAddresses(llvm::IRBuilder<>& builder, const Code& code, llvm::IntegerType* index)
      : builder_(builder), code_(code), index_(index) {}

  /// Gets the addresses where tensors begin. All coordinates are 0 so far.
  void begin(std::map<size_t, llvm::Value*> bases);

  /// Sets the coordinates of the loops that workers share, or the blocks and threads of a GPU. They
  /// are around all others.
  void enter_shared(const std::vector<llvm::Value*>& coordinates, const std::vector<long>& extents);

  /// What a loop steps.
  struct Loop {
    std::map<size_t, llvm::PHINode*> stepped;  // by key
    std::vector<llvm::Value*> outer;           // pointers as they were
  };
  /// These four write a loop, in this order. starts() runs before the loop's block: it returns what
  /// the pointers begin with. enter() adds the phis of what is stepped; "before" is the block that
  /// leads to the loop. set() comes after all phis, and sets the coordinate. leave() adds the
  /// steps, at the end.
  std::map<size_t, llvm::Value*> starts(const Instruction& loop);
  Loop enter(const std::map<size_t, llvm::Value*>& starts, llvm::BasicBlock* before);
  void set(const Instruction& loop, llvm::Value* index);
  void leave(const Instruction& loop, Loop state);

  /// Returns the address of an access, so many elements further.
  llvm::Value* of(const Instruction& access, long further = 0);

  /// Returns the same where the guard of the access holds, and else where the tensor begins: any
  /// element will do.
  llvm::Value* guarded(const Instruction& access, long further);

  /// Does a guard hold?
  llvm::Value* holds(const Guard& guard);

  /// Computes a quasi-affine function of the loops.
  llvm::Value* integer(const poly::Affine& a);

  /// Returns a number of the type of coordinates.
  llvm::Value* constant(long value);

 private:
  /// Accesses whose offsets differ by a constant: the same coefficients of the loops, and of floors
  /// (by their places in floors_).
  struct Key {
    size_t tensor;
    std::vector<long> coefficients;
    std::vector<std::pair<size_t, long>> floors;

    bool operator<(const Key& other) const {
      return std::tie(tensor, coefficients, floors) <
             std::tie(other.tensor, other.coefficients, other.floors);
    }

    long coefficient(size_t depth) const {
      return depth < coefficients.size() ? coefficients[depth] : 0;
    }
  };
  struct Floor {
    poly::Affine of;
    size_t depth;  // of the innermost loop that it depends on
  };
  llvm::IRBuilder<>& builder_;
  const Code& code_;
  llvm::IntegerType* index_;
  std::map<size_t, llvm::Value*> bases_;        // of tensors
  std::map<size_t, llvm::Value*> coordinates_;  // by depth
  std::vector<poly::Interval> ranges_;          // of the coordinates
  std::vector<Floor> floors_;
  std::vector<Key> keys_;
  std::unordered_map<const Instruction*, size_t> key_of_;                 // accesses
  std::unordered_map<const Instruction*, std::set<size_t>> keys_inside_;  // loops and guards
  std::vector<llvm::Value*> pointers_;                                    // by key

  long bytes_of(size_t tensor) const { return size_of(code_.tensors[tensor].element); }
  llvm::Value* moved(llvm::Value* pointer, long bytes);
  llvm::Value* moved(llvm::Value* pointer, llvm::Value* times, long bytes);
  llvm::Value* added(llvm::Value* sum, llvm::Value* value, long factor);
  size_t floor_named(const poly::Affine& of);
  Key key_of(const Instruction& access);
  std::set<size_t> find_keys(const Block& block, std::map<Key, size_t>& numbers);
  void set_coordinate(size_t depth, llvm::Value* value, poly::Interval range);
  void move_by_floors(size_t key, size_t depth);
};

}  // namespace lathe
