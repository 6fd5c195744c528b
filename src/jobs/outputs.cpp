// outputs.cpp: see outputs.h.
#include "jobs/outputs.h"

#include <algorithm>

#include "autodiff/training.h"
#include "base/error.h"
#include "jobs/runnable.h"
#include "program/rebatch.h"

namespace lathe {
namespace {

constexpr long together = 8;  // samples that run at a time: outputs may be large

/// Sums over samples, for each element of an output.
struct OutputSums {
  std::vector<double> values, squares;
  double distance = 0;

  void add(std::span<const double> original, std::span<const double> changed) {
    values.resize(original.size(), 0);
    squares.resize(original.size(), 0);
    for (size_t i = 0; i < original.size(); ++i) {
      values[i] += original[i];
      squares[i] += original[i] * original[i];
      distance += (changed[i] - original[i]) * (changed[i] - original[i]);
    }
  }

  OutputCompared compared(long samples) const {
    auto count = static_cast<double>(samples);
    auto elements = static_cast<double>(values.size());
    OutputCompared result{static_cast<long>(values.size())};
    for (size_t i = 0; i < values.size(); ++i) {
      double mean = values[i] / count;
      result.variance += std::max(0.0, squares[i] / count - mean * mean) / elements;
    }
    result.distance = distance / count / elements;
    return result;
  }
};

}  // namespace

double OutputsCompared::explained() const {
  double sum = 0;
  for (const OutputCompared& each : outputs) {
    double lost = each.variance > 0 ? each.distance / each.variance : each.distance > 0 ? 1 : 0;
    sum += std::clamp(1 - lost, 0.0, 1.0);  // a distance that is no number explains nothing
  }
  return outputs.empty() ? 0 : 100 * sum / static_cast<double>(outputs.size());
}

OutputsCompared compare_outputs(const Graph& original, const Graph& changed, const Dataset& data,
                                long samples, int threads, const JobListener& listener) {
  const Type& type = original.values[original.inputs.front()].type;
  Shape image(type.shape.begin() + 1, type.shape.end());
  Dataset fitting = data.fitted({{InputForm{image}}, data.classes});
  if (original.inputs.size() != 1 || fitting.shape != image) {
    fail("'{}' has images of the shape {}, but the network's input is {}", data.name,
         print_shape(fitting.shape), print_type(type));
  }
  long count = std::min(samples, fitting.count), batch = std::min(together, count);
  auto runnable = [&](const Graph& network) {
    Graph many = rebatched(initialised(network, 0), batch);
    check_outputs_are_real(many);
    return make_runnable(many, {.network = {}, .target = native_target(), .threads = threads});
  };
  Runnable left = runnable(original), right = runnable(changed);
  OutputsCompared result;
  std::vector<OutputSums> sums(original.outputs.size());
  for (; result.samples + batch <= count; result.samples += batch) {
    if (listener.is_stopped()) fail("stopped after {} of {} samples", result.samples, count);
    Array images = fitting.images(result.samples, batch);
    std::vector<Array> must = left.run({images}, nullptr), is = right.run({images}, nullptr);
    for (size_t o = 0; o < sums.size(); ++o) {
      std::vector<double> own = must[o].reals(), other = is[o].reals();
      size_t elements = own.size() / static_cast<size_t>(batch);
      for (size_t i = 0; i < own.size(); i += elements) {
        sums[o].add(std::span(own).subspan(i, elements), std::span(other).subspan(i, elements));
      }
    }
    listener(WorkDone{"samples", static_cast<size_t>(result.samples + batch),
                      static_cast<size_t>(count)});
  }
  for (const OutputSums& each : sums) result.outputs.push_back(each.compared(result.samples));
  return result;
}

}  // namespace lathe
