// layer_scores.cpp: many questions about layers. Interface: layer_scores.h.
#include "capacity/layer_scores.h"

#include "base/error.h"
#include "base/parallel.h"

namespace lathe {

void LayerScores::change_all(const std::vector<LayerQuestion>& questions, int workers,
                             const LayerAnswers& answers) {
  for_each_index(questions.size(), workers, [&](size_t i) {
    if (!answers.wanted(i)) return;
    std::optional<LayerChange> answer;
    try {
      answer = change(questions[i].layer, questions[i].recipe, questions[i].width);
    } catch (const UserError&) {
      // It cannot be scored: there is no answer.
    }
    answers.tell(i, answer);
  });
}

}  // namespace lathe
