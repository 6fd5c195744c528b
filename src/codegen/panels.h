// Products of matrices that a unit of some CPUs computes from registers of their own, each of which
// holds a panel: up to 16 rows of up to 64 bytes.
//
//   vector for ow < 16: vector for ci.o < 16: vector for co < 16: vector for ci.i < 4:
//     S[ow, co] += I[ow, ci.o, ci.i] * W[ci.o, co, ci.i]
//
// I is a panel of 16 rows (ow) and 64 bytes (ci.o, ci.i), W one of 16 rows (ci.o) and 64 bytes
// (co, ci.i), S one of 16 rows (ow) and 16 sums of i32 (co). All loops may be shorter. Rows of a
// panel are evenly apart in memory, and elements of a row lie side by side. Factors are bytes, or
// bf16 or f16: then ci.i has two iterations, and sums are f32.
#pragma once

#include <optional>

#include "codegen/code.h"

namespace lathe {

/// Rows of a panel, and sums of a row, at most; and how many panels there are registers for.
inline constexpr long panel_rows = 16, panel_sums = 16, panel_registers = 8;

/// Returns what a target must have to multiply panels of these factors; nothing if none has it.
std::optional<Extra> extra_of_panels(Element data, Element weights);

/// Returns how many products of these factors are added to a sum for each column of the second
/// panel that lies beside it; 0 if the target has no such unit.
long terms_of_panels(const Target& target, Element data, Element weights);

/// A statement in four vector loops that are such a product.
struct PanelProduct {
  size_t data, weights;              ///< the reads of the first panel, and of the second
  long data_stride, weight_stride;   ///< how far their rows are apart, in elements
  long sum_stride;                   ///< and those of the sums
  long rows, depth, columns, terms;  ///< iterations of the loops: ow, ci.o, co, ci.i
  std::vector<const LoopNode*> loops;
  const LoopNode* statement;  ///< inside all of them
};

/// Returns the product that a loop is the outermost of, if the target has it.
std::optional<PanelProduct> panels_of(const LoopNode& loop, const Nest& nest, const Target& target);

}  // namespace lathe
