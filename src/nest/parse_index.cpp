// parse_index.cpp: indices and constraints of the text form. Interface: parse_parts.h,
// parse_constraints() of text.h.
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "nest/parse_parts.h"
#include "nest/text.h"

namespace lathe {
namespace {

/// Reads quasi-affine expressions of named coordinates.
class IndexParser {
 public:
  IndexParser(Lexer& lexer, isl::space space, const std::vector<std::string>& dims)
      : lexer_(lexer), space_(std::move(space)), dims_(dims) {}

  isl::aff sum() {
    isl::aff result = product();
    while (lexer_.sees("+") || lexer_.sees("-")) {
      bool minus = lexer_.take().text == "-";
      isl::aff next = product();
      result = result.add(minus ? next.neg() : next);
    }
    return result;
  }

 private:
  Lexer& lexer_;
  isl::space space_;
  const std::vector<std::string>& dims_;

  isl::aff product() {
    isl::aff result = factor();
    while (lexer_.sees("*") || lexer_.sees("/") || lexer_.sees("%")) {
      std::string symbol = lexer_.take().text;
      isl::aff right = factor();
      if (symbol == "*" && result.is_cst()) std::swap(result, right);
      if (!right.is_cst()) lexer_.fail_here("one side of '" + symbol + "' must be a constant");
      long constant = poly::take_apart(right).constant;
      if (symbol != "*" && constant < 1) lexer_.fail_here("the divisor must be positive");
      result = symbol == "*"   ? result.scale(constant)
               : symbol == "/" ? poly::quotient(result, constant)
                               : poly::remainder(result, constant);
    }
    return result;
  }

  isl::aff factor() {
    if (lexer_.accept("-")) return factor().neg();
    if (lexer_.accept("(")) {
      isl::aff inner = sum();
      lexer_.expect(")");
      return inner;
    }
    if (lexer_.peek().kind == Token::Kind::number) {
      return poly::constant(space_, lexer_.expect_integer("an integer"));
    }
    auto found = std::find(dims_.begin(), dims_.end(), lexer_.peek().text);
    if (found == dims_.end()) {
      lexer_.fail_here(fmt::format("'{}' is no coordinate of this statement; there are: {}",
                                   lexer_.peek().text, fmt::join(dims_, " ")));
    }
    lexer_.take();
    return poly::coordinate(space_, static_cast<size_t>(found - dims_.begin()));
  }
};

std::string parse_comparison(Lexer& lexer) {
  for (const char* symbol : {"<", "<=", "=", ">=", ">"}) {
    if (lexer.accept(symbol)) return symbol;
  }
  lexer.fail_here(fmt::format("a constraint needs <, <=, =, >= or >, not '{}'", lexer.peek().text));
}

isl::set parse_piece(Lexer& lexer, isl::set piece, const std::vector<std::string>& dims) {
  isl::space space = piece.space();
  do {
    isl::aff left = parse_index(lexer, space, dims);
    std::string symbol = parse_comparison(lexer);
    isl::aff right = parse_index(lexer, space, dims);
    if (symbol == "<")
      piece = piece.intersect(left.lt_set(right));
    else if (symbol == "<=")
      piece = piece.intersect(left.le_set(right));
    else if (symbol == ">")
      piece = piece.intersect(left.gt_set(right));
    else if (symbol == ">=")
      piece = piece.intersect(left.ge_set(right));
    else
      piece = piece.intersect(left.eq_set(right));
  } while (lexer.accept(","));
  return piece;
}

}  // namespace

isl::aff parse_index(Lexer& lexer, const isl::space& space, const std::vector<std::string>& dims) {
  return IndexParser(lexer, space, dims).sum();
}

isl::multi_aff parse_tuple(Lexer& lexer, const isl::space& space,
                           const std::vector<std::string>& dims) {
  std::vector<isl::aff> parts;
  lexer.expect("[");
  while (!lexer.sees("]")) {
    parts.push_back(parse_index(lexer, space, dims));
    if (!lexer.accept(",")) break;
  }
  lexer.expect("]");
  return poly::tuple(space, parts);
}

isl::set parse_constraints(Lexer& lexer, const isl::set& domain,
                           const std::vector<std::string>& dims) {
  isl::set result = parse_piece(lexer, domain, dims);
  while (lexer.accept("or")) result = result.unite(parse_piece(lexer, domain, dims));
  if (result.is_empty()) lexer.fail_here("no instance satisfies these constraints");
  return poly::boxed(result);
}

isl::set parse_constraints(isl::ctx ctx, std::string_view text, const std::vector<long>& extents,
                           const std::vector<std::string>& dims) {
  Lexer lexer("constraints", text);
  return parse_constraints(lexer, poly::box(ctx, extents), dims);
}

}  // namespace lathe
