// op_pool.cpp: what the pools share. Interface: op_pool.h.
#include "ops/op_pool.h"

#include "base/error.h"
#include "ops/op_shape.h"

namespace lathe::ops {
namespace {

void check_pads(std::string_view op, const Window& window) {
  for (const Slide& s : window) {
    if (s.pad.before < (s.elements - 1) * s.dilation + 1) continue;
    fail("{}: pad={} must be less than the kernel's {}", op, s.pad.before,
         fmt::join(elements(window), " by "));
  }
}

}  // namespace

Pool pool(std::string_view op, const Params& p, long dilation) {
  check_sizes(op, p, {"c"});
  Pool result{p["n"], p["c"], window(op, p, dilation)};
  check_pads(op, result.window);
  return result;
}

Pool pool(const Call& call) {
  Rounding rounding = call.flag("ceil") ? Rounding::up : Rounding::down;
  Window w = window(call, call.integers("kernel"), rounding);
  check_pads(call.name(), w);
  return {call.shape(0)[0], call.shape(0)[1], w, call.element(0)};
}

StatementBuilder::Extents pool_loops(const Pool& p) {
  return batched_loops(p.n, joined({{"c", p.c}}, output_loops(p.window)));
}

Shape pool_shape(const Pool& p) { return batched_shape(p.n, joined({p.c}, outputs(p.window))); }

Signature pool_signature(const std::vector<Setting>& more,
                         std::function<Nest(isl::ctx, const Call&)> nest) {
  std::vector<Setting> settings =
      joined({{"kernel", Shape{}, "extents of the window", Setting::Need::required},
              {"ceil", 0L, "1: windows that reach beyond the padding count"}},
             more);
  return {.settings = window_settings(settings),
          .infer =
              [](const Call& call) {
                Pool p = pool(call);
                return std::vector<Type>{{p.element, pool_shape(p)}};
              },
          .nest = std::move(nest)};
}

}  // namespace lathe::ops
