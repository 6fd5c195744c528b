// Layers that are scored on other machines.
//
//   WorkerScores scores(pool, *judge.layers, warn);
//   scores.change_all(questions, ...);            any number of machines, at once
//
// A score has the same bits wherever it was computed, if version and architecture are the same. The
// pool takes no others.
#pragma once

#include "capacity/layer_scores.h"
#include "search/worker_pool.h"

namespace lathe {

class WorkerScores : public LayerScores {
 public:
  /// "here" knows the original, and answers what is asked alone. It must live as long, and so must
  /// the pool.
  WorkerScores(WorkerPool& pool, LayerScores& here, std::function<void(const std::string&)> warn)
      : pool_(pool), here_(here), warn_(std::move(warn)) {}

  const std::vector<Metric>& metrics() const override { return here_.metrics(); }
  const std::vector<Score>& original_scores() const override { return here_.original_scores(); }
  LayerChange change(const std::string& layer, const Recipe& recipe,
                     const std::optional<LayerWidth>& width = std::nullopt) override {
    return here_.change(layer, recipe, width);
  }
  /// What nobody could answer is told to "warn"; it gets no answer.
  void change_all(const std::vector<LayerQuestion>& questions, int workers,
                  const LayerAnswers& answers) override;
  GradientFlow flow() override { return here_.flow(); }

 private:
  WorkerPool& pool_;
  LayerScores& here_;
  std::function<void(const std::string&)> warn_;
};

}  // namespace lathe
