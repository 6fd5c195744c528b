// winograd.cpp: a window that slides by 1 with fewer products (transform_winograd_statement.h).
//
//   winograd(4):   O[co, oh, ow] += W[co, ci, kh, kw] * I[ci, oh + kh, ow + kw]
//               -> 36 products for 16 outputs, instead of 144
//
// Every statement that slides in two dimensions is rewritten; a second argument names one. Values
// are the same up to rounding.
#include <algorithm>

#include "transforms/transform_toom.h"
#include "transforms/transform_winograd_statement.h"

namespace lathe::transforms {
namespace {

/// Finds the slides of the target's loops; if there are none, those of its coordinates: the loops
/// of a position that was split are no positions.
Sliding sliding_of(NeuralTarget& target, const Statement& as_written) {
  try {
    Sliding sliding = find_sliding(target.statement);
    if (sliding.slides.size() == 2) return sliding;
  } catch (const UserError&) {
    // The coordinates have the reason, if they do not slide either.
  }
  target.statement = as_written;
  return find_sliding(target.statement);
}

/// Rewrites one statement.
Applied rewritten(const Nest& nest, size_t statement, long outputs) {
  NeuralTarget target = take_statement(nest, statement);
  Sliding sliding = sliding_of(target, nest.statements()[statement]);
  if (sliding.slides.size() != 2) {
    fail("the window of '{}' slides in {} dimensions; winograd takes two", target.statement.name,
         sliding.slides.size());
  }
  for (const Slide& slide : sliding.slides) {
    if (has_toom(outputs, slide.elements)) continue;
    fail(
        "winograd({}) is not there for windows of {} elements; m = 2, 4, 6 go with 3, and 2, 4 "
        "with 5",
        outputs, slide.elements);
  }
  return winograd_statement(nest, std::move(target), std::move(sliding), outputs);
}

Applied rewrite(const Nest& nest, const Arguments& args) {
  std::optional<Applied> result;
  std::string reason;  // of the first statement: it is the operator, the others follow it
  std::vector<std::string> names;
  for (const Statement& s : nest.statements()) {
    if (s.update == Update::add && (!args.has(1) || s.name == args.name(1)))
      names.push_back(s.name);
  }
  if (args.has(1) && names.empty()) fail("no statement '{}' accumulates", args.name(1));
  for (const std::string& name : names) {
    const Nest& now = result ? result->nest : nest;
    size_t at = 0;
    while (now.statements()[at].name != name) ++at;
    try {
      Applied next = rewritten(now, at, args.number(0));
      if (result) {
        next.note = result->note + "; " + next.note;
        next.error = std::max(*result->error, *next.error);
      }
      result = std::move(next);
    } catch (const UserError& error) {
      if (reason.empty()) reason = error.what();
    }
  }
  if (!result) fail("{}", reason.empty() ? "no statement adds products" : reason);
  return *result;
}

std::vector<Step> candidates_of_winograd(const Nest& nest) {
  std::vector<Step> steps;
  for (long outputs : {2L, 4L, 6L}) {
    Step step{"winograd", {outputs}};
    if (applies(nest, step)) steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace

Transform winograd() {
  return {"winograd",
          Transform::Kind::algebraic,
          {{Takes::factor}, {Takes::name, true}},
          "O[x] += W[k] * I[x+k]  ->  O[tile] += A ((G W) * (B I[tile]))",
          rewrite,
          candidates_of_winograd};
}

}  // namespace lathe::transforms
