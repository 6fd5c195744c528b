// Reductions: the elements along some dimensions of a tensor become one.
//
//   over h and w of I[n, c, h, w]:   O[n, c, 0, 0] += I[n, c, h, w], or O[n, c] without the zeros
//
// Intermediate values keep the dimensions, with extent 1, whether or not the output does.
#pragma once

#include <functional>
#include <vector>

#include "nest/builder.h"
#include "ops/op.h"

namespace lathe::ops {

/// A reduction: the dimensions along which all elements become one.
struct Reduction {
  Shape input;
  std::vector<bool> over;
  bool keep = true;  ///< does the output keep these dimensions, with extent 1?

  Shape kept() const;    ///< the input's shape, with extent 1 where it is reduced
  Shape output() const;  ///< the shape of the output
  long count() const;    ///< elements that become one
};

/// Reads a reduction of operand 0 from the attributes axes (none: all) and keep.
Reduction reduction(const Call& call);
/// Returns the reduction of operand 0 along the dimensions from "first" to before "end".
Reduction reduction(const Call& call, size_t first, size_t end);

/// Returns the element of an intermediate tensor, or of the output, that an instance of loops over
/// the input belongs to.
std::vector<Index> kept_at(const StatementBuilder& s, const Reduction& r);
std::vector<Index> output_at(const StatementBuilder& s, const Reduction& r);

/// Return the type in which many elements of a type are summed up: without loss, or as reals.
Element sum_element(Element element);
Element real_element(Element element);

/// Declares a tensor M and computes the largest element of I into it.
size_t largest(NestBuilder& b, const Reduction& r, size_t I, Element element);
/// Reads I - M, where M has one element for all that become one: their largest, or their mean.
Expr less_kept(StatementBuilder& s, const Reduction& r, size_t I, size_t M);

/// A reduction that folds the elements one by one:  S += enter(I);  O = leave(S, count).
struct Fold {
  std::string name, summary;
  double of_none = 0;  ///< the result of no elements; -inf, inf: the least, greatest of a type
  Update update = Update::add;
  std::function<Expr(Expr x, Element element)> enter = nullptr;              ///< null: as it is
  std::function<Expr(Expr s, Element element, long count)> leave = nullptr;  ///< null: as it is
  std::function<Element(Element)> between = nullptr;  ///< the type of S; null: as the input
};

/// Returns the operator of a fold.
Op reduce(const Fold& fold);

/// Returns the settings of a reduction: axes and keep.
std::vector<Setting> reduce_settings();
/// Returns what graphs know of a reduction that makes "nest", or "of_none" where it has no element.
Signature reduce_signature(std::function<Nest(isl::ctx, const Call&)> nest, double of_none);
/// Returns the types of the outputs of a reduction.
std::vector<Type> reduced_types(const Call& call);
/// Returns an array of one value; -inf and inf become the least and greatest of an integral type.
Array filled(const Type& type, double value);
/// Returns the examples of a reduction.
std::vector<std::string> reduce_examples(const std::string& name);

/// Returns x mirrored, so that greater values become less: -x, 255 - x, 1 - x. Twice mirrored is x.
Expr mirrored(Expr x, Element element);

}  // namespace lathe::ops
