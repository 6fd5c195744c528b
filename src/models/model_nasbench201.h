// The cells of NAS-Bench-201 (Dong and Yang, "NAS-Bench-201: Extending the Scope of Reproducible
// Neural Architecture Search", 2020): four nodes, the first of which is the input and the last the
// output; every node is the sum of operations on all earlier nodes.
//
//   |nor_conv_3x3~0|+|none~0|skip_connect~1|+|avg_pool_3x3~0|nor_conv_1x1~1|none~2|
//    node 1           node 2                  node 3: from node 0, 1 and 2
#pragma once

#include <array>
#include <string>
#include <vector>

namespace lathe::models {

enum class CellOp { none, skip_connect, nor_conv_1x1, nor_conv_3x3, avg_pool_3x3 };

/// The operations of a cell on its edges, in the order of the text form.
using Cell = std::array<CellOp, 6>;

inline constexpr size_t cell_nodes = 4;
inline constexpr long cell_count = 15625;

/// Returns the place in a cell of the edge to "node" from an earlier node.
constexpr size_t edge_of(size_t node, size_t from) { return node * (node - 1) / 2 + from; }

/// Returns all cells; a cell's place is its index in the benchmark.
std::vector<Cell> nasbench201_cells();

/// Prints a cell in the benchmark's text form, and reads it back.
std::string print_cell(const Cell& cell);
Cell parse_cell(const std::string& text);

}  // namespace lathe::models
