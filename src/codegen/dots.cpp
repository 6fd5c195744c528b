// dots.cpp: which loops are dot products. Interface: dots.h.
#include "codegen/dots.h"

#include <algorithm>

namespace lathe {
namespace {

/// Does an iteration of the loop at "depth" move an access by so many elements, always?
bool moves_by(const poly::Affine& offset, size_t depth, long step) {
  if (offset.divisor != 1 || depth >= offset.coefficients.size()) return false;
  bool in_floor =
      std::any_of(offset.floors.begin(), offset.floors.end(), [&](const auto& floor) -> bool {
        std::vector<bool> involved = poly::involved(floor.of);
        return depth < involved.size() && involved[depth];
      });
  return !in_floor && offset.coefficients[depth] == step;
}

/// Do dot products multiply integers without a sign by ones with a sign, or ones of the same kind?
bool mixes_signs(const Target& target) { return target.architecture == Architecture::x86_64; }

}  // namespace

bool adds_product(const Statement& s) {
  using Op = Expr::Op;
  return s.update == Update::add && s.reads.size() == 2 && s.value.op == Op::mul &&
         s.value.args[0].op == Op::read && s.value.args[1].op == Op::read &&
         s.value.args[0].read != s.value.args[1].read;
}

Element dot_data(const Target& target) { return mixes_signs(target) ? Element::u8 : Element::i8; }

long terms_of_dot(const Target& target, Element own, Element common) {
  constexpr long bytes_of_sum = 4;
  if (own == Element::bf16 && common == Element::bf16) {
    return target.has(Extra::bf16_dot) ? bytes_of_sum / size_of(own) : 0;
  }
  bool weights_by_data = own == Element::i8 && common == dot_data(target);
  bool both_unsigned = own == Element::u8 && common == Element::u8 && !mixes_signs(target);
  return (weights_by_data || both_unsigned) && target.has(Extra::i8_dot)
             ? bytes_of_sum / size_of(own)
             : 0;
}

std::optional<Dot> dot_of(const LoopNode& loop, size_t lanes_depth, const Nest& nest,
                          const Target& target) {
  if (loop.kind != LoopNode::Kind::loop || loop.mark != Mark::vector || loop.from != 0 ||
      loop.body.size() != 1 || loop.body.front().kind != LoopNode::Kind::statement) {
    return std::nullopt;
  }
  const LoopNode& node = loop.body.front();
  const Statement& s = nest.statements()[node.statement];
  if (!node.guard.empty() || !adds_product(s)) return std::nullopt;
  auto element = [&](size_t read) { return nest.tensors()[s.reads[read].tensor].element; };
  Element sum = nest.tensors()[s.write.tensor].element;
  for (size_t own : {0, 1}) {
    size_t common = 1 - own;
    long terms = terms_of_dot(target, element(own), element(common));
    bool fits = terms == loop.extent() && sum == sum_of_products(element(own)) &&
                moves_by(node.write, loop.depth, 0) && moves_by(node.reads[own], loop.depth, 1) &&
                moves_by(node.reads[common], loop.depth, 1) &&
                moves_by(node.reads[own], lanes_depth, terms) &&
                moves_by(node.reads[common], lanes_depth, 0) &&
                !moves_by(node.write, lanes_depth, 0);
    if (fits) return Dot{own, common, terms};
  }
  return std::nullopt;
}

}  // namespace lathe
