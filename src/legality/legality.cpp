// legality.cpp: recipes, judged step by step. Interface: legality.h.
#include "legality/legality.h"

namespace lathe {
namespace {

std::string joined(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + "; " + b;
}

}  // namespace

Judged try_step(const Nest& nest, const Step& step, const Limits& limits) {
  const Transform& transform = find_transform(step.name);
  Applied applied = apply(nest, step);
  Verdict verdict;
  if (transform.kind == Transform::Kind::neural) verdict.kind = Verdict::Kind::neural;
  for (const Judge& judge : legality::all()) {
    if (judge.judges != transform.kind) continue;
    verdict = judge.judge(nest, applied, limits);
    if (!verdict.accepted()) return {step, nest, verdict};
  }
  verdict.reason = joined(applied.note, verdict.reason);
  return {step, std::move(applied.nest), std::move(verdict)};
}

std::vector<Judged> try_recipe(const Nest& nest, const Recipe& recipe, const Limits& limits) {
  std::vector<Judged> result;
  for (const Step& step : recipe) {
    result.push_back(try_step(result.empty() ? nest : result.back().nest, step, limits));
    if (!result.back().verdict.accepted()) break;
  }
  return result;
}

Nest replay(const Nest& nest, const Recipe& recipe, const Limits& limits) {
  Nest result = nest;
  for (const Step& step : recipe) {
    Judged judged = try_step(result, step, limits);
    if (!judged.verdict.accepted()) {
      fail("{}: refused: {}; {}", print(step), judged.verdict.reason, judged.verdict.evidence);
    }
    result = std::move(judged.nest);
  }
  return result;
}

}  // namespace lathe
