// Writes the instructions of a kernel. It numbers variables, remembers what was loaded, and lets
// sums wait until they are complete.
//
//   size_t x = writer.load(tensor, at, 1, 4);            loaded before: the same variable
//   writer.set(tile, writer.plus(tile, 2, x));           tile += 2 * x
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "codegen/code.h"
#include "codegen/pending.h"

namespace lathe {

/// Writes the body of one kernel.
class CodeWriter {
 public:
  explicit CodeWriter(Code& code) : code_(code), block_(&code.body) {}

  /// Returns the block that instructions go to now. It serves to tell blocks apart.
  const Block* block() const { return block_; }

  /// Returns a new variable; with rows, a panel.
  size_t variable(long lanes, Number number, long rows = 0);
  long lanes(size_t variable) const { return code_.variables[variable].lanes; }
  Number number_of(size_t variable) const { return code_.variables[variable].number; }
  void put(Instruction instruction) { block_->push_back(std::move(instruction)); }
  /// Writes an instruction whose result is a new variable. Returns this variable.
  size_t emit(Instruction instruction, long lanes, Number number, long rows = 0);

  size_t number(double value, Number number);
  /// Returns a value in a type: the variable itself, or another.
  size_t converted(size_t value, Number number);
  size_t apply(Expr::Op op, std::vector<size_t> args);
  /// Writes  base + factor * value. There is no product if the factor is 1 or -1.
  size_t plus(std::optional<size_t> base, double factor, size_t value);

  /// Loads elements. Where the guard does not hold, they are any numbers.
  size_t load(size_t tensor, const poly::Affine& at, long step, long lanes, Number number,
              const Guard& guard = {});
  /// Stores lanes; of a panel, with rows that are "row_stride" apart.
  void store(size_t tensor, const poly::Affine& at, long step, long lanes, size_t value,
             long row_stride = 0);
  /// Loads a panel, whose rows are lanes that lie side by side.
  struct PanelRows {
    long count, stride;
  };
  size_t load_panel(size_t tensor, const poly::Affine& at, PanelRows rows, long lanes,
                    Number number);

  // ---- variables that are set more than once ------------------------------------------------

  /// Sets a variable to the value of another, in its own type.
  void set(size_t variable, size_t value);
  /// Returns a variable that holds the value of "variable" now, and keeps it when that is set
  /// again.
  size_t read(size_t variable);
  /// Writes the sum that waits to be added to a variable.
  void settle(size_t variable);
  /// Begins a sum: the variable is 0, and what is added to it may wait (pending.h).
  void begin_sum(size_t variable) { pending_.begin(variable); }
  bool is_sum(size_t variable) const { return pending_.has(variable); }
  void add_later(size_t variable, double factor, size_t value) {
    pending_.add(variable, factor, value);
  }
  /// Tells that nobody needs a variable any more.
  void drop(size_t variable) { pending_.drop(variable); }

  /// Writes a barrier. What was loaded of these tensors before may be another value then.
  void barrier(const std::vector<bool>& handed);

  // ---- blocks ---------------------------------------------------------------------------------

  /// Writes a guard, with the instructions that "body" writes inside.
  void guarded(Instruction guard, const std::function<void()>& body);
  /// Writes a loop, with the instructions that "body" writes inside. These store to the tensors
  /// "written".
  void looped(Instruction loop, const std::set<size_t>& written, const std::function<void()>& body);

 private:
  /// What is loaded: a tensor, the offset as numbers, the distance and the number of lanes, and as
  /// which type.
  using MemoryKey = std::tuple<size_t, std::vector<long>, long, long, Number>;

  Code& code_;
  Block* block_;
  std::map<MemoryKey, size_t> loaded_;
  PendingSums pending_;
  std::map<size_t, size_t> copies_;  // of variables, as they are now

  size_t load_once(MemoryKey key, Instruction load, long rows);
  void settle_all();
  void write_inside(Instruction& instruction, const std::function<void()>& body);
};

}  // namespace lathe
