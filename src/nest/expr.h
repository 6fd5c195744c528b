// The value that a statement computes from its reads: a small expression tree.
//
//   W * I        max(X, 0)        (X - mean) * scale + shift
#pragma once

#include <functional>
#include <string_view>
#include <vector>

namespace lathe {

class Lexer;

/// One node: a number, the i-th read of the statement, or a function of other expressions.
struct Expr {
  enum class Op {
    number,
    read,
    // arithmetic
    neg,
    add,
    sub,
    mul,
    div,  ///< truncates on integers
    mod,  ///< of the divisor's sign
    rem,  ///< of the dividend's sign
    max,
    min,
    abs,
    floor,
    ceil,
    round,   ///< to the nearest integer, half to even
    single,  ///< to the nearest f32
    // functions of reals
    sqrt,
    exp,
    log,
    pow,
    tanh,
    erf,
    sin,
    cos,
    tan,
    asin,
    acos,
    atan,
    // truth values: 1 and 0
    less,
    less_equal,
    equal,
    select,  ///< the second if the first is not 0, otherwise the third
    // integers as bits
    bit_and,
    bit_or,
    bit_xor,
    shift,  ///< to the left; to the right if negative
    // reads that data decide
    pick,  ///< a read, moved along a dimension by a value: see Pick
  };
  Op op = Op::number;
  double number = 0;
  size_t read = 0;
  std::vector<Expr> args;

  friend bool operator==(const Expr&, const Expr&) = default;
};

/// Builds expressions.
Expr number(double value);
Expr read(size_t index);
Expr call(Expr::Op op, std::vector<Expr> args);

/// What is known of a function: its name in text, how many arguments it takes, and whether it is
/// written between them.
struct Function {
  Expr::Op op;
  std::string_view name;
  size_t arity;
  bool infix;
};

/// Returns all functions that an expression may call.
const std::vector<Function>& functions();

/// Returns what is known of "op", which is neither a number nor a read.
const Function& function_of(Expr::Op op);

/// Returns the value of one function, on floats or on integers.
template <class T>
T evaluate(Expr::Op op, const T* args);

/// Parses an expression. "leaf" reads what is neither a number nor a function: a tensor's element.
Expr parse_expr(Lexer& lexer, const std::function<Expr()>& leaf);

/// An element that data choose:  pick(T[0, c], 0, I[i])  is  T[I[i], c].
///
/// The access of the read says where it is but for the picked dimensions, in which it is at 0.
/// Picks nest: one for each dimension. Negative values count from the end; what is still outside
/// the tensor means its first or last element, so that no value leads out of memory.
struct Pick {
  struct Along {
    size_t dim;
    const Expr* index;
  };
  size_t read = 0;
  std::vector<Along> along;
};

/// Builds a pick of "from", which is a read or another pick.
Expr pick(Expr from, size_t dim, Expr index);
/// Returns what an expression picks. It is a pick.
Pick pick_of(const Expr& expr);
/// Does the expression pick, anywhere in it?
bool picks(const Expr& expr);
/// Calls visit(pick) for each pick of the expression, outer ones first.
void each_pick(const Expr& expr, const std::function<void(const Pick&)>& visit);
/// Returns the index that a value means in a dimension of "extent" elements.
long picked_index(long value, long extent);

/// Is the expression a product of reads (and numbers)? Then it can be differentiated by exchanging
/// the roles of its accesses.
bool is_product(const Expr& expr);

}  // namespace lathe
