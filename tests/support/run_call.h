// Calls operators on arrays, and what plain references need: random operands, all indices of a
// shape, the offset of one.
//
//   CallRun run("softmax(f64[2x5])");    run.inputs[0], run.outputs[0]
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "ops/op.h"
#include "poly/isl.h"

namespace lathe::test {

/// Returns small random numbers: reals between -4 and 4, integers from -4 (or 0) to 4.
inline lathe::Array random_operand(const Type& type, unsigned seed) {
  std::mt19937 random(seed);
  auto count = static_cast<size_t>(count_of(type.shape));
  if (type.element == Element::string) {
    return lathe::Array::of_strings(type.shape, std::vector<std::string>(count, "text"));
  }
  if (is_float(type.element)) {
    std::vector<double> values(count);
    for (double& x : values) x = std::uniform_real_distribution<double>(-4, 4)(random);
    return lathe::Array::of_reals(type.element, type.shape, values);
  }
  std::vector<long> values(count);
  long least = lowest_of(type.element) < 0 ? -4 : 0, most = std::min(4L, highest_of(type.element));
  for (long& x : values) x = std::uniform_int_distribution<long>(least, most)(random);
  return lathe::Array::of_integers(type.element, type.shape, values);
}

/// A call and what it computed, from the given operands or from random ones.
struct CallRun {
  std::vector<lathe::Array> inputs, outputs;
  std::vector<Type> types;

  explicit CallRun(const std::string& text, std::vector<lathe::Array> given = {})
      : inputs(std::move(given)) {
    Call call = parse_call(text);
    for (size_t i = 0; inputs.size() < call.inputs() && i < call.inputs(); ++i) {
      if (call.has(i)) inputs.push_back(random_operand(call.type(i), static_cast<unsigned>(i) + 1));
    }
    types = infer(call);
    Context context;
    outputs = evaluate(context, call, inputs);
    EXPECT_EQ(outputs.size(), types.size()) << text;
    for (size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_EQ(outputs[i].element(), types[i].element) << text;
      EXPECT_TRUE(types[i].dynamic || outputs[i].shape() == types[i].shape) << text;
    }
  }
};

/// Returns the message of the error that a call gives.
inline std::string call_error(const std::string& text, std::vector<lathe::Array> given = {}) {
  try {
    CallRun run(text, std::move(given));
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

inline void expect_call_error(const std::string& text, const std::string& part,
                              std::vector<lathe::Array> given = {}) {
  std::string error = call_error(text, std::move(given));
  EXPECT_NE(error.find(part), std::string::npos) << text << "\n  gives " << error;
}

/// Calls "visit" with every index of a shape, row-major.
inline void for_each_index(const Shape& shape, const std::function<void(const Shape&)>& visit) {
  Shape index(shape.size(), 0);
  for (long n = count_of(shape); n > 0; --n) {
    visit(index);
    for (size_t i = shape.size(); i-- > 0;) {
      if (++index[i] < shape[i]) break;
      index[i] = 0;
    }
  }
}

inline size_t offset(const Shape& shape, const Shape& index) {
  long result = 0;
  for (size_t i = 0; i < shape.size(); ++i) result = result * shape[i] + index[i];
  return static_cast<size_t>(result);
}

/// Is "index" an element of "shape"?
inline bool is_inside(const Shape& shape, const Shape& index) {
  for (size_t i = 0; i < shape.size(); ++i) {
    if (index[i] < 0 || index[i] >= shape[i]) return false;
  }
  return true;
}

/// Expects the elements of an array, up to rounding.
inline void expect_elements(const lathe::Array& got, const std::vector<double>& wanted,
                            double tolerance = 1e-12) {
  std::vector<double> values = got.reals();
  ASSERT_EQ(values.size(), wanted.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(wanted[i]) || std::isinf(wanted[i])) {
      bool both_nan = std::isnan(values[i]) && std::isnan(wanted[i]);
      ASSERT_TRUE(both_nan || values[i] == wanted[i]) << "element " << i;
      continue;
    }
    ASSERT_NEAR(values[i], wanted[i], tolerance * std::max(1.0, std::abs(wanted[i])))
        << "element " << i;
  }
}

inline lathe::Array reals(Shape shape, const std::vector<double>& values) {
  return lathe::Array::of_reals(Element::f64, std::move(shape), values);
}

inline lathe::Array integers(Shape shape, const std::vector<long>& values,
                             Element element = Element::i64) {
  return lathe::Array::of_integers(element, std::move(shape), values);
}

}  // namespace lathe::test
