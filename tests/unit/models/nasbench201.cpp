// The networks of NAS-Bench-201: the benchmark's numbering of cells, their text form, what they
// compute where edges bring nothing.
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "models/model.h"
#include "models/model_nasbench201.h"
#include "ops/op.h"

namespace lathe::test {
namespace {

using models::Cell;

/// Returns a cell's text with all edges the same operation but for the last.
std::string cell_of(const std::string& op, const std::string& last) {
  return fmt::format("|{0}~0|+|{0}~0|{0}~1|+|{0}~0|{0}~1|{1}~2|", op, last);
}

Graph network(const std::string& argument) { return load_model("nasbench201:" + argument); }

std::string error_of(const std::string& argument, const ModelOptions& options = {}) {
  try {
    load_model("nasbench201:" + argument, options);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

void expect_error(const std::string& argument, const std::string& part) {
  std::string error = error_of(argument);
  EXPECT_NE(error.find(part), std::string::npos) << argument << "\n  gives " << error;
}

/// Does the value depend on an input of the graph?
bool depends_on_input(const Graph& graph) {
  std::set<ValueId> reached(graph.inputs.begin(), graph.inputs.end());
  for (const Node& node : graph.nodes) {
    for (ValueId id : node.inputs) {
      if (reached.contains(id)) reached.insert(node.outputs.begin(), node.outputs.end());
    }
  }
  return reached.contains(graph.outputs[0]);
}

TEST(Nasbench201, IndicesAreThoseOfTheBenchmark) {
  std::vector<Cell> cells = models::nasbench201_cells();
  ASSERT_EQ(cells.size(), 15625u);
  const std::pair<size_t, const char*> known[] = {
      {0,
       "|avg_pool_3x3~0|+|nor_conv_1x1~0|skip_connect~1|+"
       "|nor_conv_1x1~0|skip_connect~1|skip_connect~2|"},
      {1,
       "|nor_conv_3x3~0|+|nor_conv_3x3~0|avg_pool_3x3~1|+"
       "|skip_connect~0|nor_conv_3x3~1|skip_connect~2|"},
      {88,
       "|none~0|+|nor_conv_1x1~0|skip_connect~1|+"
       "|nor_conv_1x1~0|nor_conv_1x1~1|skip_connect~2|"},
      {6111,
       "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+"
       "|skip_connect~0|nor_conv_3x3~1|nor_conv_1x1~2|"},
      {9930,
       "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+"
       "|skip_connect~0|nor_conv_3x3~1|nor_conv_3x3~2|"},
      {12345,
       "|skip_connect~0|+|avg_pool_3x3~0|none~1|+"
       "|nor_conv_1x1~0|skip_connect~1|avg_pool_3x3~2|"},
      {15624,
       "|nor_conv_1x1~0|+|none~0|nor_conv_1x1~1|+"
       "|none~0|nor_conv_1x1~1|nor_conv_1x1~2|"}};
  for (auto [index, text] : known) EXPECT_EQ(models::print_cell(cells[index]), text) << index;
}

TEST(Nasbench201, EveryCellHasOneIndex) {
  std::vector<Cell> cells = models::nasbench201_cells();
  EXPECT_EQ(std::set<Cell>(cells.begin(), cells.end()).size(), cells.size());
}

TEST(Nasbench201, TextFormIsReadBack) {
  for (const Cell& cell : models::nasbench201_cells()) {
    ASSERT_EQ(models::parse_cell(models::print_cell(cell)), cell) << models::print_cell(cell);
  }
}

TEST(Nasbench201, IndexAndCellGiveTheSameNetwork) {
  Graph by_index = network("6111");
  Graph by_cell = network(models::print_cell(models::nasbench201_cells()[6111]));
  EXPECT_EQ(structural_hash(by_index), structural_hash(by_cell));
}

TEST(Nasbench201, WeightsAreThoseOfTheBenchmark) {
  EXPECT_EQ(weight_count(network("6111")), 1073466);
  EXPECT_EQ(weight_count(network("9930")), 1288506);
  EXPECT_EQ(weight_count(network(cell_of("nor_conv_3x3", "nor_conv_3x3"))), 1531546);
  EXPECT_EQ(weight_count(network(cell_of("skip_connect", "avg_pool_3x3"))), 73306);
}

TEST(Nasbench201, LayersAreNamedAsInTheAuthorsCode) {
  Graph graph = network("6111");
  for (const char* name : {"stem.0.weight", "cells.0.layers.0.op.1.weight", "lastact.0.bias",
                           "cells.5.conv_a.op.1.weight", "cells.5.downsample.1.weight",
                           "cells.16.layers.5.op.2.running_mean", "classifier.weight"}) {
    EXPECT_TRUE(find_value(graph, name)) << name;
  }
}

TEST(Nasbench201, AveragesDoNotCountThePadding) {
  Graph graph = network(cell_of("avg_pool_3x3", "avg_pool_3x3"));
  std::optional<size_t> pool = find_node(graph, "cells.0.layers.0.op");
  ASSERT_TRUE(pool);
  EXPECT_EQ(graph.nodes[*pool].op, "avg_pool");
  EXPECT_FALSE(graph.nodes[*pool].attributes.contains("count_pad"));
}

TEST(Nasbench201, CellsWithoutAPathBuildAndIgnoreTheInput) {
  for (const char* last :
       {"none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"}) {
    SCOPED_TRACE(last);
    Graph graph = network(cell_of("none", last));
    EXPECT_NO_THROW(verify_types(graph));
    EXPECT_EQ(graph.inputs.size(), 1u);
    EXPECT_FALSE(depends_on_input(graph));
  }
}

TEST(Nasbench201, ConvolutionsOfNothingReadZeros) {
  Graph graph = network(cell_of("none", "nor_conv_1x1"));
  EXPECT_TRUE(find_node(graph, "cells.16.layers.5.zeros"));
  EXPECT_TRUE(find_node(graph, "cells.16.layers.5.op.1"));
}

TEST(Nasbench201, CellsWithAPathReadTheInput) {
  EXPECT_TRUE(depends_on_input(network("6111")));
  EXPECT_TRUE(depends_on_input(
      network("|skip_connect~0|+|none~0|skip_connect~1|+|none~0|none~1|skip_connect~2|")));
}

TEST(Nasbench201, EveryFewCellsBuild) {
  for (long index = 0; index < models::cell_count; index += 500) {
    EXPECT_NO_THROW(verify_types(network(std::to_string(index)))) << index;
  }
}

TEST(Nasbench201, WrongIndicesAndCellsAreRefused) {
  for (const char* wrong :
       {"", "-1", "15625", "6111x", "1.5", "nor_conv_3x3", "99999999999999999999"}) {
    expect_error(wrong, fmt::format("'{}' is neither an index from 0 to 15624 nor a cell", wrong));
  }
  expect_error("|none~0|", "1 nodes instead of 3");
  expect_error("|none~0|+|none~0|none~1|+|none~0|none~1|none~2|+|none~0|", "4 nodes instead of 3");
  expect_error("|none~0|+|none~0|+|none~0|none~1|none~2|", "node 2 is '|none~0|'");
  expect_error("|none~0|+|none~0|none~1|+|none~0|none~1|none~2",
               "node 3 is '|none~0|none~1|none~2'");
  expect_error("|none~0|+none~0|none~1|+|none~0|none~1|none~2|", "node 2 is 'none~0|none~1|'");
  expect_error("|conv~0|+|none~0|none~1|+|none~0|none~1|none~2|",
               "no operation 'conv'; operations: none skip_connect nor_conv_1x1");
  expect_error("|none~0|+|none~1|none~0|+|none~0|none~1|none~2|",
               "'none~1' is not an edge from node 0 to node 2; write OPERATION~0");
  expect_error("|none|+|none~0|none~1|+|none~0|none~1|none~2|", "'none' is not an edge");
  EXPECT_EQ(error_of("5", {.size = 30}),
            "nasbench201: the size of its images is a multiple of 4, not 30");
}

}  // namespace
}  // namespace lathe::test
