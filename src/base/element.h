// The types that a tensor's elements can have.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace lathe {

/// A tf32 lies in memory as an f32 whose last 13 bits are 0: the matrix units of GPUs multiply it.
enum class Element {
  f16,
  bf16,
  tf32,
  f32,
  f64,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  boolean,
  string,
};

/// Returns all element types.
const std::vector<Element>& all_elements();

/// Names a type, "f32", and finds one by its name.
const char* name_of(Element element);
std::optional<Element> element_named(std::string_view name);

/// Returns the bytes of one element; 0 for strings, which have no fixed size.
long size_of(Element element);

/// Does a type have more digits than another one of its kind: than a shorter one, or f32 than tf32?
bool is_wider(Element element, Element than);

/// Can the values have a fraction? Are they integers (truth values count as 0 and 1)?
bool is_float(Element element);
bool is_integral(Element element);

/// Returns the least and the greatest value of an integral type.
long lowest_of(Element element);
long highest_of(Element element);

}  // namespace lathe
