// op_check.cpp: what operators ask of their operands. Interface: op_check.h.
#include "ops/op_check.h"

#include <algorithm>

#include "ops/op_dims.h"

namespace lathe::ops {
namespace {

/// Fails unless sums of the type "to" hold what operand "i" has, and more.
void check_narrower(const Call& call, size_t i, Element to) {
  Element own = call.element(i);
  bool is_number = own != Element::boolean && own != Element::string;
  if (is_number && is_float(own) == is_float(to) && is_wider(to, own)) return;
  call.refuse("to=\"{}\" is no wider type than {}, that of operand {}", name_of(to), name_of(own),
              i);
}

}  // namespace

void check_float(const Call& call, size_t i) {
  if (is_float(call.element(i))) return;
  call.refuse("operand {} must be of a float type, not {}", i, name_of(call.element(i)));
}

void check_integral(const Call& call, size_t i) {
  if (is_integral(call.element(i))) return;
  call.refuse("operand {} must be of an integral type, not {}", i, name_of(call.element(i)));
}

void check_number(const Call& call, size_t i) {
  if (call.element(i) == Element::string) call.refuse("operand {} is text", i);
}

void check_broadcasts_to(const Call& call, size_t i, const Shape& shape) {
  const Shape& own = call.shape(i);
  bool fits = own.size() <= shape.size();
  for (size_t d = 0; fits && d < own.size(); ++d) {
    fits = own[d] == 1 || own[d] == shape[shape.size() - own.size() + d];
  }
  if (fits) return;
  call.refuse("operand {}, {}, does not broadcast to {}", i, print_shape(own), print_shape(shape));
}

Element element_setting(const Call& call, const std::string& name,
                        const std::vector<Element>& allowed) {
  std::vector<Element> choices = allowed;
  if (choices.empty()) {
    choices = all_elements();
    std::erase(choices, Element::string);
  }
  auto element = element_named(call.text(name));
  if (element && std::find(choices.begin(), choices.end(), *element) != choices.end()) {
    return *element;
  }
  std::string known;
  for (Element choice : choices) known += fmt::format(" {}", name_of(choice));
  call.refuse("{}=\"{}\" must be one of:{}", name, call.text(name), known);
}

Setting sums_setting() {
  return {"to", std::string(), "the element type of sums, wider than that of operands; theirs"};
}

Element sums_element(const Call& call, size_t factors) {
  if (call.text("to").empty()) {
    for (size_t i = 1; i < factors; ++i) check_same_element(call, i);
    return call.element(0);
  }
  Element to =
      element_setting(call, "to", {Element::f32, Element::f64, Element::i32, Element::i64});
  for (size_t i = 0; i < factors; ++i) check_narrower(call, i, to);
  if (call.has(factors) && call.element(factors) != to) {
    call.refuse("to=\"{}\", but the bias is {}", name_of(to), name_of(call.element(factors)));
  }
  return to;
}

std::vector<Type> float_along_axis(const Call& call) {
  check_float(call, 0);
  call.axis("axis", call.shape(0).size());
  return {call.type(0)};
}

}  // namespace lathe::ops
