// recipes.cpp: how long applying, judging and counting take. A search does this a million times, so
// a recipe of six steps on a convolution of seven loops is to take less than 2 ms, and so is its
// cost.
#include <benchmark/benchmark.h>

#include "legality/legality.h"
#include "nest/canonical.h"
#include "nest/footprint.h"
#include "ops/op.h"

namespace lathe {
namespace {

constexpr const char* layer = "conv(n=2, co=64, ci=64, oh=56, ow=56, k=3, pad=1)";
constexpr const char* biased_layer = "conv(n=2, co=64, ci=64, oh=56, ow=56, k=3, pad=1, bias=1)";

constexpr const char* program_recipe =
    "split(co, 16) -> split(ow, 4) -> reorder(n, co.o, oh, ow.o, ci, kh, kw, ow.i, co.i) -> "
    "unroll(ow.i) -> vectorize(co.i) -> parallel(co.o)";
constexpr const char* mixed_recipe =
    "reorder(co, ci, n) -> group(4) -> split(co, 8) -> interchange(co.i, kw) -> vectorize(co.i) -> "
    "parallel(g)";
constexpr const char* remainder_recipe =
    "split(co, 24) -> split(ow, 5) -> reorder(n, co.o, oh, ow.o, ci, kh, kw, ow.i, co.i) -> "
    "unroll(ow.i) -> vectorize(co.i) -> parallel(co.o)";

void apply_and_judge(benchmark::State& state, const char* op, const char* text) {
  Context context;
  Nest nest = parse_op(context, op);
  Recipe recipe = parse_recipe(text);
  for (auto _ : state) {
    std::vector<Judged> steps = try_recipe(nest, recipe);
    if (steps.size() != recipe.size() || !steps.back().verdict.accepted()) {
      state.SkipWithError("the recipe was refused");
      return;
    }
    benchmark::DoNotOptimize(steps);
  }
}

void count(benchmark::State& state, const char* op, const char* text) {
  Context context;
  Nest nest = replay(parse_op(context, op), parse_recipe(text));
  for (auto _ : state) benchmark::DoNotOptimize(cost(nest));
}

void name(benchmark::State& state, const char* op, const char* text) {
  Context context;
  Nest nest = replay(parse_op(context, op), parse_recipe(text));
  for (auto _ : state) benchmark::DoNotOptimize(canonical(nest));
}

void register_all() {
  struct Case {
    const char *name, *op, *recipe;
  };
  for (const Case& c :
       {Case{"program", layer, program_recipe}, Case{"neural", layer, mixed_recipe},
        Case{"remainders", layer, remainder_recipe}, Case{"bias", biased_layer, program_recipe},
        Case{"bias_neural", biased_layer, mixed_recipe}}) {
    auto add = [&](const char* what, void (*run)(benchmark::State&, const char*, const char*)) {
      std::string label = std::string(what) + "/" + c.name;
      benchmark::RegisterBenchmark(label.c_str(), run, c.op, c.recipe)
          ->Unit(benchmark::kMillisecond);
    };
    add("apply_and_judge", apply_and_judge);
    add("count", count);
    add("canonical", name);
  }
}

}  // namespace
}  // namespace lathe

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  lathe::register_all();
  benchmark::RunSpecifiedBenchmarks();
}
