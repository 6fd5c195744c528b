// parse_expr.cpp: text to Expr. Interface: parse_expr() of expr.h.
#include <fmt/format.h>

#include "base/lexer.h"
#include "nest/expr.h"

namespace lathe {
namespace {

class ExprParser {
 public:
  ExprParser(Lexer& lexer, const std::function<Expr()>& leaf) : lexer_(lexer), leaf_(leaf) {}

  Expr sum() {
    Expr result = product();
    while (lexer_.sees("+") || lexer_.sees("-")) {
      Expr::Op op = lexer_.take().text == "+" ? Expr::Op::add : Expr::Op::sub;
      result = call(op, {std::move(result), product()});
    }
    return result;
  }

 private:
  Lexer& lexer_;
  const std::function<Expr()>& leaf_;

  Expr product() {
    Expr result = factor();
    while (lexer_.sees("*") || lexer_.sees("/")) {
      Expr::Op op = lexer_.take().text == "*" ? Expr::Op::mul : Expr::Op::div;
      result = call(op, {std::move(result), factor()});
    }
    return result;
  }

  Expr factor() {
    if (lexer_.accept("-")) {
      Expr inner = factor();
      return inner.op == Expr::Op::number ? number(-inner.number)
                                          : call(Expr::Op::neg, {std::move(inner)});
    }
    if (lexer_.accept("(")) {
      Expr inner = sum();
      lexer_.expect(")");
      return inner;
    }
    if (lexer_.peek().kind == Token::Kind::number || lexer_.sees("inf")) {
      return number(lexer_.expect_number("a number"));
    }
    for (const Function& f : functions()) {
      if (!f.infix && sees_application(f)) return application(f);
    }
    return leaf_();
  }

  /// A function's name without arguments is a name like any other.
  bool sees_application(const Function& f) {
    size_t place = lexer_.position();
    bool result = lexer_.accept(f.name) && lexer_.sees("(");
    lexer_.seek(place);
    return result;
  }

  Expr application(const Function& f) {
    lexer_.take();
    std::vector<Expr> args;
    lexer_.expect("(");
    do args.push_back(sum());
    while (lexer_.accept(","));
    lexer_.expect(")");
    if (args.size() != f.arity) {
      lexer_.fail_here(fmt::format("{} takes {} arguments", f.name, f.arity));
    }
    return call(f.op, std::move(args));
  }
};

}  // namespace

Expr parse_expr(Lexer& lexer, const std::function<Expr()>& leaf) {
  return ExprParser(lexer, leaf).sum();
}

}  // namespace lathe
