// Statements to instructions: what one instance of a statement computes, in lanes where loops are
// bound to lanes, and products that machines add many at a time.
#pragma once

#include <optional>
#include <vector>

#include "codegen/dots.h"
#include "codegen/elements.h"
#include "codegen/matrices.h"
#include "codegen/panels.h"

namespace lathe {

class Statements {
 public:
  Statements(const LoopTree& tree, Bindings& bindings, Code& code, CodeWriter& writer,
             Elements& elements);

  /// Writes a statement, under its guard.
  void lower(const LoopNode& node);
  /// Adds several products to each lane of a sum.
  void lower(const LoopNode& node, const Dot& dot);
  /// Adds a product of panels to a panel of sums.
  void lower(const PanelProduct& product);
  /// Adds a product of matrices to the sums of a thread.
  void lower(const MatrixProduct& matrix);

 private:
  /// The types that a statement computes in, and of the value that it writes.
  struct Numbers {
    Number computed, written;
  };
  const LoopTree& tree_;
  Bindings& bindings_;
  const Target& target_;
  Code& code_;
  CodeWriter& writer_;
  Elements& elements_;
  std::vector<Numbers> numbers_;  // of statements
  Number number_ = Number::f32;   // that is computed in

  const Statement& statement(const LoopNode& node) const {
    return tree_.nest.statements()[node.statement];
  }

  void lower_instance(const LoopNode& node);
  /// Has the target an instruction that multiplies what was bytes and adds it to a sum? On x86-64
  /// it came with the dot products, and compilers choose it where they may.
  bool adds_products_at_once(const Statement& s) const;
  /// Adds a known multiple of a value to an element of a tile: nothing if it is 0, without a
  /// product if it is 1 or -1. Returns whether the statement is of that kind.
  bool add_multiple(const LoopNode& node, const poly::Affine& at, long step);
  /// Loads the factors that a thread hands over.
  size_t load_group(size_t tensor, const poly::Affine& offset, const Guard& guard,
                    const MatrixProduct& matrix);

  /// Returns the value of an expression that is known while code is written: of constants.
  std::optional<double> known(const Expr& e, const LoopNode& node) const;
  size_t lower_expr(const Expr& e, const LoopNode& node);
  /// Loads what data choose. Lanes differ where the element's own index or a picked one does.
  size_t lower_pick(const Pick& pick, const LoopNode& node);
};

}  // namespace lathe
