// Interprets an operator on random data and hands out its tensors as plain arrays.
//
//   OpRun<long> run("relu(c=3)");   run.tensor("O") == reference(run.tensor("I"))
//   OpRun<long> run("conv(...)", "group(2)");   the same after a recipe
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "legality/legality.h"
#include "nest/interpret.h"
#include "nest/text.h"
#include "ops/op.h"
#include "support/array.h"

namespace lathe::test {

/// Returns the value that "text" gives to a parameter: value("f(a=1, b=2)", "b", 0) is 2.
inline long value(const std::string& text, const std::string& name, long otherwise) {
  for (const char* before : {"(", " "}) {
    size_t at = text.find(before + name + "=");
    if (at != std::string::npos) return std::stol(text.substr(at + name.size() + 2));
  }
  return otherwise;
}

/// Returns the examples of operator "name" that are given by sizes, and "more".
inline std::vector<std::string> cases(const std::string& name, std::vector<std::string> more) {
  for (const std::string& example : find_op(name)->examples) {
    if (example.find('[') == std::string::npos) more.push_back(example);
  }
  return more;
}

/// An operator with its tensors: inputs drawn at random, results once run() was called.
template <class T>
class OpRun {
 public:
  explicit OpRun(const std::string& text, const std::string& recipe = "")
      : nest_(replay(parse_op(context_, text), parse_recipe(recipe))),
        buffers_(make_buffers<T>(nest_)) {
    fill_inputs(nest_, buffers_, 1);
  }

  const Nest& nest() const { return nest_; }
  std::vector<T>& elements(const std::string& name) { return buffers_[find(name)]; }

  OpRun& run() {
    interpret(nest_, buffers_);
    return *this;
  }

  /// Returns a tensor without its padding.
  Array<T> tensor(const std::string& name) const {
    const Tensor& t = nest_.tensors()[find(name)];
    std::vector<long> inner;
    for (size_t i = 0; i < t.shape.size(); ++i) {
      inner.push_back(t.shape[i] - t.pad[i].before - t.pad[i].after);
    }
    Array<T> result(inner);
    for (size_t k = 0; k < result.data.size(); ++k) {
      result.data[k] = buffers_[find(name)][stored_offset(t, inner, k)];
    }
    return result;
  }

 private:
  Context context_;  // first, as it must outlive the nest
  Nest nest_;
  Buffers<T> buffers_;

  size_t find(const std::string& name) const { return find_tensor(nest_, name).value(); }

  /// Returns where element "k" of the array without padding is stored.
  static size_t stored_offset(const Tensor& t, const std::vector<long>& inner, size_t k) {
    long rest = static_cast<long>(k), offset = 0, stride = 1;
    for (size_t i = inner.size(); i-- > 0;) {
      offset += (rest % inner[i] + t.pad[i].before) * stride;
      rest /= inner[i];
      stride *= t.shape[i];
    }
    return static_cast<size_t>(offset);
  }
};

/// Expects equal shapes and equal elements, up to rounding.
inline void expect_near(const Array<double>& got, const Array<double>& wanted) {
  ASSERT_EQ(got.shape, wanted.shape);
  for (size_t i = 0; i < got.data.size(); ++i) {
    ASSERT_NEAR(got.data[i], wanted.data[i], 1e-12 * std::max(1.0, std::abs(wanted.data[i])))
        << "element " << i;
  }
}

}  // namespace lathe::test
