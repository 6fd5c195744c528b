// FastMath: cheaper functions, as near as the pass says.
#include "support/run_graph.h"

namespace lathe::test {
namespace {

TEST(FastMath, ReplacesWhatIsDear) {
  EXPECT_EQ(print_nodes(after_pass("FastMath",
                                   "graph g\n"
                                   "input x: f32[2x30]\n"
                                   "a = tanh(x): f32[2x30]\n"
                                   "b = gelu(a): f32[2x30]\n"
                                   "y = softmax(b): f32[2x30]\n"
                                   "output y\n")),
            "a = fast_tanh(x): f32[2x30]\n"
            "b = fast_gelu(a): f32[2x30]\n"
            "y = softmax(b): f32[2x30]\n");
}

TEST(FastMath, LeavesOtherFunctionsAndTypes) {
  std::string given =
      "graph g\n"
      "input x: f32[4]\n"
      "input d: f64[4]\n"
      "a = swish(x, alpha=2.0): f32[4]\n"
      "b = tanh(d): f64[4]\n"
      "c = exp(x): f32[4]\n"
      "output a\noutput b\noutput c\n";
  EXPECT_EQ(print(after_pass("FastMath", given)), print(parse_graph(given)));
}

/// Returns an operator's value at each of these numbers.
std::vector<double> values_of(const std::string& op, const std::vector<double>& at) {
  Type type{Element::f32, {static_cast<long>(at.size())}};
  Context context;
  Call call(*find_op(op), {Operand{type}}, {});
  return evaluate(context, call, {lathe::Array::of_reals(Element::f32, type.shape, at)})[0].reals();
}

TEST(FastMath, FunctionsAreAsNearAsStated) {
  std::vector<double> at{0, 1e-6, 1e6, -1e6, 1e30, -1e30};
  for (int i = -4000; i <= 4000; ++i) at.push_back(i / 200.0);
  for (const char* name : {"tanh", "erf", "sigmoid", "swish", "gelu", "gelu_tanh"}) {
    std::vector<double> exact = values_of(name, at),
                        fast = values_of("fast_" + std::string(name), at);
    bool has_factor = name == std::string("swish") || std::string(name).starts_with("gelu");
    for (size_t i = 0; i < at.size(); ++i) {
      double bound = find_pass("FastMath").tolerance * (has_factor ? std::abs(at[i]) : 1);
      ASSERT_NEAR(fast[i], exact[i], bound) << name << " at " << at[i];
    }
  }
}

}  // namespace
}  // namespace lathe::test
