// cast.cpp: stores what a nest reads and writes in a narrower type.
//
//   cast(f16):   O[x] += W[x, k] * I[k]   ->   S[x] += W[x, k] * I[k];  O[x] = S[x]
//
// Inputs, results and the factors of products are of f16. Sums stay as they were, in S: each result
// is rounded once. A bias is one of the summands and stays, too.
#include <algorithm>
#include <limits>

#include "nest/wide_sums.h"
#include "transforms/transform_loops.h"
#include "transforms/transform_neural.h"
#include "transforms/transform_toom.h"

namespace lathe::transforms {
namespace {

bool adds_products(const Statement& s) { return s.update == Update::add && is_product(s.value); }

/// Does the tensor have to be narrow: is it an input, a result, or a factor?
bool is_cast(const Nest& nest, size_t tensor) {
  const Tensor& t = nest.tensors()[tensor];
  if (t.role == Role::input || t.role == Role::output) return true;
  return t.role != Role::constant &&
         std::any_of(nest.statements().begin(), nest.statements().end(), [&](const Statement& s) {
           return adds_products(s) && s.write.tensor != tensor &&
                  std::any_of(s.reads.begin(), s.reads.end(),
                              [&](const Access& a) { return a.tensor == tensor; });
         });
}

/// Returns how many products the shortest sum has.
long fewest_products(const Nest& nest) {
  long fewest = std::numeric_limits<long>::max();
  for (const Statement& s : nest.statements()) {
    if (!adds_products(s)) continue;
    long sums = std::max(1L, poly::count_image(s.domain, s.write.at));
    fewest = std::min(fewest, std::max(1L, poly::count(s.domain) / sums));
  }
  return fewest;
}

Applied narrow(const Nest& nest, const Arguments& args) {
  Element element = *element_named(args.name(0));
  if (std::none_of(nest.statements().begin(), nest.statements().end(), adds_products)) {
    fail("no statement adds products");
  }
  std::vector<size_t> cast;
  for (size_t t = 0; t < nest.tensors().size(); ++t) {
    if (is_cast(nest, t) && is_float(nest.tensors()[t].element)) cast.push_back(t);
  }
  bool narrows = std::any_of(cast.begin(), cast.end(), [&](size_t t) {
    return unit_of(nest.tensors()[t].element) < unit_of(element);
  });
  if (!narrows) fail("all that is read and written is of {} or narrower", args.name(0));
  Nest result = nest;
  for (size_t t : cast) {
    bool sums = nest.tensors()[t].role == Role::output && has_sums(nest, t);
    if (sums) result = with_own_sums(result, t);
  }
  std::vector<Tensor> tensors = result.tensors();
  for (size_t t : cast) tensors[t].element = element;
  // Both factors of a product are rounded, and its sum.
  double error = expected_error_of_roundings(3, fewest_products(nest), unit_of(element));
  std::string note = fmt::format(
      "factors and results are of {}, sums stay as they were; the error stays below {:.1e} of the "
      "outputs' root mean square, for data without structure{}",
      args.name(0), error, element == Element::f16 ? ", and below 65504" : "");
  return {assemble_nest(nest.name, std::move(tensors), result.statements(), result.order), note,
          error};
}

std::vector<Step> candidates_of_cast(const Nest& nest) {
  std::vector<Step> steps;
  for (const char* element : {"f16", "bf16", "tf32"}) {
    Step step{"cast", {std::string(element)}};
    if (applies(nest, step)) steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace

Transform cast() {
  return {"cast",
          Transform::Kind::algebraic,
          {{Takes::element}},
          "O[x] += W[k] * I[x+k]  ->  S[x] += W[k] * I[x+k]; O[x] = S[x], all but S narrow",
          narrow,
          candidates_of_cast};
}

}  // namespace lathe::transforms
