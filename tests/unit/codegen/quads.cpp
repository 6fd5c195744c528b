// Accesses of four neighbours are found, and only where they may be done at once.
#include "codegen/quads.h"

#include <gtest/gtest.h>

namespace lathe::test {
namespace {

using Kind = Instruction::Kind;

/// A kernel on the tensors 0 and 1, with variables of one lane.
Code kernel_of(Block body, Space space = Space::shared) {
  Code code;
  for (const char* name : {"A", "B"}) {
    Tensor tensor;
    tensor.name = name;
    tensor.element = Element::f32;
    tensor.role = Role::weight;
    tensor.shape = {64};
    code.tensors.push_back(tensor);
    code.layouts.push_back(row_major_layout(tensor.shape));
    code.spaces.push_back(space);
  }
  code.variables.assign(16, {1, Number::f32});
  code.body = std::move(body);
  return code;
}

Instruction access_of(Kind kind, size_t tensor, long at, long factor) {
  Instruction i{kind};
  i.tensor = tensor;
  i.offset.coefficients = {factor};
  i.offset.constant = at;
  i.lane = 1;
  return i;
}

/// v = load A + factor*i0 + at
Instruction load_of(size_t v, long at, size_t tensor = 0, long factor = 8) {
  Instruction i = access_of(Kind::load, tensor, at, factor);
  i.to = v;
  return i;
}

Instruction store_of(size_t v, long at, size_t tensor = 0, long factor = 8) {
  Instruction i = access_of(Kind::store, tensor, at, factor);
  i.args = {v};
  return i;
}

Instruction copy_of(size_t to, size_t from) {
  Instruction i{Kind::copy};
  i.to = to;
  i.args = {from};
  return i;
}

size_t quads_in(Block body, Space space = Space::shared) {
  return find_quads(kernel_of(std::move(body), space)).size();
}

TEST(Quads, LoadsAreDoneWhereTheFirstIs) {
  Code code = kernel_of(
      {load_of(1, 5), copy_of(9, 1), load_of(0, 4), load_of(3, 7), copy_of(8, 3), load_of(2, 6)});
  std::vector<Quad> quads = find_quads(code);
  ASSERT_EQ(quads.size(), 1U);
  EXPECT_EQ(quads[0].where, &code.body[0]);
  for (size_t k = 0; k < 4; ++k) EXPECT_EQ(quads[0].parts[k]->to, k);
}

TEST(Quads, StoresAreDoneWhereTheLastIs) {
  Code code =
      kernel_of({store_of(0, 8), copy_of(9, 0), store_of(1, 9), store_of(2, 10), store_of(3, 11)});
  std::vector<Quad> quads = find_quads(code);
  ASSERT_EQ(quads.size(), 1U);
  EXPECT_EQ(quads[0].where, &code.body[4]);
}

TEST(Quads, BeginAtMultiplesOfFour) {
  EXPECT_EQ(quads_in({load_of(0, 1), load_of(1, 2), load_of(2, 3), load_of(3, 4)}), 0U);
  EXPECT_EQ(quads_in({load_of(0, 0, 0, 6), load_of(1, 1, 0, 6), load_of(2, 2, 0, 6),
                      load_of(3, 3, 0, 6)}),
            0U);
  EXPECT_EQ(quads_in({load_of(0, -4), load_of(1, -3), load_of(2, -2), load_of(3, -1)}), 1U);
}

TEST(Quads, AreOfOneTensorOutsideOfRegisters) {
  EXPECT_EQ(quads_in({load_of(0, 0), load_of(1, 1), load_of(2, 2, 1), load_of(3, 3)}), 0U);
  Block four = {load_of(0, 0), load_of(1, 1), load_of(2, 2), load_of(3, 3)};
  EXPECT_EQ(quads_in(four, Space::global), 1U);
  EXPECT_EQ(quads_in(four, Space::privately), 0U);
  Code code = kernel_of(four, Space::global);
  code.tensors[0].role = Role::input;
  EXPECT_TRUE(find_quads(code).empty()) << "it may begin within padding";
}

TEST(Quads, NothingIsLoadedBeforeItsVariableIsFree) {
  EXPECT_EQ(quads_in({load_of(0, 0), load_of(1, 1), load_of(2, 2), copy_of(9, 3), load_of(3, 3)}),
            0U)
      << "used";
  EXPECT_EQ(quads_in({load_of(0, 0), load_of(1, 1), load_of(2, 2), copy_of(3, 9), load_of(3, 3)}),
            0U)
      << "set";
}

TEST(Quads, NothingIsLoadedBeforeAStoreThatMayBeThere) {
  Block body = {load_of(0, 0), load_of(1, 1), load_of(2, 2), store_of(9, 40), load_of(3, 3)};
  EXPECT_EQ(quads_in(body), 0U);
  body[3] = store_of(9, 40, 1);
  EXPECT_EQ(quads_in(body), 1U) << "another tensor";
}

TEST(Quads, NothingIsStoredAfterItsVariableIsSetAgain) {
  EXPECT_EQ(
      quads_in({store_of(0, 0), store_of(1, 1), copy_of(0, 9), store_of(2, 2), store_of(3, 3)}),
      0U);
}

TEST(Quads, NothingIsStoredAfterAnAccessThatMayBeThere) {
  EXPECT_EQ(
      quads_in({store_of(0, 0), store_of(1, 1), load_of(9, 40), store_of(2, 2), store_of(3, 3)}),
      0U);
  Block body = {store_of(0, 0), store_of(1, 1), store_of(9, 40, 0, 4), store_of(2, 2),
                store_of(3, 3)};
  EXPECT_EQ(quads_in(body), 0U);
  body[2] = store_of(9, 41);
  EXPECT_EQ(quads_in(body), 1U) << "as far as one can see, elsewhere";
}

TEST(Quads, WhatIsStoredLaterIsNotLoadedAgainBefore) {
  // The stores are done at once behind the first load, so nothing may set v0 there.
  Block body = {store_of(0, 0), load_of(9, 0, 1), store_of(1, 1),    store_of(2, 2),
                store_of(3, 3), load_of(0, 1, 1), load_of(10, 2, 1), load_of(11, 3, 1)};
  EXPECT_EQ(quads_in(body), 1U);
}

TEST(Quads, EndWithWhatRunsInOrder) {
  Instruction barrier{Kind::barrier};
  EXPECT_EQ(quads_in({load_of(0, 0), load_of(1, 1), barrier, load_of(2, 2), load_of(3, 3)}), 0U);
}

}  // namespace
}  // namespace lathe::test
