// array.cpp: the data of a tensor. Interface: array.h.
#include "base/array.h"

#include <fmt/ranges.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace lathe {
namespace {

struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};
struct Short {  // a float that was rounded
  float value;
};

/// Calls f with a value of the C++ type that stores "element".
template <class F>
auto dispatch(Element element, F f) {
  switch (element) {
    case Element::f16:
      return f(Half{});
    case Element::bf16:
      return f(Brain{});
    case Element::tf32:
      return f(Short{});
    case Element::f32:
      return f(float{});
    case Element::f64:
      return f(double{});
    case Element::i8:
      return f(int8_t{});
    case Element::i16:
      return f(int16_t{});
    case Element::i32:
      return f(int32_t{});
    case Element::i64:
      return f(int64_t{});
    case Element::u8:
      return f(uint8_t{});
    case Element::u16:
      return f(uint16_t{});
    case Element::u32:
      return f(uint32_t{});
    case Element::u64:
      return f(uint64_t{});
    case Element::boolean:
      return f(bool{});
    case Element::string:
      break;
  }
  fail("strings are no numbers");
}

/// Truncates; what no integer can hold becomes the nearest that can, and a NaN 0.
long to_long(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 9.2233720368547758e18) return std::numeric_limits<long>::max();
  if (value <= -9.2233720368547758e18) return std::numeric_limits<long>::lowest();
  return static_cast<long>(value);
}

template <class From, class To>
To convert(From value) {
  if constexpr (std::is_same_v<From, Half>) {
    return convert<double, To>(from_f16(value.bits));
  } else if constexpr (std::is_same_v<From, Brain>) {
    return convert<double, To>(from_bf16(value.bits));
  } else if constexpr (std::is_same_v<From, Short>) {
    return convert<double, To>(value.value);
  } else if constexpr (std::is_same_v<To, Half>) {
    return Half{to_f16(static_cast<double>(value))};
  } else if constexpr (std::is_same_v<To, Brain>) {
    return Brain{to_bf16(static_cast<double>(value))};
  } else if constexpr (std::is_same_v<To, Short>) {
    return Short{to_tf32(static_cast<double>(value))};
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_same_v<To, uint64_t>) {
    return value >= 9.2233720368547758e18 ? static_cast<To>(value)
                                          : static_cast<To>(to_long(static_cast<double>(value)));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return static_cast<To>(to_long(static_cast<double>(value)));
  } else {
    return static_cast<To>(value);
  }
}

template <class From>
Array converted(Element element, Shape shape, std::span<const From> values) {
  check(count_of(shape) == static_cast<long>(values.size()), "a shape counts its values");
  std::vector<std::byte> bytes(values.size() * static_cast<size_t>(size_of(element)));
  dispatch(element, [&](auto to) {
    using To = decltype(to);
    for (size_t i = 0; i < values.size(); ++i) {
      To value = convert<From, To>(values[i]);
      std::memcpy(bytes.data() + i * sizeof(To), &value, sizeof(To));
    }
  });
  return Array::of_bytes(element, std::move(shape), bytes);
}

template <class To>
std::vector<To> values_of(const Array& array) {
  std::vector<To> result(static_cast<size_t>(array.count()));
  dispatch(array.element(), [&](auto from) {
    using From = decltype(from);
    const std::byte* data = array.bytes().data();
    for (size_t i = 0; i < result.size(); ++i) {
      From value;
      std::memcpy(&value, data + i * sizeof(From), sizeof(From));
      result[i] = convert<From, To>(value);
    }
  });
  return result;
}

}  // namespace

std::string print_shape(const Shape& shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x"));
}

long count_of(const Shape& shape) {
  long count = 1;
  for (long extent : shape) {
    if (extent < 0) fail("a tensor cannot have the shape {}", print_shape(shape));
    // 2^46 bytes are more than any machine has; below, sums of offsets cannot overflow.
    if (extent != 0 && count > (1L << 46) / extent) {
      fail("a tensor of the shape {} is too large", print_shape(shape));
    }
    count *= extent;
  }
  return count;
}

template <>
Element element_of<float>() {
  return Element::f32;
}
template <>
Element element_of<double>() {
  return Element::f64;
}
template <>
Element element_of<int8_t>() {
  return Element::i8;
}
template <>
Element element_of<int16_t>() {
  return Element::i16;
}
template <>
Element element_of<int32_t>() {
  return Element::i32;
}
template <>
Element element_of<int64_t>() {
  return Element::i64;
}
template <>
Element element_of<uint8_t>() {
  return Element::u8;
}
template <>
Element element_of<bool>() {
  return Element::boolean;
}

Array::Array() : Array(Element::f32, {}) {}

Array::Array(Element element, Shape shape)
    : element_(element), shape_(std::move(shape)), count_(count_of(shape_)) {
  auto size = static_cast<size_t>(count_ * size_of(element));
  data_ = std::make_shared<const std::vector<std::byte>>(size);
  if (element == Element::string) {
    strings_ = std::make_shared<const std::vector<std::string>>(static_cast<size_t>(count_));
  }
}

template <class T>
Array Array::of(Shape shape, const std::vector<T>& elements) {
  if constexpr (std::is_same_v<T, bool>) {
    std::vector<long> values(elements.begin(), elements.end());
    return of_integers(Element::boolean, std::move(shape), values);
  } else {
    return of_bytes(element_of<T>(), std::move(shape), std::as_bytes(std::span(elements)));
  }
}

template Array Array::of(Shape, const std::vector<float>&);
template Array Array::of(Shape, const std::vector<double>&);
template Array Array::of(Shape, const std::vector<int8_t>&);
template Array Array::of(Shape, const std::vector<int32_t>&);
template Array Array::of(Shape, const std::vector<int64_t>&);
template Array Array::of(Shape, const std::vector<uint8_t>&);
template Array Array::of(Shape, const std::vector<bool>&);

Array Array::of_bytes(Element element, Shape shape, std::span<const std::byte> bytes) {
  Array array;
  array.element_ = element;
  array.shape_ = std::move(shape);
  array.count_ = count_of(array.shape_);
  check(array.count_ * size_of(element) == static_cast<long>(bytes.size()),
        "the bytes of an array are those of its elements");
  array.data_ = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
  return array;
}

Array Array::of_strings(Shape shape, std::vector<std::string> strings) {
  Array array(Element::string, std::move(shape));
  check(array.count_ == static_cast<long>(strings.size()), "a shape counts its values");
  array.strings_ = std::make_shared<const std::vector<std::string>>(std::move(strings));
  return array;
}

Array Array::of_reals(Element element, Shape shape, std::span<const double> values) {
  return converted(element, std::move(shape), values);
}

Array Array::of_integers(Element element, Shape shape, std::span<const long> values) {
  return converted(element, std::move(shape), values);
}

const std::vector<std::string>& Array::strings() const {
  check(strings_ != nullptr, "only an array of strings is read as one");
  return *strings_;
}

std::vector<double> Array::reals() const { return values_of<double>(*this); }
std::vector<long> Array::integers() const { return values_of<long>(*this); }

double Array::real() const {
  check(count_ == 1, "only an array of one element is read as a number");
  return reals().front();
}

long Array::integer() const {
  check(count_ == 1, "only an array of one element is read as a number");
  return integers().front();
}

Array Array::with_shape(Shape shape) const {
  Array result = *this;
  check(count_of(shape) == count_, "a new shape has as many elements");
  result.shape_ = std::move(shape);
  return result;
}

Array Array::with_element(Element element) const {
  if (element == element_) return *this;
  if (is_integral(element_)) return of_integers(element, shape_, integers());
  return of_reals(element, shape_, reals());
}

bool operator==(const Array& a, const Array& b) {
  if (a.element_ != b.element_ || a.shape_ != b.shape_) return false;
  if (a.element_ == Element::string) return *a.strings_ == *b.strings_;
  return *a.data_ == *b.data_;
}

double from_f16(uint16_t bits) {
  int exponent = (bits >> 10) & 31;
  int fraction = bits & 1023;
  double magnitude = exponent == 31  ? (fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                                                      : std::numeric_limits<double>::infinity())
                     : exponent == 0 ? std::ldexp(fraction, -24)
                                     : std::ldexp(fraction + 1024, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

uint16_t to_f16(double value) {
  auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (std::isnan(value)) return sign | 0x7e00;
  if (magnitude >= 65520) return sign | 0x7c00;  // rounds beyond the greatest, 65504
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  int unit = std::max(exponent - 11, -24);  // weight of the last bit that is kept
  auto digits = static_cast<long>(std::nearbyint(std::ldexp(magnitude, -unit)));
  if (unit == -24) return static_cast<uint16_t>(sign | digits);
  return static_cast<uint16_t>(sign | (((unit + 24) << 10) + digits));
}

double from_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t to_bf16(double value) {
  auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float to_tf32(double value) {
  if (std::isnan(value)) return std::numeric_limits<float>::quiet_NaN();
  auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  return std::bit_cast<float>((bits + 0xfff + ((bits >> 13) & 1)) & ~0x1fffU);
}

}  // namespace lathe
