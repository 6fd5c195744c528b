// op.cpp: the text form of operators. Interface: op.h.
#include "ops/op.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/lexer.h"
#include "data/file.h"
#include "graph/text.h"
#include "nest/text.h"
#include "ops/op_formula.h"

namespace lathe {
namespace {

constexpr long max_value = 1L << 24;

const Op& parse_name(Lexer& lexer) {
  const std::string& name = lexer.peek().text;
  const Op* found = find_op(name);
  if (found == nullptr) {
    std::string known;
    for (const Op& op : operators()) known += " " + op.name;
    lexer.fail_here(fmt::format("no operator '{}'; operators here:{}", name, known));
  }
  lexer.take();
  return *found;
}

std::string signature(const Op& op) {
  std::string out;
  for (const Param& p : op.params) {
    out += out.empty() ? "" : ", ";
    out += p.otherwise ? fmt::format("{}={}", p.name, *p.otherwise) : p.name;
  }
  return fmt::format("{}({})", op.name, out);
}

void parse_param(Lexer& lexer, const Op& op, std::map<std::string, long>& values) {
  std::string name = lexer.peek().text;
  bool known = std::any_of(op.params.begin(), op.params.end(),
                           [&](const Param& p) { return p.name == name; });
  if (!known) lexer.fail_here(fmt::format("no parameter '{}'; it is {}", name, signature(op)));
  if (values.contains(name)) lexer.fail_here(fmt::format("parameter '{}' is given twice", name));
  lexer.take();
  lexer.expect("=");
  size_t place = lexer.position();
  bool negative = lexer.accept("-");
  long magnitude = lexer.expect_integer("an integer");
  if (magnitude > max_value) {
    lexer.seek(place);
    lexer.fail_here(fmt::format("'{}' may be at most {}", name, max_value));
  }
  values[name] = negative ? -magnitude : magnitude;
}

}  // namespace

long Params::operator[](const std::string& name) const {
  auto found = values_.find(name);
  check(found != values_.end(), "operators only ask for parameters that they declare");
  return found->second;
}

const std::vector<Op>& operators() {
  static const std::vector<Op> all = [] {
    std::vector<Op> list = ops::all();
    for (const Formula& formula : formulas()) list.push_back(op_of(formula));
    std::sort(list.begin(), list.end(), [](const Op& a, const Op& b) { return a.name < b.name; });
    return list;
  }();
  return all;
}

const Op* find_op(std::string_view name) {
  const auto& all = operators();
  auto found = std::lower_bound(all.begin(), all.end(), name,
                                [](const Op& op, std::string_view n) { return op.name < n; });
  return found != all.end() && found->name == name ? &*found : nullptr;
}

namespace {

/// Reads what follows "name(" as operands and attributes.
Call parse_operands(Lexer& lexer, const Op& op) {
  if (op.graph.infer == nullptr) {
    lexer.fail_here(fmt::format("{} takes sizes, not operands; it is {}", op.name, signature(op)));
  }
  std::vector<std::optional<Operand>> operands;
  Attributes attributes;
  while (!lexer.sees(")")) {
    if (lexer.accept("_")) {
      operands.emplace_back();
    } else if (lexer.accept("weight")) {
      operands.push_back(Operand{parse_type(lexer), true});
    } else if (sees_type(lexer)) {
      operands.push_back(Operand{parse_type(lexer), false});
    } else {
      std::string name = lexer.expect_name("an operand like f32[2x3], or an attribute");
      lexer.expect("=");
      if (!attributes.emplace(name, parse_attribute(lexer)).second) {
        lexer.fail_here(fmt::format("attribute '{}' is given twice", name));
      }
    }
    if (!lexer.accept(",")) break;
  }
  return Call(op, std::move(operands), attributes);
}

/// Reads what follows "name(" as sizes.
std::map<std::string, long> parse_sizes(Lexer& lexer, const Op& op) {
  std::map<std::string, long> values;
  while (!lexer.sees(")")) {
    parse_param(lexer, op, values);
    if (!lexer.accept(",")) break;
  }
  return values;
}

Params with_defaults(const Op& op, std::map<std::string, long> values) {
  for (const Param& p : op.params) {
    if (values.contains(p.name)) continue;
    if (!p.otherwise) fail("operator: '{}' is missing; it is {}", p.name, signature(op));
    values[p.name] = *p.otherwise;
  }
  return Params(std::move(values));
}

void parse_end(Lexer& lexer) {
  lexer.expect(")");
  if (!lexer.at_end()) lexer.fail_here("unexpected '" + lexer.peek().text + "'");
}

}  // namespace

Call parse_call(std::string_view text) {
  Lexer lexer("operator", text);
  const Op& op = parse_name(lexer);
  lexer.expect("(");
  Call call = parse_operands(lexer, op);
  parse_end(lexer);
  return call;
}

Nest parse_op(isl::ctx ctx, std::string_view text) {
  Lexer lexer("operator", text);
  const Op& op = parse_name(lexer);
  lexer.expect("(");
  if (op.nest == nullptr || lexer.sees("weight") || sees_type(lexer)) {
    Call call = parse_operands(lexer, op);
    parse_end(lexer);
    infer(call);
    return nest_of(ctx, call);
  }
  std::map<std::string, long> sizes = parse_sizes(lexer, op);
  parse_end(lexer);
  return op.nest(ctx, with_defaults(op, std::move(sizes)));
}

Nest load_nest(isl::ctx ctx, const std::string& text) {
  if (!text.ends_with(".nest")) return parse_op(ctx, text);
  return parse_nest(ctx, read_file(text), text);
}

}  // namespace lathe
