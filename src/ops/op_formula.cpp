// op_formula.cpp: the operators that treat each element alone. Interface: op_formula.h.
//
// To add one, add a line to the table; shapes, nest, text form and tests follow from it.
#include "ops/op_formula.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/lexer.h"
#include "nest/builder.h"
#include "ops/op_dims.h"
#include "ops/op_shape.h"

namespace lathe {
namespace {

using Result = Formula::Result;
using Operands = Formula::Operands;

const std::vector<Formula> table = {
    // arithmetic
    {"add", 2, "x + y"},
    {"sub", 2, "x - y"},
    {"mul", 2, "x * y"},
    {"div", 2, "x / y"},
    {"pow", 2, "pow(x, y)", {}, Result::first, Operands::mixed},
    {"mod", 2, "mod(x, y)"},
    {"rem", 2, "rem(x, y)"},
    {"maximum", 2, "max(x, y)"},
    {"minimum", 2, "min(x, y)"},
    {"identity", 1, "x"},
    {"neg", 1, "-x"},
    {"abs", 1, "abs(x)"},
    {"sign", 1, "less(0, x) - less(x, 0)"},
    {"floor", 1, "floor(x)"},
    {"ceil", 1, "ceil(x)"},
    {"round", 1, "round(x)"},
    {"reciprocal", 1, "1 / x"},
    {"sqrt", 1, "sqrt(x)"},
    {"exp", 1, "exp(x)"},
    {"log", 1, "log(x)"},
    {"erf", 1, "erf(x)"},
    {"sin", 1, "sin(x)"},
    {"cos", 1, "cos(x)"},
    {"tan", 1, "tan(x)"},
    {"asin", 1, "asin(x)"},
    {"acos", 1, "acos(x)"},
    {"atan", 1, "atan(x)"},
    {"sinh", 1, "(exp(x) - exp(-x)) / 2"},
    {"cosh", 1, "(exp(x) + exp(-x)) / 2"},
    {"tanh", 1, "tanh(x)"},
    {"asinh", 1, "(less(0, x) - less(x, 0)) * log(abs(x) + sqrt(x * x + 1))"},
    {"acosh", 1, "log(x + sqrt(x * x - 1))"},
    {"atanh", 1, "log((1 + x) / (1 - x)) / 2"},
    // activations
    {"relu", 1, "max(x, 0)"},
    {"leaky_relu", 1, "max(x, 0) + alpha * min(x, 0)", {{"alpha", 0.01}}},
    {"prelu", 2, "max(x, 0) + y * min(x, 0)"},
    {"thresholded_relu", 1, "select(less(alpha, x), x, 0)", {{"alpha", 1}}},
    {"elu", 1, "select(less(x, 0), alpha * (exp(x) - 1), x)", {{"alpha", 1}}},
    {"celu", 1, "max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0)", {{"alpha", 1}}},
    {"selu",
     1,
     "gamma * select(less(0, x), x, alpha * (exp(x) - 1))",
     {{"alpha", 1.6732632423543772}, {"gamma", 1.0507009873554805}}},
    {"sigmoid", 1, "1 / (1 + exp(-x))"},
    {"hard_sigmoid", 1, "max(min(alpha * x + beta, 1), 0)", {{"alpha", 0.2}, {"beta", 0.5}}},
    {"hard_swish", 1, "x * max(min(x + 3, 6), 0) / 6"},
    {"swish", 1, "x / (1 + exp(-alpha * x))", {{"alpha", 1}}},
    {"gelu", 1, "x / 2 * (1 + erf(x / 1.4142135623730951))"},
    {"gelu_tanh", 1, "x / 2 * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))"},
    {"softplus", 1, "max(x, 0) + log(1 + exp(-abs(x)))"},
    {"softsign", 1, "x / (1 + abs(x))"},
    {"mish", 1, "x * tanh(max(x, 0) + log(1 + exp(-abs(x))))"},
    {"shrink",
     1,
     "select(less(x, -lambda), x + bias, select(less(lambda, x), x - bias, 0))",
     {{"bias", 0}, {"lambda", 0.5}}},
    {"clip", 1, "max(min(x, max), min)", {{"min", 0}, {"max", 6}}},
    // activations as quotients of polynomials: off by at most 5e-5, times x where x is a factor.
    // Beyond the bounds they are what they tend to.
    {.name = "fast_tanh",
     .operands = 1,
     .text = "max(min(t * (1.000034 + s * (0.1157537 + s * 0.001576052)) / "
             "(1 + s * (0.449053 + s * (0.01796395 + s * 6.028515e-05))), 1), -1)",
     .within = 5.5},
    {.name = "fast_erf",
     .operands = 1,
     .text = "max(min(t * (1.128408 + s * (0.1539762 + s * (0.04325569 + s * 0.000752619))) / "
             "(1 + s * (0.4698257 + s * (0.09479449 + s * 0.009318109))), 1), -1)",
     .within = 3},
    {.name = "fast_sigmoid",
     .operands = 1,
     .text = "max(min(0.5 + t * (0.2500084 + s * (0.007234608 + s * 2.462581e-05)) / "
             "(1 + s * (0.1122632 + s * (0.001122747 + s * 9.419555e-07))), 1), 0)",
     .within = 11},
    {.name = "fast_swish",
     .operands = 1,
     .text = "x * max(min(0.5 + t * (0.2500084 + s * (0.007234608 + s * 2.462581e-05)) / "
             "(1 + s * (0.1122632 + s * (0.001122747 + s * 9.419555e-07))), 1), 0)",
     .within = 11},
    {.name = "fast_gelu",
     .operands = 1,
     .text = "x * max(min(0.5 + t * (0.3989525 + s * (0.02721941 + s * (0.003823299 + s * "
             "3.326137e-05))) / (1 + s * (0.2349129 + s * (0.02369862 + s * 0.001164764))), 1), 0)",
     .within = 4.24264},
    {.name = "fast_gelu_tanh",
     .operands = 1,
     .text = "x * max(min(0.5 + t * (0.3989564 + s * (0.02996815 + s * 0.002417874)) / "
             "(1 + s * (0.242459 + s * (0.02126891 + s * 0.0004040996))), 1), 0)",
     .within = 4},
    // comparison
    {"equal", 2, "equal(x, y)", {}, Result::boolean},
    {"less", 2, "less(x, y)", {}, Result::boolean},
    {"less_equal", 2, "less_equal(x, y)", {}, Result::boolean},
    {"greater", 2, "less(y, x)", {}, Result::boolean},
    {"greater_equal", 2, "less_equal(y, x)", {}, Result::boolean},
    {"is_nan", 1, "1 - equal(x, x)", {}, Result::boolean},
    {"is_inf",
     1,
     "positive * equal(x, inf) + negative * equal(x, -inf)",
     {{"positive", 1}, {"negative", 1}},
     Result::boolean},
    {"where", 3, "select(x, y, z)", {}, Result::second, Operands::mixed},
    // truth values and bits
    {"logical_and", 2, "x * y"},
    {"logical_or", 2, "max(x, y)"},
    {"logical_xor", 2, "x + y - 2 * x * y"},
    {"logical_not", 1, "1 - x"},
    {"bit_and", 2, "bit_and(x, y)"},
    {"bit_or", 2, "bit_or(x, y)"},
    {"bit_xor", 2, "bit_xor(x, y)"},
    {"bit_not", 1, "-1 - x"},
    {"shift_left", 2, "shift(x, y)"},
    {"shift_right", 2, "shift(x, -y)"},
};

/// Returns a value that is moved to -bound or bound if it is beyond.
Expr bounded(const Expr& value, double bound) {
  return call(Expr::Op::max, {call(Expr::Op::min, {value, number(bound)}), number(-bound)});
}

/// Says what a formula computes.
std::string summary_of(const Formula& formula) {
  if (formula.within == 0) return formula.text;
  return fmt::format("{0}; t is x between -{1} and {1}, s its square", formula.text,
                     formula.within);
}

/// Reads the formula with x, y, z for the reads and the settings' values in their places.
Expr value_of(const Formula& formula, const std::vector<Expr>& operands,
              const std::map<std::string, double>& settings) {
  Lexer lexer(formula.name, formula.text);
  return parse_expr(lexer, [&]() -> Expr {
    std::string name = lexer.expect_name("an operand or a setting");
    if (auto found = settings.find(name); found != settings.end()) return number(found->second);
    if (formula.within != 0 && (name == "t" || name == "s")) {
      Expr t = bounded(operands[0], formula.within);
      return name == "t" ? t : t * t;
    }
    size_t i = name == "x" ? 0 : name == "y" ? 1 : name == "z" ? 2 : operands.size();
    check(i < operands.size(), "a formula names its operands x, y, z");
    return operands[i];
  });
}

std::string tensor_name(const Formula& formula, size_t i) {
  return formula.operands == 1 ? "I" : std::string(1, static_cast<char>('A' + i));
}

Element result_element(const Formula& formula, const std::vector<Element>& operands) {
  switch (formula.result) {
    case Result::first:
      return operands[0];
    case Result::second:
      return operands[1];
    case Result::boolean:
      return Element::boolean;
  }
  return Element::f32;
}

/// The nest on its own and the one of a graph differ only in where their sizes come from.
Nest formula_nest(isl::ctx ctx, const Formula& formula, const StatementBuilder::Extents& loops,
                  const std::vector<Operand>& operands,
                  const std::map<std::string, double>& settings) {
  NestBuilder b(ctx, formula.name);
  auto& s = b.statement(formula.name, loops);
  std::vector<Index> here = ops::at(s, loops);
  std::vector<Expr> reads;
  std::vector<Element> elements;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Type& type = operands[i].type;
    Role role = operands[i].is_weight ? Role::weight : Role::input;
    size_t tensor = b.tensor(tensor_name(formula, i), role, type.shape, type.element);
    reads.push_back(s.read(tensor, ops::broadcast_at(s, here, type.shape)));
    elements.push_back(type.element);
  }
  Shape shape;
  for (const auto& [name, extent] : loops) shape.push_back(extent);
  size_t O = b.tensor("O", Role::output, shape, result_element(formula, elements));
  s.assign(O, here, value_of(formula, reads, settings));
  return b.build();
}

std::vector<Type> infer_formula(const Formula& formula, const Call& call) {
  std::vector<Element> elements;
  for (size_t i = 0; i < formula.operands; ++i) {
    if (formula.types == Operands::alike) ops::check_same_element(call, i);
    elements.push_back(call.element(i));
  }
  if (formula.name == "where" && call.element(1) != call.element(2)) {
    call.refuse("operands of the types {} and {} do not go together", name_of(call.element(1)),
                name_of(call.element(2)));
  }
  Shape shape = ops::broadcast(call, 0, formula.operands - 1);
  return {{result_element(formula, elements), shape}};
}

Nest nest_of_formula_call(const Formula& formula, isl::ctx ctx, const Call& call) {
  std::map<std::string, double> settings;
  for (const auto& [name, otherwise] : formula.settings) settings[name] = call.real(name);
  std::vector<Operand> operands;
  for (size_t i = 0; i < formula.operands; ++i) operands.push_back(call.operand(i));
  Shape shape = ops::broadcast(call, 0, formula.operands - 1);
  return formula_nest(ctx, formula, ops::loops_over(shape), operands, settings);
}

/// Sizes are integers: only settings that begin as one can be given beside them.
bool is_whole(double value) { return std::isfinite(value) && value == std::floor(value); }

std::vector<Param> params_of(const Formula& formula) {
  std::vector<Param> params{ops::batch_param(),
                            {"c", std::nullopt, "channels"},
                            {"h", 0, "rows; 0: no such dimension"},
                            {"w", 0, "columns; 0: no such dimension"}};
  for (const auto& [name, otherwise] : formula.settings) {
    if (is_whole(otherwise))
      params.push_back({name, static_cast<long>(otherwise), "in the formula"});
  }
  if (formula.operands < 2) return params;
  for (const char* dim : {"n", "c", "h", "w"}) {
    std::string meaning = fmt::format("1: along {}, what is not x has one element for all", dim);
    params.push_back({fmt::format("b{}", dim), 0, meaning});
  }
  return params;
}

Nest nest_of_formula_sizes(const Formula& formula, isl::ctx ctx, const Params& p) {
  ops::check_sizes(formula.name, p, {"c"});
  StatementBuilder::Extents loops;
  Shape second;
  for (const char* name : {"n", "c", "h", "w"}) {
    if (p[name] < 0) fail("{}: {} must be at least 0, not {}", formula.name, name, p[name]);
    bool one = formula.operands > 1 && ops::is_set(formula.name, p, fmt::format("b{}", name));
    if (one && p[name] == 0) {
      fail("{}: b{}=1 needs the dimension {}, which is 0", formula.name, name, name);
    }
    if (p[name] == 0) continue;
    loops.emplace_back(name, p[name]);
    second.push_back(one ? 1 : p[name]);
  }
  std::map<std::string, double> settings;
  for (const auto& [name, otherwise] : formula.settings) {
    settings[name] = is_whole(otherwise) ? static_cast<double>(p[name]) : otherwise;
  }
  Shape first;
  for (const auto& [name, extent] : loops) first.push_back(extent);
  std::vector<Operand> operands;
  for (size_t i = 0; i < formula.operands; ++i) {
    operands.push_back({{Element::f32, i == 0 ? first : second}});
  }
  return formula_nest(ctx, formula, loops, operands, settings);
}

}  // namespace

const std::vector<Formula>& formulas() { return table; }

bool is_formula(std::string_view op) {
  return std::any_of(table.begin(), table.end(),
                     [&](const Formula& formula) { return formula.name == op; });
}

Op op_of(const Formula& formula) {
  std::vector<Setting> settings;
  for (const auto& [name, value] : formula.settings) {
    settings.push_back({name, value, "in the formula"});
  }
  std::string broadcast = formula.operands > 1 ? ", bh=1, bw=1" : "";
  std::string one_channel = formula.operands > 1 ? "(n=2, c=7, bn=1)" : "(c=7)";
  return {.name = formula.name,
          .summary = summary_of(formula),
          .params = params_of(formula),
          .nest = [&formula](isl::ctx ctx,
                             const Params& p) { return nest_of_formula_sizes(formula, ctx, p); },
          .examples = {formula.name + "(c=3, h=4, w=5)",
                       formula.name + "(n=2, c=3, h=2, w=2" + broadcast + ")",
                       formula.name + one_channel},
          .graph = {.least = formula.operands,
                    .most = formula.operands,
                    .settings = settings,
                    .infer = [&formula](const Call& call) { return infer_formula(formula, call); },
                    .nest =
                        [&formula](isl::ctx ctx, const Call& call) {
                          return nest_of_formula_call(formula, ctx, call);
                        }}};
}

}  // namespace lathe
