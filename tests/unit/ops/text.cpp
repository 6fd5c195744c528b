// The text form of operators: what it accepts, what it says when it does not, and that the nests
// of all operators survive printing and parsing.
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "support/run_op.h"

namespace lathe::test {
namespace {

std::string error_of(const std::string& text) {
  Context context;
  try {
    parse_op(context, text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

void expect_error(const std::string& text, const std::string& part) {
  std::string error = error_of(text);
  EXPECT_NE(error.find(part), std::string::npos) << text << "\n  gives " << error;
}

/// Does the operator only run on arrays, as data choose the elements that it reads?
bool has_no_nest(const Op& op) { return op.nest == nullptr && op.graph.nest == nullptr; }

TEST(OpText, EveryNestSurvivesPrintingAndParsing) {
  for (const Op& op : operators()) {
    EXPECT_GE(op.examples.size(), 2u) << op.name;
    if (has_no_nest(op)) continue;
    for (const std::string& example : op.examples) {
      Context context;
      std::string text = print(parse_op(context, example));
      EXPECT_EQ(print(parse_nest(context, text)), text) << example;
    }
  }
}

TEST(OpText, NestsWithoutLoopsSurvivePrintingAndParsing) {
  for (const char* example : {"conv(co=1, ci=1, oh=1, ow=1, k=1)", "add(c=1)",
                              "avg_pool(c=1, oh=1, ow=1, k=3, pad=1)", "matmul(i=1, j=1, k=1)"}) {
    Context context;
    std::string text = print(parse_op(context, example));
    EXPECT_EQ(print(parse_nest(context, text)), text) << example;
  }
}

TEST(OpText, EveryExampleNamesItsOperator) {
  for (const Op& op : operators()) {
    EXPECT_FALSE(op.summary.empty()) << op.name;
    Context context;
    for (const std::string& example : op.examples) {
      if (has_no_nest(op)) {
        EXPECT_EQ(parse_call(example).name(), op.name) << example;
        EXPECT_FALSE(infer(parse_call(example)).empty()) << example;
      } else {
        EXPECT_EQ(parse_op(context, example).name, op.name) << example;
      }
    }
  }
}

TEST(OpText, IgnoresSpaceAndTheOrderOfParameters) {
  Context context;
  EXPECT_EQ(print(parse_op(context, " matmul ( k = 6,i=4 ,\n j=5 ) ")),
            print(parse_op(context, "matmul(i=4, j=5, k=6)")));
}

TEST(OpText, PrintsAsOnPaper) {
  Context context;
  EXPECT_EQ(print(parse_op(context, "max_pool(n=2, c=3, oh=4, ow=5, k=3, stride=2, pad=1)")),
            "nest max_pool\n"
            "tensor I: input f32[2, 3, 9, 11] pad [0, 0, 1, 1] with -inf\n"
            "tensor O: output f32[2, 3, 4, 5]\n"
            "statement max_pool[n < 2, c < 3, oh < 4, ow < 5, kh < 3, kw < 3]:\n"
            "  O[n, c, oh, ow] max= I[n, c, 2*oh + kh, 2*ow + kw]\n"
            "schedule:\n"
            "  for n, c, oh, ow, kh, kw:\n"
            "    max_pool\n");
}

TEST(OpText, RejectsUnknownOperators) {
  expect_error("convolve(co=1)", "operator:1:1: no operator 'convolve'; operators here: abs acos ");
  expect_error("", "no operator");
  expect_error("(co=1)", "no operator '('");
}

TEST(OpText, RejectsUnknownParameters) {
  expect_error("relu(c=1, depth=2)",
               "operator:1:11: no parameter 'depth'; it is relu(n=0, c, h=0, w=0)");
  expect_error("matmul(m=1)", "no parameter 'm'");
}

TEST(OpText, RejectsMissingParameters) {
  expect_error("matmul(i=1, k=2)", "'j' is missing; it is matmul(n=0, i, j, k)");
  expect_error("relu()", "'c' is missing");
}

TEST(OpText, RejectsParametersGivenTwice) {
  expect_error("relu(c=1, h=2, c=1)", "operator:1:16: parameter 'c' is given twice");
}

TEST(OpText, RejectsBadSyntax) {
  expect_error("relu", "expected '('");
  expect_error("relu(c)", "expected '='");
  expect_error("relu(c=)", "expected an integer, found ')'");
  expect_error("relu(c=x)", "expected an integer, found 'x'");
  expect_error("relu(c=1.5)", "expected an integer, found '1.5'");
  expect_error("relu(c=--1)", "expected an integer, found '-'");
  expect_error("relu(c=1 h=2)", "expected ')', found 'h'");
  expect_error("relu(c=1", "expected ')'");
  expect_error("relu(c=1))", "unexpected ')'");
}

TEST(OpText, RejectsValuesThatAreTooLarge) {
  expect_error("relu(c=16777217)", "operator:1:8: 'c' may be at most 16777216");
  expect_error("relu(c=99999999999999999999)", "expected an integer");
}

TEST(OpText, RejectsSizesThatMakeNoSense) {
  expect_error("conv(co=0, ci=1, oh=1, ow=1, k=1)", "conv: co must be at least 1, not 0");
  expect_error("conv(co=1, ci=1, oh=1, ow=-1, k=1)", "conv: ow must be at least 1, not -1");
  expect_error("conv(n=-1, co=1, ci=1, oh=1, ow=1, k=1)", "conv: n must be at least 0, not -1");
  expect_error("conv(co=1, ci=1, oh=1, ow=1, k=1, stride=0)", "stride must be at least 1");
  expect_error("conv(co=1, ci=1, oh=1, ow=1, k=1, dilation=0)", "dilation must be at least 1");
  expect_error("conv(co=1, ci=1, oh=1, ow=1)", "give the kernel's size");
  expect_error("conv(co=1, ci=1, oh=1, ow=1, k=3, kh=-1)", "give the kernel's size");
  expect_error("conv(co=1, ci=1, oh=1, ow=1, k=1, pad=-1)", "pad must be at least 0");
  expect_error("conv(co=1, ci=1, oh=2, ow=2, k=1, pad=1)",
               "conv: pad=1 leaves nothing of the input that the windows span");
  expect_error("conv(co=1, ci=1, oh=2, ow=2, k=3, ih=3)",
               "conv: ih=3 does not fit: with this output the windows span 4 of it");
  expect_error("conv(co=4, ci=6, oh=1, ow=1, k=1, groups=4)",
               "conv: groups=4 must divide co=4 and ci=6");
  expect_error("conv(co=4, ci=6, oh=1, ow=1, k=1, bias=2)", "conv: bias must be 0 or 1, not 2");
  expect_error("depthwise(c=0, oh=1, ow=1, k=1)", "depthwise: c must be at least 1");
  expect_error("matmul(i=1, j=0, k=1)", "matmul: j must be at least 1");
  expect_error("fully_connected(co=1, ci=0)", "fully_connected: ci must be at least 1");
  expect_error("max_pool(c=1, oh=9, ow=9, k=2, pad=2)",
               "max_pool: pad=2 must be less than the kernel's 2 by 2");
  expect_error("avg_pool(c=1, oh=9, ow=9, kh=3, kw=1, pad=1)",
               "avg_pool: pad=1 must be less than the kernel's 3 by 1");
  expect_error("avg_pool(c=1, oh=1, ow=1, k=1, count_pad=7)", "count_pad must be 0 or 1, not 7");
  expect_error("global_pool(c=1, h=0, w=1)", "global_pool: h must be at least 1");
  expect_error("relu(c=0)", "relu: c must be at least 1");
  expect_error("relu(c=1, h=-2)", "relu: h must be at least 0, not -2");
  expect_error("add(c=1, bc=2)", "add: bc must be 0 or 1");
  expect_error("mul(c=1, bh=1)", "mul: bh=1 needs the dimension h, which is 0");
  expect_error("concat(c1=1, c2=0, h=1, w=1)", "concat: c2 must be at least 1");
  expect_error("upsample(c=1, h=1, w=1, factor=0)", "upsample: factor must be at least 1");
}

TEST(LoadNest, ReadsAnOperatorOrAFile) {
  Context context;
  std::string op = "matmul(i=4, j=5, k=6)", path = testing::TempDir() + "lathe_ops_text.nest";
  std::string text = print(load_nest(context, op));
  std::ofstream(path) << text;
  EXPECT_EQ(print(load_nest(context, path)), text);
}

TEST(LoadNest, SaysWhichFileIsMissing) {
  Context context;
  try {
    load_nest(context, "nowhere/at_all.nest");
    FAIL() << "read a file that does not exist";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("cannot read 'nowhere/at_all.nest'"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace lathe::test
