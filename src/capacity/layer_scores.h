// What layers score alone: the faces of tables that a search is made by. There are two ways to
// score: before training (first_order.h), and of a trained network (kept.h).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "metrics/metric.h"
#include "nest/step.h"

namespace lathe {

/// How gradients flow back through a network.
class GradientFlow {
 public:
  struct Reader {
    size_t station;
    double weight;  ///< of the gradient that came along it, in the original
  };
  /// A node: who reads what it makes, and which layer it is, if it is one.
  struct Station {
    std::vector<Reader> readers;
    std::optional<size_t> layer;
  };

  GradientFlow() = default;
  explicit GradientFlow(std::vector<Station> stations) : stations_(std::move(stations)) {}

  /// Returns how much gradient each layer gets, relative to the original. "gains" says how much
  /// each layer hands back, relative to the original. All are ratios of sums of squares.
  std::vector<double> received(const std::vector<double>& gains) const;

 private:
  std::vector<Station> stations_;  // in the order of the network
};

/// What becomes of a layer that a recipe changes, if nothing else changes.
struct LayerChange {
  std::vector<double> scores;  ///< by each metric of FirstOrder::metrics()
  double gain = 1;  ///< gradient that it hands back, relative to the original: sums of squares
};

/// A layer with the first ones of its filters and of the channels that it reads.
struct LayerWidth {
  long filters, inputs;
  long groups = 1;  ///< each of them reads every n-th channel
};

/// A layer, and what it is to become.
struct LayerQuestion {
  std::string layer;
  Recipe recipe;
  std::optional<LayerWidth> width;
  size_t kind = 0;  ///< of layers that are alike: much of what scores them is the same
};

/// Who asks many questions. Both functions may be called by several threads at once.
struct LayerAnswers {
  /// Is the answer to a question still wanted? It is asked before work on it begins.
  std::function<bool(size_t question)> wanted;
  /// Is told an answer; nothing if the layer cannot be scored so.
  std::function<void(size_t question, const std::optional<LayerChange>& answer)> tell;
};

class LayerScores {
 public:
  virtual ~LayerScores() = default;

  /// Returns those metrics that layers alone tell.
  virtual const std::vector<Metric>& metrics() const = 0;
  /// Returns what each of these says of the original.
  virtual const std::vector<Score>& original_scores() const = 0;

  /// Returns the layers, in order, and what each scores in the original by the first metric.
  const std::vector<LayerScore>& original() const { return original_scores().front().layers; }

  /// Returns what becomes of a layer that a recipe changes. If it has fewer channels, the recipe
  /// says so of the layer alone, and "width" says how many. Answers are remembered. Several threads
  /// may call this at once.
  virtual LayerChange change(const std::string& layer, const Recipe& recipe,
                             const std::optional<LayerWidth>& width = std::nullopt) = 0;

  /// Answers many questions, in their order, so many at a time; those that are not wanted any more
  /// are left out.
  virtual void change_all(const std::vector<LayerQuestion>& questions, int workers,
                          const LayerAnswers& answers);

  /// Returns how gradients flow; layers are numbered as original() has them.
  virtual GradientFlow flow() = 0;
};

}  // namespace lathe
