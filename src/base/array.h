// The data of a tensor on the host: an element type, a shape, and the elements row-major.
//
//   Array a = Array::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
//   a.reals()        the elements as doubles, whatever their type
//
// An array is immutable and shares its data with its copies, which are cheap.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/element.h"
#include "base/error.h"

namespace lathe {

using Shape = std::vector<long>;

/// Prints a shape: "1x3x224x224"; "scalar" where there is no dimension.
std::string print_shape(const Shape& shape);

/// Returns the number of elements of a shape. Fails where a dimension is negative or the product
/// does not fit the address space.
long count_of(const Shape& shape);

/// Names the element type that holds values of a C++ type.
template <class T>
Element element_of();

class Array {
 public:
  /// Makes an array without dimensions: it holds the number 0.
  Array();
  /// Makes an array of zeros.
  Array(Element element, Shape shape);

  /// Makes an array from elements of their own type, from bytes, or from strings.
  template <class T>
  static Array of(Shape shape, const std::vector<T>& elements);
  static Array of_bytes(Element element, Shape shape, std::span<const std::byte> bytes);
  static Array of_strings(Shape shape, std::vector<std::string> strings);

  /// Makes an array of any numeric type. Values are rounded to a float type; to an integral one
  /// they are truncated, and wrapped as C++ does.
  static Array of_reals(Element element, Shape shape, std::span<const double> values);
  static Array of_integers(Element element, Shape shape, std::span<const long> values);

  Element element() const { return element_; }
  const Shape& shape() const { return shape_; }
  long count() const { return count_; }
  size_t rank() const { return shape_.size(); }

  /// Returns the data; T must be the type of the elements.
  template <class T>
  std::span<const T> as() const {
    check(element_of<T>() == element_, "an array is read as the type that it has");
    return {reinterpret_cast<const T*>(data_->data()), static_cast<size_t>(count_)};
  }
  std::span<const std::byte> bytes() const { return *data_; }
  const std::vector<std::string>& strings() const;

  /// Returns the elements converted, whatever numeric type they have.
  std::vector<double> reals() const;
  std::vector<long> integers() const;
  /// Returns the only element, converted.
  double real() const;
  long integer() const;

  /// Returns the same elements in another shape of the same count, or converted to another type.
  Array with_shape(Shape shape) const;
  Array with_element(Element element) const;

  /// Are type, shape and bytes the same?
  friend bool operator==(const Array& a, const Array& b);

 private:
  Element element_;
  Shape shape_;
  long count_;
  std::shared_ptr<const std::vector<std::byte>> data_;
  std::shared_ptr<const std::vector<std::string>> strings_;
};

/// Converts between a float and the bits of its two 16-bit forms.
uint16_t to_f16(double value);
double from_f16(uint16_t bits);
uint16_t to_bf16(double value);
double from_bf16(uint16_t bits);
/// Returns the nearest number of ten binary places, as an f32.
float to_tf32(double value);

}  // namespace lathe
