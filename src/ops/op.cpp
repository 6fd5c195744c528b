// op.cpp: the text form of operators. Interface: op.h.
#include "ops/op.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/lexer.h"
#include "nest/text.h"

namespace lathe {
namespace {

constexpr long max_value = 1L << 24;

const Op& find_op(Lexer& lexer) {
  const auto& all = ops::all();
  const std::string& name = lexer.peek().text;
  auto found = std::find_if(all.begin(), all.end(), [&](const Op& op) { return op.name == name; });
  if (found == all.end()) {
    std::string known;
    for (const Op& op : all) known += " " + op.name;
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

Nest parse_op(isl::ctx ctx, std::string_view text) {
  Lexer lexer("operator", text);
  const Op& op = find_op(lexer);
  std::map<std::string, long> values;
  lexer.expect("(");
  while (!lexer.sees(")")) {
    parse_param(lexer, op, values);
    if (!lexer.accept(",")) break;
  }
  lexer.expect(")");
  if (!lexer.at_end()) lexer.fail_here("unexpected '" + lexer.peek().text + "'");
  for (const Param& p : op.params) {
    if (values.contains(p.name)) continue;
    if (!p.otherwise) fail("operator: '{}' is missing; it is {}", p.name, signature(op));
    values[p.name] = *p.otherwise;
  }
  return op.nest(ctx, Params(std::move(values)));
}

Nest load_nest(isl::ctx ctx, const std::string& text) {
  if (!text.ends_with(".nest")) return parse_op(ctx, text);
  std::ifstream file(text);
  if (!file) fail("cannot read '{}'; give a .nest file or an operator like conv(co=64, ...)", text);
  std::stringstream content;
  content << file.rdbuf();
  return parse_nest(ctx, content.str(), text);
}

}  // namespace lathe
