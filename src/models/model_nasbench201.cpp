// model_nasbench201.cpp: the cells of NAS-Bench-201, their text form and their order. Interface:
// model_nasbench201.h. The benchmark numbers its cells as Python's random.shuffle left them after
// random.seed(88), so both are done here as Python does them.
#include "models/model_nasbench201.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <string_view>

#include "base/error.h"

namespace lathe::models {
namespace {

constexpr const char* op_names[] = {"none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3",
                                    "avg_pool_3x3"};
constexpr long op_count = std::size(op_names);
constexpr uint32_t shuffle_seed = 88;

/// Seeds a Mersenne Twister with an integer below 2^32 as Python does (the generator's published
/// init_by_array with one key).
struct PythonSeed {
  using result_type = uint32_t;
  uint32_t key;

  template <class Iterator>
  void generate(Iterator begin, Iterator end) const {
    size_t n = static_cast<size_t>(end - begin);
    auto mix = [&](size_t i, uint32_t factor) {
      uint32_t last = begin[i - 1];
      return (last ^ (last >> 30)) * factor;
    };
    begin[0] = 19650218;
    for (size_t i = 1; i < n; ++i) begin[i] = mix(i, 1812433253) + static_cast<uint32_t>(i);
    size_t i = 1;
    auto advance = [&] {
      if (++i < n) return;
      begin[0] = begin[n - 1];
      i = 1;
    };
    for (size_t k = 0; k < n; ++k, advance()) begin[i] = (begin[i] ^ mix(i, 1664525)) + key;
    for (size_t k = 1; k < n; ++k, advance()) {
      begin[i] = (begin[i] ^ mix(i, 1566083941)) - static_cast<uint32_t>(i);
    }
    begin[0] = 0x80000000;
  }
};

/// Returns an integer below n as Python does: as many bits as n has, until they are small enough.
uint32_t python_below(std::mt19937& random, uint32_t n) {
  int bits = std::bit_width(n);
  while (true) {
    uint32_t drawn = static_cast<uint32_t>(random()) >> (32 - bits);
    if (drawn < n) return drawn;
  }
}

template <class T>
void python_shuffle(std::vector<T>& items, uint32_t seed) {
  PythonSeed sequence = {seed};
  std::mt19937 random(sequence);
  for (size_t i = items.size() - 1; i > 0; --i) {
    std::swap(items[i], items[python_below(random, static_cast<uint32_t>(i + 1))]);
  }
}

/// Returns the pieces of a text between separators.
std::vector<std::string> pieces_of(const std::string& text, char separator) {
  std::vector<std::string> pieces(1);
  for (char c : text) {
    if (c == separator) {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  }
  return pieces;
}

CellOp parse_op(const std::string& name, const std::string& text) {
  auto found = std::find(std::begin(op_names), std::end(op_names), std::string_view(name));
  if (found != std::end(op_names)) return static_cast<CellOp>(found - std::begin(op_names));
  std::string known;
  for (const char* op : op_names) known += fmt::format(" {}", op);
  fail("cell '{}': no operation '{}'; operations:{}", text, name, known);
}

/// Reads "operation~node".
CellOp parse_edge(const std::string& edge, size_t node, size_t from, const std::string& text) {
  size_t mark = edge.find('~');
  if (mark == std::string::npos || edge.substr(mark + 1) != std::to_string(from)) {
    fail("cell '{}': '{}' is not an edge from node {} to node {}; write OPERATION~{}", text, edge,
         from, node, from);
  }
  return parse_op(edge.substr(0, mark), text);
}

}  // namespace

std::vector<Cell> nasbench201_cells() {
  std::vector<Cell> cells(cell_count);
  for (long code = 0; code < cell_count; ++code) {
    long rest = code;
    for (auto op = cells[code].rbegin(); op != cells[code].rend(); ++op, rest /= op_count) {
      *op = static_cast<CellOp>(rest % op_count);
    }
  }
  python_shuffle(cells, shuffle_seed);
  return cells;
}

std::string print_cell(const Cell& cell) {
  std::string text;
  for (size_t node = 1; node < cell_nodes; ++node) {
    text += node > 1 ? "+|" : "|";
    for (size_t from = 0; from < node; ++from) {
      text += fmt::format("{}~{}|", op_names[static_cast<size_t>(cell[edge_of(node, from)])], from);
    }
  }
  return text;
}

Cell parse_cell(const std::string& text) {
  Cell cell = {};
  std::vector<std::string> nodes = pieces_of(text, '+');
  if (nodes.size() != cell_nodes - 1) {
    fail("cell '{}': {} nodes instead of {}; write |OPERATION~0|+|OPERATION~0|OPERATION~1|+|...|",
         text, nodes.size(), cell_nodes - 1);
  }
  for (size_t node = 1; node < cell_nodes; ++node) {
    std::vector<std::string> edges = pieces_of(nodes[node - 1], '|');
    if (edges.size() != node + 2 || !edges.front().empty() || !edges.back().empty()) {
      fail(
          "cell '{}': node {} is '{}'; it has one operation for each of the {} earlier nodes, each "
          "between '|'",
          text, node, nodes[node - 1], node);
    }
    for (size_t from = 0; from < node; ++from) {
      cell[edge_of(node, from)] = parse_edge(edges[from + 1], node, from, text);
    }
  }
  return cell;
}

}  // namespace lathe::models
