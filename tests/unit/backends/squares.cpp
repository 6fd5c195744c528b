// Squares: accesses across memory that are done together, and those that must not be.
#include <gtest/gtest.h>

#include "backends/llvm_squares.h"

namespace lathe::test {
namespace {

using Kind = Instruction::Kind;

/// Two tensors, X (0) and Y (1), and variables of 8 lanes.
Code with_variables(size_t count) {
  Code code;
  code.tensors = {{"X", Role::input, Element::f32, {100, 100}, {}},
                  {"Y", Role::output, Element::f32, {100, 100}, {}}};
  code.variables.assign(count, {8});
  return code;
}

Instruction access(Kind kind, size_t tensor, size_t variable, long offset, long stride = 100) {
  Instruction i{kind};
  if (kind == Kind::load) {
    i.to = variable;
  } else {
    i.args = {variable};
    i.lane = 8;
  }
  i.tensor = tensor;
  i.offset = poly::constant_of(2, offset);
  i.stride = stride;
  return i;
}

Block loads(const std::vector<long>& offsets, long stride = 100) {
  Block block;
  for (size_t k = 0; k < offsets.size(); ++k) {
    block.push_back(access(Kind::load, 0, k, offsets[k], stride));
  }
  return block;
}

TEST(Squares, FourColumnsSideBySide) {
  Code code = with_variables(6);
  Squares squares = find_squares(code, loads({5, 6, 7, 8, 9}), 4);
  ASSERT_EQ(squares.size(), 1u);
  EXPECT_EQ(squares.begin()->first, 0u);
  EXPECT_EQ(squares.begin()->second, (std::vector<size_t>{0, 1, 2, 3}));
  EXPECT_TRUE(find_squares(code, loads({5, 6, 7}), 4).empty());
  EXPECT_TRUE(find_squares(code, loads({5, 6, 8, 9}), 4).empty());
}

TEST(Squares, NotWhereRowsWouldOverlap) {
  Code code = with_variables(4);
  EXPECT_TRUE(find_squares(code, loads({0, 1, 2, 3}, 1), 4).empty());
  EXPECT_TRUE(find_squares(code, loads({0, 1, 2, 3}, 2), 4).empty());
  EXPECT_EQ(find_squares(code, loads({0, 1, 2, 3}, 4), 4).size(), 1u);
}

TEST(Squares, NotOfOtherElements) {
  Code code = with_variables(4);
  code.tensors[0].element = Element::f16;
  EXPECT_TRUE(find_squares(code, loads({0, 1, 2, 3}), 4).empty());
  code.tensors[0].element = Element::f32;
  code.variables.assign(4, {6});
  EXPECT_TRUE(find_squares(code, loads({0, 1, 2, 3}), 4).empty());
}

TEST(Squares, LoadsComeFirstAndStoresLast) {
  // A copy: each column is loaded, then stored.
  Code code = with_variables(4);
  Block copy;
  for (long k = 0; k < 4; ++k) {
    copy.push_back(access(Kind::load, 0, static_cast<size_t>(k), k));
    copy.push_back(access(Kind::store, 1, static_cast<size_t>(k), 10 + k));
  }
  Squares squares = find_squares(code, copy, 4);
  EXPECT_EQ(squares, (Squares{{0, {0, 2, 4, 6}}, {7, {1, 3, 5, 7}}}));
}

TEST(Squares, NotAcrossAStoreToTheSameTensor) {
  Code code = with_variables(5);
  Block block = loads({0, 1, 2, 3});
  block.insert(block.begin() + 2, access(Kind::store, 0, 4, 50));
  EXPECT_TRUE(find_squares(code, block, 4).empty());
  block[2].tensor = 1;
  EXPECT_EQ(find_squares(code, block, 4).size(), 1u);
}

TEST(Squares, NotWhereTheOldValueIsStillWanted) {
  Code code = with_variables(5);
  Block block = loads({0, 1, 2, 3});
  block.insert(block.begin() + 2, {Kind::copy, 4, {3}});  // before variable 3 is loaded
  EXPECT_TRUE(find_squares(code, block, 4).empty());
  Block stores;
  for (size_t k = 0; k < 4; ++k) stores.push_back(access(Kind::store, 1, k, static_cast<long>(k)));
  EXPECT_EQ(find_squares(code, stores, 4).size(), 1u);
  stores.insert(stores.begin() + 2, {Kind::copy, 0, {4}});  // after variable 0 was stored
  EXPECT_TRUE(find_squares(code, stores, 4).empty());
}

}  // namespace
}  // namespace lathe::test
