// Writes the instructions of a kernel. It numbers variables, remembers what was loaded, and lets
// sums wait until they are complete.
//
//   size_t x = writer.load(tensor, at, 1, 4);            a second load of the same is the same
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

class CodeWriter {
 public:
  explicit CodeWriter(Code& code) : code_(code), block_(&code.body) {}

  /// Tells blocks apart: where instructions go now.
  const Block* block() const { return block_; }

  size_t variable(long lanes);
  long lanes(size_t variable) const { return code_.variables[variable].lanes; }
  void put(Instruction instruction) { block_->push_back(std::move(instruction)); }
  /// Writes an instruction whose result is a new variable, and returns that.
  size_t emit(Instruction instruction, long lanes);

  size_t number(double value);
  size_t apply(Expr::Op op, std::vector<size_t> args);
  /// Writes  base + factor * value, without a product if the factor is 1 or -1.
  size_t plus(std::optional<size_t> base, double factor, size_t value);

  size_t load(size_t tensor, const poly::Affine& at, long step, long lanes);
  void store(size_t tensor, const poly::Affine& at, long step, long lanes, size_t value);

  // ---- variables that are set more than once ------------------------------------------------

  void set(size_t variable, size_t value);
  /// Returns the variable as it is now: it changes later, what was read does not.
  size_t read(size_t variable);
  /// Writes what waits to be added to a variable.
  void settle(size_t variable);
  /// Says that a variable is 0: what is added to it may wait, and join what others add.
  void begin_sum(size_t variable) { pending_.begin(variable); }
  bool is_sum(size_t variable) const { return pending_.has(variable); }
  void add_later(size_t variable, double factor, size_t value) {
    pending_.add(variable, factor, value);
  }
  /// Says that nobody needs a variable any more.
  void drop(size_t variable) { pending_.drop(variable); }

  // ---- blocks ---------------------------------------------------------------------------------

  /// Writes the body of a guard, then the guard.
  void guarded(Instruction guard, const std::function<void()>& body);
  /// Writes the body of a loop that writes these tensors, then the loop.
  void looped(Instruction loop, const std::set<size_t>& written, const std::function<void()>& body);

 private:
  /// What is loaded: a tensor, the offset as numbers, the distance and the number of lanes.
  using MemoryKey = std::tuple<size_t, std::vector<long>, long, long>;

  Code& code_;
  Block* block_;
  std::map<MemoryKey, size_t> loaded_;
  PendingSums pending_;
  std::map<size_t, size_t> copies_;  // of variables, as they are now

  void settle_all();
  void write_inside(Instruction& instruction, const std::function<void()>& body);
};

}  // namespace lathe
