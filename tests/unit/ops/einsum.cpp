// Sums of products by an equation, and running sums and products.
#include <map>

#include "support/run_call.h"

namespace lathe::test {
namespace {

/// Sums up over all values of all letters. "letters" are one string for each operand; those of the
/// output come last. Extents are taken from the operands; extent 1 meets every index.
std::vector<double> contracted(const std::vector<lathe::Array>& x,
                               const std::vector<std::string>& letters) {
  std::map<char, long> extents;
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t d = 0; d < letters[i].size(); ++d) {
      long& extent = extents[letters[i][d]];
      extent = std::max(extent, x[i].shape()[d]);
    }
  }
  Shape all, output;
  std::map<char, size_t> place;
  for (const auto& [letter, extent] : extents) {
    place[letter] = all.size();
    all.push_back(extent);
  }
  for (char letter : letters.back()) output.push_back(extents[letter]);
  auto element = [&](const std::string& names, const Shape& shape, const Shape& at) {
    Shape index;
    for (size_t d = 0; d < names.size(); ++d) {
      index.push_back(shape[d] == 1 ? 0 : at[place[names[d]]]);
    }
    return offset(shape, index);
  };
  std::vector<std::vector<double>> values;
  for (const lathe::Array& array : x) values.push_back(array.reals());
  std::vector<double> result(static_cast<size_t>(count_of(output)), 0);
  for_each_index(all, [&](const Shape& at) {
    double product = 1;
    for (size_t i = 0; i < x.size(); ++i) {
      product *= values[i][element(letters[i], x[i].shape(), at)];
    }
    result[element(letters.back(), output, at)] += product;
  });
  return result;
}

struct Case {
  std::string operands, equation;
  std::vector<std::string> letters;  ///< the equation with letters for "..."
  Shape shape;
};

TEST(Einsum, EqualsLoopsOverAllLetters) {
  const std::vector<Case> all = {
      {"f64[2x3], f64[3x4]", "ij,jk->ik", {"ij", "jk", "ik"}, {2, 4}},
      {"f64[2x3], f64[3x4]", " i j , j k ", {"ij", "jk", "ik"}, {2, 4}},
      {"f64[2x3]", "ba", {"ba", "ab"}, {3, 2}},
      {"f64[3x3]", "ii", {"ii", ""}, {}},
      {"f64[3x3]", "ii->i", {"ii", "i"}, {3}},
      {"f64[2x3x3]", "...ii->...i", {"xii", "xi"}, {2, 3}},
      {"f64[2x3x4]", "...j->...", {"xyj", "xy"}, {2, 3}},
      {"f64[2x3]", "ij->", {"ij", ""}, {}},
      {"f64[5x2x3], f64[1x3x4], f64[4]", "...ij, ...jk, k", {"xij", "xjk", "k", "xi"}, {5, 2}},
      {"f64[2x1x3], f64[4x3]", "...a,...a->...", {"xya", "ya", "xy"}, {2, 4}},
      {"f64[3], f64[4]", "i,j->ji", {"i", "j", "ji"}, {4, 3}},
      {"f64[2x3], f64[2x3]", "nI,nI->n", {"nI", "nI", "n"}, {2}},
      {"f64[]", "->", {"", ""}, {}},
      {"f64[1x2x1], f64[2x1]", "abc,bd->dca", {"abc", "bd", "dca"}, {1, 1, 1}},
  };
  for (const Case& test : all) {
    SCOPED_TRACE(test.equation);
    CallRun run(fmt::format("einsum({}, equation=\"{}\")", test.operands, test.equation));
    EXPECT_EQ(run.outputs[0].shape(), test.shape);
    expect_elements(run.outputs[0], contracted(run.inputs, test.letters));
  }
}

TEST(Einsum, OfNothingIsZero) {
  CallRun run("einsum(f64[2x0], f64[0x3], equation=\"ij,jk->ik\")");
  expect_elements(run.outputs[0], std::vector<double>(6, 0));
}

TEST(Einsum, RefusesWhatMakesNoSense) {
  expect_call_error("einsum(f32[2x3], equation=\"ij,jk->ik\")",
                    "einsum: equation \"ij,jk->ik\" has 2 operands, not 1");
  expect_call_error("einsum(f32[2x3], equation=\"ijk\")",
                    "einsum: operand 0, 2x3, does not have the dimensions \"ijk\"");
  expect_call_error("einsum(f32[2x3], equation=\"i\")", "does not have the dimensions \"i\"");
  expect_call_error("einsum(f32[2x3], equation=\"ii\")",
                    "einsum: \"i\" is 2 in one place and 3 in another");
  expect_call_error("einsum(f32[2], equation=\"i->j\")", "\"j\" of the output is in no operand");
  expect_call_error("einsum(f32[2], equation=\"i->ii\")", "twice in the output");
  expect_call_error("einsum(f32[2], equation=\"i2\")", "'2' is neither a letter nor one \"...\"");
  expect_call_error("einsum(f32[2], equation=\"i..\")", "'..' is neither a letter");
}

/// Returns running sums, or products, of each line along "axis".
std::vector<double> running(const lathe::Array& x, size_t axis, bool exclusive, bool reverse,
                            bool products) {
  const Shape& shape = x.shape();
  std::vector<double> values = x.reals(), result;
  for_each_index(shape, [&](const Shape& at) {
    double total = products ? 1 : 0;
    for (long i = 0; i < shape[axis]; ++i) {
      bool counts = reverse ? i > at[axis] : i < at[axis];
      if (!counts && (exclusive || i != at[axis])) continue;
      Shape from = at;
      from[axis] = i;
      double value = values[offset(shape, from)];
      total = products ? total * value : total + value;
    }
    result.push_back(total);
  });
  return result;
}

TEST(Cumulative, SumsAndProducts) {
  for (const char* shape : {"2x5", "4x3x2", "3x1", "1x1x7"}) {
    for (long axis : {0, 1, -1}) {
      for (long flags = 0; flags < 4; ++flags) {
        std::string rest = fmt::format("(f64[{}], axis={}, exclusive={}, reverse={})", shape, axis,
                                       flags % 2, flags / 2);
        SCOPED_TRACE(rest);
        CallRun sums("cumsum" + rest), products("cumprod" + rest);
        size_t along = axis < 0 ? sums.inputs[0].rank() - 1 : static_cast<size_t>(axis);
        bool exclusive = flags % 2 == 1, reverse = flags / 2 == 1;
        expect_elements(sums.outputs[0], running(sums.inputs[0], along, exclusive, reverse, false));
        expect_elements(products.outputs[0],
                        running(products.inputs[0], along, exclusive, reverse, true));
      }
    }
  }
}

TEST(Cumulative, WorkOnIntegersAndRefuseWhatMakesNoSense) {
  lathe::Array x = integers({4}, {1, 2, 3, 4}, Element::i32);
  expect_elements(CallRun("cumsum(i32[4], axis=0)", {x}).outputs[0], {1, 3, 6, 10});
  expect_elements(CallRun("cumprod(i32[4], axis=0)", {x}).outputs[0], {1, 2, 6, 24});
  expect_call_error("cumsum(f32[2])", "cumsum: attribute 'axis' is missing");
  expect_call_error("cumprod(f32[2], axis=1)", "axis=1 is no axis of a tensor with 1 dimensions");
  expect_call_error("cumprod(string[2], axis=0)", "cumprod: operand 0 is text");
}

}  // namespace
}  // namespace lathe::test
