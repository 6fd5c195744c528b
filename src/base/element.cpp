// element.cpp: the types of elements. Interface: element.h.
#include "base/element.h"

#include <limits>

#include "base/error.h"

namespace lathe {
namespace {

struct Row {
  Element element;
  const char* name;
  long size;
  long lowest, highest;  // of integral types
};

template <class T>
constexpr Row integral(Element element, const char* name) {
  return {element, name, sizeof(T), static_cast<long>(std::numeric_limits<T>::lowest()),
          sizeof(T) == 8 ? std::numeric_limits<long>::max()
                         : static_cast<long>(std::numeric_limits<T>::max())};
}

constexpr Row rows[] = {
    {Element::f16, "f16", 2, 0, 0},          {Element::bf16, "bf16", 2, 0, 0},
    {Element::tf32, "tf32", 4, 0, 0},        {Element::f32, "f32", 4, 0, 0},
    {Element::f64, "f64", 8, 0, 0},          integral<int8_t>(Element::i8, "i8"),
    integral<int16_t>(Element::i16, "i16"),  integral<int32_t>(Element::i32, "i32"),
    integral<int64_t>(Element::i64, "i64"),  integral<uint8_t>(Element::u8, "u8"),
    integral<uint16_t>(Element::u16, "u16"), integral<uint32_t>(Element::u32, "u32"),
    integral<uint64_t>(Element::u64, "u64"), {Element::boolean, "bool", 1, 0, 1},
    {Element::string, "string", 0, 0, 0},
};

const Row& row_of(Element element) { return rows[static_cast<size_t>(element)]; }

}  // namespace

const std::vector<Element>& all_elements() {
  static const std::vector<Element> all = [] {
    std::vector<Element> elements;
    for (const Row& row : rows) elements.push_back(row.element);
    return elements;
  }();
  return all;
}

const char* name_of(Element element) { return row_of(element).name; }

std::optional<Element> element_named(std::string_view name) {
  for (const Row& row : rows) {
    if (row.name == name) return row.element;
  }
  return std::nullopt;
}

long size_of(Element element) { return row_of(element).size; }

bool is_wider(Element element, Element than) {
  if (size_of(element) != size_of(than)) return size_of(element) > size_of(than);
  return element == Element::f32 && than == Element::tf32;
}

bool is_float(Element element) { return element <= Element::f64; }
bool is_integral(Element element) { return !is_float(element) && element != Element::string; }

long lowest_of(Element element) {
  check(is_integral(element), "only integral types have a least value here");
  return row_of(element).lowest;
}

long highest_of(Element element) {
  check(is_integral(element), "only integral types have a greatest value here");
  return row_of(element).highest;
}

}  // namespace lathe
