// layer_equations.cpp: see layer_equations.h.
#include "capacity/layer_equations.h"

#include <algorithm>

#include "base/parallel.h"
#include "base/random.h"

namespace lathe {
namespace {

constexpr size_t rows_at_once = 2048;

/// Returns an array with its padding around it, as a nest stores it.
std::vector<float> padded(const Array& array, const Tensor& tensor) {
  std::span<const float> all = array.as<float>();
  bool is_bare = std::all_of(tensor.pad.begin(), tensor.pad.end(),
                             [](const Pad& pad) { return pad.before == 0 && pad.after == 0; });
  if (is_bare) return {all.begin(), all.end()};
  std::vector<float> result(static_cast<size_t>(count_of(tensor.shape)),
                            static_cast<float>(tensor.padding));
  Shape inner = inner_shape(tensor);
  auto row = static_cast<size_t>(inner.back());
  Shape index(inner.size(), 0);
  for (size_t from = 0; from < all.size(); from += row) {
    long to = 0;
    for (size_t d = 0; d < inner.size(); ++d) {
      to = to * tensor.shape[d] + tensor.pad[d].before + index[d];
    }
    std::copy_n(all.begin() + static_cast<long>(from), row, result.begin() + to);
    for (size_t d = inner.size() - 1; d-- > 0;) {
      if (++index[d] < inner[d]) break;
      index[d] = 0;
    }
  }
  return result;
}

/// Positions at which a layer is looked at: of each minibatch, some.
std::vector<Shape> chosen_positions(size_t positions, size_t minibatches, size_t wanted) {
  Random random(0, "positions");
  std::vector<Shape> chosen(minibatches);
  double share =
      std::min(1.0, static_cast<double>(wanted) / static_cast<double>(positions * minibatches));
  for (Shape& of_one : chosen) {
    for (size_t p = 0; p < positions; ++p) {
      if (share >= 1 || random.uniform() < share) of_one.push_back(static_cast<long>(p));
    }
  }
  return chosen;
}

/// Adds the observations at these positions of one minibatch.
void add_rows(NormalEquations& equations, const Regression& regression,
              const RegressionBlock& block, const std::vector<float>& input,
              std::span<const float> output, const Shape& positions, bool has_constant) {
  size_t each = block.regressors.size();
  for (size_t first = 0; first < positions.size(); first += rows_at_once) {
    size_t rows = std::min(rows_at_once, positions.size() - first);
    Matrix x(rows, each + (has_constant ? 1 : 0)), y(rows, block.outputs.size());
    for (size_t r = 0; r < rows; ++r) {
      auto p = static_cast<size_t>(positions[first + r]);
      long from = regression.inputs_at[p], to = regression.outputs_at[p];
      for (size_t k = 0; k < each; ++k) {
        x(r, k) = input[static_cast<size_t>(from + block.regressors[k])];
      }
      if (has_constant) x(r, each) = 1;
      for (size_t f = 0; f < block.outputs.size(); ++f) {
        y(r, f) = output[static_cast<size_t>(to + block.outputs[f])];
      }
    }
    equations.add(x, y);
  }
}

}  // namespace

std::vector<NormalEquations> equations_of(const Regression& regression, const Tensor& input,
                                          const std::vector<Array>& inputs,
                                          const std::vector<Array>& outputs,
                                          const EquationOptions& options) {
  const std::vector<RegressionBlock>& blocks = regression.blocks;
  size_t wanted =
      blocks.front().regressors.size() * static_cast<size_t>(std::max(1L, options.observations));
  std::vector<Shape> positions =
      chosen_positions(regression.inputs_at.size(), inputs.size(), std::max(wanted, rows_at_once));
  std::vector<std::vector<float>> read;
  for (const Array& array : inputs) read.push_back(padded(array, input));
  // Several blocks are several threads' work; the matrix of a single one is shared by all.
  int outer = blocks.size() > 1 ? options.threads : 1, inner = options.threads / outer;
  std::vector<NormalEquations> result;
  for (const RegressionBlock& block : blocks) {
    result.emplace_back(block.regressors.size() + (options.has_constant ? 1 : 0),
                        block.outputs.size(), inner);
  }
  for_each_index(blocks.size(), outer, [&](size_t b) {
    for (size_t m = 0; m < inputs.size(); ++m) {
      add_rows(result[b], regression, blocks[b], read[m], outputs[m].as<float>(), positions[m],
               options.has_constant);
    }
  });
  return result;
}

}  // namespace lathe
