// broken_kernel.cpp: wrong instructions. Interface: broken_kernel.h.
#include "search/broken_kernel.h"

#include <algorithm>

#include "backends/backend.h"

namespace lathe {
namespace {

/// Changes the first instruction that computes something. It is the first of a register tile, so
/// that the first element of an output is among those that become wrong.
bool break_first(Block& block) {
  for (Instruction& each : block) {
    if (break_first(each.body)) return true;
    if (each.kind == Instruction::Kind::fma) {
      each.args[2] = each.args[0];
      return true;
    }
    if (each.kind == Instruction::Kind::apply && each.args.size() == 2) {
      each.op = each.op == Expr::Op::add ? Expr::Op::sub : Expr::Op::add;
      return true;
    }
  }
  return false;
}

}  // namespace

bool break_kernel(Compiled& compiled, const Made& made, size_t kernel) {
  std::vector<NamedCode> named;
  for (size_t k = 0; k < made.code.kernels.size(); ++k) {
    named.push_back({made.symbols[k], made.code.kernels[k]});
  }
  if (kernel >= named.size() || !break_first(named[kernel].code.body)) return false;
  auto object = std::find(compiled.objects.begin(), compiled.objects.end(), made.object);
  if (object == compiled.objects.end()) return false;
  *object = make_compiler(compiled.target)->object(named);
  return true;
}

}  // namespace lathe
