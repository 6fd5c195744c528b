// rounding.cpp: algebraic steps are legal if their error stays below what the user allows. The step
// states the error to expect.
#include "base/error.h"
#include "legality/legality.h"

namespace lathe::legality {
namespace {

Verdict judge(const Nest&, const Applied& after, const Limits& limits) {
  check(after.error.has_value(), "an algebraic step states its error");
  if (*after.error <= limits.error) return {Verdict::Kind::rounded, "", ""};
  return {Verdict::Kind::refused,
          fmt::format("its error may reach {:.1e}, more than the {:.1e} that is allowed",
                      *after.error, limits.error),
          ""};
}

}  // namespace

Judge rounding() {
  return {"rounding", Transform::Kind::algebraic, "the error stays below what is allowed", judge};
}

}  // namespace lathe::legality
