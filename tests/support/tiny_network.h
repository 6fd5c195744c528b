// A network of two convolutions, in which everything is written out: metrics are compared with what
// it says, by differences where they need gradients.
//
//   TinyNetwork plain;                          double precision, weights by name
//   plain.loss(images, labels)                  the mean cross-entropy
//   Graph graph = plain.graph(samples);         the same network
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "base/random.h"
#include "metrics/metric_probe.h"

namespace lathe::test {

/// Samples of channels of rows of columns.
struct Map {
  long samples, channels, size;  // as many rows as columns
  std::vector<double> values =
      std::vector<double>(static_cast<size_t>(samples * channels * size * size));

  double& at(long n, long c, long i, long j) {
    return values[static_cast<size_t>(((n * channels + c) * size + i) * size + j)];
  }
  double at(long n, long c, long i, long j) const { return const_cast<Map*>(this)->at(n, c, i, j); }
};

class TinyNetwork {
 public:
  static constexpr long size = 6, channels = 2, classes = 3;
  enum class Norm { batch, none };

  TinyNetwork() {
    draw("conv1.weight", {3, channels, 3, 3}, 0.5, 0);
    draw("bn1.weight", {3}, 0.1, 1);
    draw("bn1.bias", {3}, 0.2, 0);
    draw("conv2.weight", {4, 3, 3, 3}, 0.4, 0);
    draw("bn2.weight", {4}, 0.1, 1);
    draw("bn2.bias", {4}, 0.2, 0);
    draw("fc.weight", {classes, 4}, 0.8, 0);
    draw("fc.bias", {classes}, 0.1, 0);
  }

  std::map<std::string, std::vector<double>> weights;
  Norm norm = Norm::batch;
  /// Of the last run: what the rectifiers read, the features, the variances of the channels.
  mutable std::vector<Map> rectified;
  mutable Map features{0, 0, 0};
  mutable std::vector<std::vector<double>> variances;

  /// The weights that are multiplied with channels.
  static std::vector<std::string> layers() { return {"conv1", "conv2", "fc"}; }

  std::vector<double> logits(const Map& images) const {
    rectified.clear();
    variances.clear();
    Map x = rectifier(normalised(convolution(images, "conv1", 3, 1), "bn1"));
    features = x = rectifier(normalised(convolution(x, "conv2", 4, 2), "bn2"));
    std::vector<double> result;
    for (long n = 0; n < x.samples; ++n) {
      for (long k = 0; k < classes; ++k) {
        double sum = element("fc.bias", k);
        for (long c = 0; c < x.channels; ++c) {
          double mean = 0;
          for (long i = 0; i < x.size * x.size; ++i) mean += x.at(n, c, 0, i);
          sum += element("fc.weight", k * x.channels + c) * mean /
                 static_cast<double>(x.size * x.size);
        }
        result.push_back(sum);
      }
    }
    return result;
  }

  double loss(const Map& images, const std::vector<long>& labels) const {
    std::vector<double> y = logits(images);
    double sum = 0;
    for (size_t n = 0; n < labels.size(); ++n) {
      double total = 0;
      for (size_t k = 0; k < classes; ++k) total += std::exp(y[n * classes + k]);
      sum += std::log(total) - y[n * classes + static_cast<size_t>(labels[n])];
    }
    return sum / static_cast<double>(labels.size());
  }

  double output_sum(const Map& images) const {
    double sum = 0;
    for (double y : logits(images)) sum += y;
    return sum;
  }

  /// Returns the gradient of a function of this network by one of its weights.
  std::vector<double> gradient(const std::function<double()>& of, const std::string& weight) {
    return differences(of, weights.at(weight));
  }

  static std::vector<double> differences(const std::function<double()>& of,
                                         std::vector<double>& by) {
    constexpr double step = 1e-5;
    std::vector<double> result;
    for (double& x : by) {
      double middle = x;
      x = middle + step;
      double above = of();
      x = middle - step;
      double below = of();
      x = middle;
      result.push_back((above - below) / (2 * step));
    }
    return result;
  }

  Graph graph(long samples) const {
    GraphBuilder g("tiny");
    ValueId x = g.input("x", {Element::f32, {samples, channels, size, size}});
    auto weight = [&](const std::string& name) {
      return g.weight(name, Array::of_reals(Element::f32, shapes_.at(name), weights.at(name)));
    };
    auto rectified_norm = [&](ValueId value, const std::string& name) {
      long count = g.shape(value)[1];
      std::vector<double> ones(static_cast<size_t>(count), 1);
      ValueId state = g.weight(name + ".state", Array::of_reals(Element::f32, {count}, ones),
                               Value::Kind::state);
      value =
          g.call("batch_norm",
                 {value, weight(name + ".weight"), weight(name + ".bias"), state, state}, {}, name);
      return g.call("relu", {value}, {}, name + ".relu");
    };
    Shape pads{1, 1, 1, 1};
    x = rectified_norm(g.call("conv", {x, weight("conv1.weight")}, {{"pads", pads}}, "conv1"),
                       "bn1");
    x = rectified_norm(g.call("conv", {x, weight("conv2.weight")},
                              {{"pads", pads}, {"strides", Shape{2, 2}}}, "conv2"),
                       "bn2");
    x = g.call("global_pool", {x}, {}, "pool");
    x = g.call("reshape", {x}, {{"shape", Shape{samples, 4}}}, "flat");
    g.output(g.call("fully_connected", {x, weight("fc.weight"), weight("fc.bias")}, {}, "fc"));
    return g.build();
  }

  /// Draws images.
  static Map images(long samples, uint64_t seed) {
    Random random(seed, "images");
    Map result{samples, channels, size};
    for (double& value : result.values) value = random.normal();
    return result;
  }

 private:
  std::map<std::string, Shape> shapes_;

  void draw(const std::string& name, const Shape& shape, double deviation, double mean) {
    Random random(3, name);
    std::vector<double> values(static_cast<size_t>(count_of(shape)));
    // What a float holds, so that both networks have the same weights.
    for (double& x : values) x = static_cast<float>(mean + deviation * random.normal());
    weights[name] = values;
    shapes_[name] = shape;
  }

  double element(const std::string& name, long i) const {
    return weights.at(name)[static_cast<size_t>(i)];
  }

  Map convolution(const Map& x, const std::string& name, long filters, long stride) const {
    Map y{x.samples, filters, (x.size - 1) / stride + 1};
    for (long n = 0; n < y.samples; ++n) {
      for (long f = 0; f < filters; ++f) {
        for (long i = 0; i < y.size; ++i) {
          for (long j = 0; j < y.size; ++j)
            y.at(n, f, i, j) = window(x, name, {n, f, i, j}, stride);
        }
      }
    }
    return y;
  }

  double window(const Map& x, const std::string& name, const Shape& at, long stride) const {
    double sum = 0;
    for (long c = 0; c < x.channels; ++c) {
      for (long k = 0; k < 9; ++k) {
        long i = at[2] * stride + k / 3 - 1, j = at[3] * stride + k % 3 - 1;
        if (i < 0 || j < 0 || i >= x.size || j >= x.size) continue;
        sum += element(name + ".weight", (at[1] * x.channels + c) * 9 + k) * x.at(at[0], c, i, j);
      }
    }
    return sum;
  }

  /// The normalisation of a batch.
  Map normalised(Map x, const std::string& name) const {
    if (norm == Norm::none) return x;
    variances.emplace_back();
    for (long c = 0; c < x.channels; ++c) {
      double mean = 0, variance = 0;
      long count = x.samples * x.size * x.size;
      each(x, c, [&](double& value) { mean += value / static_cast<double>(count); });
      each(x, c, [&](double& value) {
        variance += (value - mean) * (value - mean) / static_cast<double>(count);
      });
      variances.back().push_back(variance);
      each(x, c, [&](double& value) {
        value = (value - mean) / std::sqrt(variance + 1e-5) * element(name + ".weight", c) +
                element(name + ".bias", c);
      });
    }
    return x;
  }

  static void each(Map& x, long c, const std::function<void(double&)>& visit) {
    for (long n = 0; n < x.samples; ++n) {
      for (long i = 0; i < x.size * x.size; ++i) visit(x.at(n, c, 0, i));
    }
  }

  Map rectifier(Map x) const {
    rectified.push_back(x);
    for (double& value : x.values) value = std::max(value, 0.0);
    return x;
  }
};

/// Images with labels for the tiny network.
struct TinyBatch {
  Map images;
  std::vector<long> labels;

  explicit TinyBatch(long samples, uint64_t seed = 1) : images(TinyNetwork::images(samples, seed)) {
    for (long n = 0; n < samples; ++n) labels.push_back((n * 2 + 1) % TinyNetwork::classes);
  }

  Batch batch() const {
    Shape shape{images.samples, images.channels, images.size, images.size};
    return {Array::of_reals(Element::f32, shape, images.values), labels};
  }
};

/// Returns what a metric says of a network.
inline Score scored(const std::string& metric, const Graph& graph, const Batch& batch,
                    EvaluationOptions options = {}) {
  options.compile.target = native_target();
  Evaluation evaluation(graph, batch, std::move(options));
  return evaluation.run({find_metric(metric)}).at(0);
}

inline Score scored(const std::string& metric, const TinyNetwork& network, const TinyBatch& data,
                    EvaluationOptions options = {}) {
  return scored(metric, network.graph(data.images.samples), data.batch(), std::move(options));
}

/// Expects that a score is the sum of those of the layers, which are these.
inline void expect_layers(const Score& score, const std::vector<double>& layers,
                          double tolerance = 1e-4) {
  ASSERT_EQ(score.layers.size(), layers.size());
  double total = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    EXPECT_EQ(score.layers[i].layer, TinyNetwork::layers().at(i));
    EXPECT_NEAR(score.layers[i].score, layers[i], tolerance * std::abs(layers[i]));
    total += score.layers[i].score;
  }
  EXPECT_NEAR(score.total, total, 1e-9 * std::abs(total));
}

}  // namespace lathe::test
