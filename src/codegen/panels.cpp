// panels.cpp: which loops are products of panels. Interface: panels.h.
#include "codegen/panels.h"

#include <algorithm>

#include "codegen/dots.h"

namespace lathe {
namespace {

using poly::Affine;

/// Returns by how many elements an iteration of the loop at "depth" moves an access; nothing if it
/// does not always move it as far.
std::optional<long> step_of(const Affine& offset, size_t depth) {
  if (offset.divisor != 1) return std::nullopt;
  bool in_floor = std::any_of(offset.floors.begin(), offset.floors.end(),
                              [&](const Affine::Floor& floor) -> bool {
                                std::vector<bool> involved = poly::involved(floor.of);
                                return depth < involved.size() && involved[depth];
                              });
  if (in_floor) return std::nullopt;
  return depth < offset.coefficients.size() ? offset.coefficients[depth] : 0;
}

/// Does an access move by these steps, one for each loop?
bool moves_by(const Affine& offset, const std::vector<const LoopNode*>& loops,
              std::initializer_list<std::optional<long>> steps) {
  auto loop = loops.begin();
  for (const std::optional<long>& wanted : steps) {
    const LoopNode& each = **loop++;
    if (each.extent() == 1) continue;
    auto step = step_of(offset, each.depth);
    if (!step || (wanted && *step != *wanted)) return false;
  }
  return true;
}

}  // namespace

std::optional<Extra> extra_of_panels(Element data, Element weights) {
  auto is_byte = [](Element element) { return element == Element::i8 || element == Element::u8; };
  if (is_byte(data) && is_byte(weights)) return Extra::i8_matrix;
  if (data != weights) return std::nullopt;
  if (data == Element::bf16) return Extra::bf16_matrix;
  return data == Element::f16 ? std::optional(Extra::f16_matrix) : std::nullopt;
}

long terms_of_panels(const Target& target, Element data, Element weights) {
  constexpr long bytes_of_sum = 4;
  auto extra = extra_of_panels(data, weights);
  bool has = target.architecture == Architecture::x86_64 && extra && target.has(*extra);
  return has ? bytes_of_sum / size_of(weights) : 0;
}

std::optional<PanelProduct> panels_of(const LoopNode& loop, const Nest& nest,
                                      const Target& target) {
  constexpr size_t loops_of_product = 4;
  std::vector<const LoopNode*> loops;
  const LoopNode* node = &loop;
  while (loops.size() < loops_of_product) {
    bool fits = node->kind == LoopNode::Kind::loop && node->mark == Mark::vector &&
                node->from == 0 && node->body.size() == 1;
    if (!fits) return std::nullopt;
    loops.push_back(node);
    node = &node->body.front();
  }
  if (node->kind != LoopNode::Kind::statement || !node->guard.empty()) return std::nullopt;
  const Statement& s = nest.statements()[node->statement];
  if (!adds_product(s)) return std::nullopt;
  auto element = [&](size_t read) { return nest.tensors()[s.reads[read].tensor].element; };
  Element sum = nest.tensors()[s.write.tensor].element;
  if (sum != sum_of_products(element(0))) return std::nullopt;
  long rows = loops[0]->extent(), depth = loops[1]->extent(), columns = loops[2]->extent();
  for (size_t data : {0, 1}) {
    size_t weights = 1 - data;
    long terms = terms_of_panels(target, element(data), element(weights));
    bool fits = terms > 0 && loops[3]->extent() == terms && rows <= panel_rows &&
                depth <= panel_rows && columns <= panel_sums &&
                moves_by(node->write, loops, {std::nullopt, 0, 1, 0}) &&
                moves_by(node->reads[data], loops, {std::nullopt, terms, 0, 1}) &&
                moves_by(node->reads[weights], loops, {0, std::nullopt, terms, 1});
    if (!fits) continue;
    auto rows_apart = [&](const Affine& offset, size_t of) {
      return loops[of]->extent() == 1 ? 0 : *step_of(offset, loops[of]->depth);
    };
    return PanelProduct{data,
                        weights,
                        rows_apart(node->reads[data], 0),
                        rows_apart(node->reads[weights], 1),
                        rows_apart(node->write, 0),
                        rows,
                        depth,
                        columns,
                        terms,
                        loops,
                        node};
  }
  return std::nullopt;
}

}  // namespace lathe
