// Several operators as one nest: what it looks like, what it computes, what is refused.
#include "nest/text.h"
#include "support/run_call.h"

namespace lathe::test {
namespace {

std::string nest_text(const std::string& call) {
  Context context;
  return print(nest_of(context, parse_call(call)));
}

TEST(Fused, IsOneNestWithLocalTensors) {
  EXPECT_EQ(nest_text("fused(f32[2x3x5x5], weight f32[4x3x3x3], weight f32[4], f32[2x4x3x3], "
                      "calls=[\"conv(%0, %1, %2)\", \"add(%3, #0)\", \"relu(#1)\"])"),
            "nest fused\n"
            "tensor I: input f32[2, 3, 5, 5]\n"
            "tensor W: weight f32[4, 3, 3, 3]\n"
            "tensor O: local f32[2, 4, 3, 3]\n"
            "tensor B: weight f32[4]\n"
            "tensor A: input f32[2, 4, 3, 3]\n"
            "tensor O2: local f32[2, 4, 3, 3]\n"
            "tensor O3: output f32[2, 4, 3, 3]\n"
            "statement bias[n < 2, co < 4, oh < 3, ow < 3]:\n"
            "  O[n, co, oh, ow] = B[co]\n"
            "statement conv[n < 2, co < 4, ci < 3, oh < 3, ow < 3, kh < 3, kw < 3]:\n"
            "  O[n, co, oh, ow] += W[co, ci, kh, kw] * I[n, ci, oh + kh, ow + kw]\n"
            "statement add[n < 2, co < 4, oh < 3, ow < 3]:\n"
            "  O2[n, co, oh, ow] = A[n, co, oh, ow] + O[n, co, oh, ow]\n"
            "statement relu[n < 2, co < 4, oh < 3, ow < 3]:\n"
            "  O3[n, co, oh, ow] = max(O2[n, co, oh, ow], 0)\n"
            "schedule:\n"
            "  for n, co, oh, ow:\n"
            "    bias\n"
            "  for n, co, ci, oh, ow, kh, kw:\n"
            "    conv\n"
            "  for n, co, oh, ow:\n"
            "    add\n"
            "  for n, co, oh, ow:\n"
            "    relu\n");
}

TEST(Fused, LoopsAreNamedLikeThoseOfTheProducer) {
  EXPECT_EQ(
      nest_text("fused(f32[2x4x3x3], weight f32[4x2x3x3], "
                "calls=[\"conv(%0, %1, groups=2, pads=[1, 1, 1, 1])\", \"add(%0, #0)\"])"),
      "nest fused\n"
      "tensor I: input f32[2, 4, 5, 5] pad [0, 0, 1, 1]\n"
      "tensor W: weight f32[4, 2, 3, 3]\n"
      "tensor O: local f32[2, 4, 3, 3]\n"
      "tensor O2: output f32[2, 4, 3, 3]\n"
      "statement conv[n < 2, g < 2, co < 2, ci < 2, oh < 3, ow < 3, kh < 3, kw < 3]:\n"
      "  O[n, 2*g + co, oh, ow] += W[2*g + co, ci, kh, kw] * I[n, 2*g + ci, oh + kh, ow + kw]\n"
      "statement add[n < 2, co < 4, oh < 3, ow < 3]:\n"
      "  O2[n, co, oh, ow] = I[n, co, oh + 1, ow + 1] + O[n, co, oh, ow]\n"
      "schedule:\n"
      "  for n, g, co, ci, oh, ow, kh, kw:\n"
      "    conv\n"
      "  for n, co, oh, ow:\n"
      "    add\n");
  EXPECT_EQ(nest_text("fused(f32[2x3], f32[3x4], f32[4], "
                      "calls=[\"matmul(%0, %1)\", \"add(#0, %2)\"])"),
            "nest fused\n"
            "tensor A: input f32[2, 3]\n"
            "tensor B: input f32[3, 4]\n"
            "tensor O: local f32[2, 4]\n"
            "tensor B2: input f32[4]\n"
            "tensor O2: output f32[2, 4]\n"
            "statement matmul[i < 2, j < 4, k < 3]:\n"
            "  O[i, j] += A[i, k] * B[k, j]\n"
            "statement add[i < 2, j < 4]:\n"
            "  O2[i, j] = O[i, j] + B2[j]\n"
            "schedule:\n"
            "  for i, j, k:\n"
            "    matmul\n"
            "  for i, j:\n"
            "    add\n");
}

TEST(Fused, OperandsStandInTheirOrder) {
  EXPECT_EQ(nest_text("fused(f32[4], f32[3x4], f32[2x3], "
                      "calls=[\"matmul(%2, %1)\", \"add(#0, %0)\"])"),
            "nest fused\n"
            "tensor B2: input f32[4]\n"
            "tensor B: input f32[3, 4]\n"
            "tensor O: local f32[2, 4]\n"
            "tensor A: input f32[2, 3]\n"
            "tensor O2: output f32[2, 4]\n"
            "statement matmul[i < 2, j < 4, k < 3]:\n"
            "  O[i, j] += A[i, k] * B[k, j]\n"
            "statement add[i < 2, j < 4]:\n"
            "  O2[i, j] = O[i, j] + B2[j]\n"
            "schedule:\n"
            "  for i, j, k:\n"
            "    matmul\n"
            "  for i, j:\n"
            "    add\n");
  CallRun run("fused(f32[4], f32[3x4], f32[2x3], calls=[\"matmul(%2, %1)\", \"sub(%0, #0)\"])");
  CallRun product("matmul(f32[2x3], f32[3x4])", {run.inputs[2], run.inputs[1]});
  CallRun difference("sub(f32[4], f32[2x4])", {run.inputs[0], product.outputs[0]});
  expect_elements(run.outputs[0], difference.outputs[0].reals(), 1e-5);
}

TEST(Fused, ComputesWhatItsCallsCompute) {
  CallRun run(
      "fused(f32[1x2x5x5], weight f32[4x1x3x3], f32[4x1x1], calls=["
      "\"conv(%0, %1, groups=2, pads=[1, 1, 1, 1])\", \"mul(#0, %2)\", \"tanh(#1)\", "
      "\"sub(#2, #1)\", \"max_pool(#3, kernel=[2, 2])\"])");
  CallRun conv("conv(f32[1x2x5x5], f32[4x1x3x3], groups=2, pads=[1, 1, 1, 1])",
               {run.inputs[0], run.inputs[1]});
  CallRun mul("mul(f32[1x4x5x5], f32[4x1x1])", {conv.outputs[0], run.inputs[2]});
  CallRun tanh("tanh(f32[1x4x5x5])", {mul.outputs[0]});
  CallRun sub("sub(f32[1x4x5x5], f32[1x4x5x5])", {tanh.outputs[0], mul.outputs[0]});
  CallRun pool("max_pool(f32[1x4x5x5], kernel=[2, 2])", {sub.outputs[0]});
  expect_elements(run.outputs[0], pool.outputs[0].reals(), 1e-5);
}

TEST(Fused, AnOperandWithPaddingIsReadWithoutItToo) {
  CallRun run(
      "fused(f32[1x2x4x4], f32[2x2x3x3], "
      "calls=[\"conv(%0, %1, pads=[2, 1, 0, 1])\", \"add(#0, %0)\"])");
  CallRun conv("conv(f32[1x2x4x4], f32[2x2x3x3], pads=[2, 1, 0, 1])", run.inputs);
  CallRun add("add(f32[1x2x4x4], f32[1x2x4x4])", {conv.outputs[0], run.inputs[0]});
  expect_elements(run.outputs[0], add.outputs[0].reals(), 1e-5);
}

TEST(Fused, TextComesBack) {
  for (const std::string& example : find_op("fused")->examples) {
    std::string text = print(parse_call(example));
    EXPECT_EQ(print(parse_call(text)), text);
  }
  const std::string left_out = "fused(f32[1x2x3x3], f32[2x2x1x1], calls=[\"conv(%0, %1, _)\"])";
  EXPECT_EQ(print(parse_call(left_out)), left_out);
  EXPECT_EQ(call_error(left_out), "accepted");
  const std::string with_text =
      "fused(f32[2x3], f32[3x4], "
      "calls=[\"einsum(%0, %1, equation=\\\"ij,jk->ik\\\")\", \"relu(#0)\"])";
  EXPECT_EQ(print(parse_call(with_text)), with_text);
  EXPECT_EQ(call_error(with_text), "accepted");
}

/// Expects an error of fused(f32[2x3], f32[3], calls=[...]).
void expect_refused(const std::string& calls, const std::string& error) {
  expect_call_error("fused(f32[2x3], f32[3], calls=[" + calls + "])", error);
}

TEST(Fused, RefusesReferencesToNothing) {
  expect_refused("\"add(%0, %2)\"", "fused: calls[0]:1:9: no operand %2; there are 2");
  expect_refused("\"add(%0, %1)\", \"relu(#1)\"",
                 "fused: calls[1]:1:6: #1 is not computed before this call");
  expect_refused("\"relu(%0)\"", "fused: no call uses operand %1");
  expect_refused("\"relu(%0)\", \"relu(%1)\"", "fused: no call uses result #0");
}

TEST(Fused, RefusesBadSyntax) {
  expect_call_error("fused(f32[2])", "fused: attribute 'calls' is missing");
  expect_call_error("fused(f32[2], calls=[])", "fused: calls=[] has no call");
  expect_call_error("fused(_, f32[2], calls=[\"relu(%1)\"])", "fused: operand 0 is missing");
  expect_refused("\"\"", "fused: calls[0]:1:1: no operator 'the end'");
  expect_refused("\"rely(%0)\"", "fused: calls[0]:1:1: no operator 'rely'");
  expect_refused("\"relu %0\"", "calls[0]:1:6: expected '(', found '%'");
  expect_refused("\"relu(%x)\"", "calls[0]:1:7: expected a number, found 'x'");
  expect_refused("\"relu(0)\"",
                 "calls[0]:1:6: expected an operand like %0, a result like #0, or an attribute");
  expect_refused("\"relu(%0\"", "calls[0]:1:8: expected ')', found 'the end'");
  expect_refused("\"relu(%0) more\"", "calls[0]:1:10: unexpected 'more'");
  expect_refused("\"clip(%0, max=1.0, max=2.0)\"", "attribute 'max' is given twice");
}

TEST(Fused, RefusesCallsThatDoNotFit) {
  expect_refused("\"add(%0)\"", "fused: calls[0]: add: takes 2 operands, not 1");
  expect_refused("\"add(%0, %1)\", \"clip(#0, most=1.0)\"",
                 "fused: calls[1]: clip: no attribute 'most'; it has: min, max");
  expect_refused("\"non_zero(%0)\"", "non_zero cannot be fused: it has no nest in a graph");
  expect_call_error("fused(f32[2x3], i64[4], calls=[\"gather(%0, %1)\"])",
                    "fused: calls[0]: gather: cannot be fused: data decide what it reads");
  expect_refused("\"fused(%0, %1)\"", "a fused operator is no part of another");
  expect_call_error("fused(f32[2x0], calls=[\"relu(%0)\"])", "fused: operand %0 is empty");
}

TEST(Fused, AResultThatIsReadWithPaddingIsStoredWithIt) {
  EXPECT_EQ(nest_text("fused(f32[1x2x3x4], weight f32[2x1x3x3], "
                      "calls=[\"relu(%0)\", \"conv(#0, %1, groups=2, pads=[1, 0, 1, 0])\"])"),
            "nest fused\n"
            "tensor I: input f32[1, 2, 3, 4]\n"
            "tensor O: local f32[1, 2, 5, 4]\n"
            "tensor W: weight f32[2, 1, 3, 3]\n"
            "tensor O2: output f32[1, 2, 3, 2]\n"
            "statement relu[c < 2, h < 3, w < 4]:\n"
            "  O[0, c, h + 1, w] = max(I[0, c, h, w], 0)\n"
            "statement border[i1 < 2, i3 < 4]:\n"
            "  O[0, i1, 0, i3] = 0\n"
            "statement border2[i1 < 2, i3 < 4]:\n"
            "  O[0, i1, 4, i3] = 0\n"
            "statement conv[g < 2, oh < 3, ow < 2, kh < 3, kw < 3]:\n"
            "  O2[0, g, oh, ow] += W[g, 0, kh, kw] * O[0, g, oh + kh, ow + kw]\n"
            "schedule:\n"
            "  for i1, i3:\n"
            "    border\n"
            "  for i1, i3:\n"
            "    border2\n"
            "  for c, h, w:\n"
            "    relu\n"
            "  for g, oh, ow, kh, kw:\n"
            "    conv\n");
}

/// Expects that a 1x1 convolution, a function of each element if there is one, and an operator with
/// padding compute as one what they compute one after the other.
void expect_same_in_between(const std::string& shape, const std::string& function,
                            const std::string& last) {
  SCOPED_TRACE(shape + " " + function + " " + last);
  std::string between = function.empty() ? "" : fmt::format("\"{}(#0)\", ", function);
  std::string of = function.empty() ? "#0" : "#1";
  CallRun run(
      fmt::format("fused(f32[{}], weight f32[4x3x1x1], weight f32[4x1x3x3], "
                  "calls=[\"conv(%0, %1)\", {}\"conv({}, %2, groups=4, {})\"])",
                  shape, between, of, last));
  CallRun first(fmt::format("conv(f32[{}], f32[4x3x1x1])", shape), {run.inputs[0], run.inputs[1]});
  std::string wide = shape;
  wide[2] = '4';
  std::vector<lathe::Array> values = first.outputs;
  if (!function.empty())
    values = CallRun(fmt::format("{}(f32[{}])", function, wide), values).outputs;
  CallRun second(fmt::format("conv(f32[{}], f32[4x1x3x3], groups=4, {})", wide, last),
                 {values[0], run.inputs[2]});
  expect_elements(run.outputs[0], second.outputs[0].reals(), 1e-5);
}

TEST(Fused, PaddingInBetweenIsWhatItIsAround) {
  for (const char* shape : {"1x3x5x6", "2x3x7x5", "1x3x4x4"}) {
    for (const char* function : {"relu", "tanh", ""}) {
      for (const char* last : {"pads=[1, 1, 1, 1]", "pads=[1, 1, 1, 1], strides=[2, 2]",
                               "pads=[0, 2, 1, 0]", "pads=[2, 2, 2, 2], dilations=[2, 2]"}) {
        expect_same_in_between(shape, function, last);
      }
    }
  }
}

TEST(Fused, OneResultIsReadWithAndWithoutPadding) {
  CallRun run(
      "fused(f32[1x2x4x5], f32[2x2x3x3], "
      "calls=[\"exp(%0)\", \"conv(#0, %1, pads=[1, 1, 1, 1])\", \"sub(#1, #0)\"])");
  CallRun exp("exp(f32[1x2x4x5])", {run.inputs[0]});
  CallRun conv("conv(f32[1x2x4x5], f32[2x2x3x3], pads=[1, 1, 1, 1])",
               {exp.outputs[0], run.inputs[1]});
  CallRun sub("sub(f32[1x2x4x5], f32[1x2x4x5])", {conv.outputs[0], exp.outputs[0]});
  expect_elements(run.outputs[0], sub.outputs[0].reals(), 1e-5);
}

TEST(Fused, RefusesTwoPaddings) {
  expect_call_error(
      "fused(f32[1x2x4x4], f32[2x2x3x3], "
      "calls=[\"relu(%0)\", \"conv(%0, %1, pads=[1, 1, 1, 1])\", \"add(#0, #1)\"])",
      "fused: operand %0 is read with two different paddings");
  expect_call_error(
      "fused(f32[1x2x4x4], f32[2x2x3x3], f32[2x2x5x5], "
      "calls=[\"relu(%0)\", \"conv(#0, %1, pads=[1, 1, 1, 1])\", "
      "\"conv(#0, %2, pads=[2, 2, 2, 2])\", \"add(#1, #2)\"])",
      "fused: result #0 is read with two different paddings");
}

}  // namespace
}  // namespace lathe::test
