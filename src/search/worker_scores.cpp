// worker_scores.cpp: see worker_scores.h.
#include "search/worker_scores.h"

#include <map>

#include "base/error.h"
#include "search/task_forms.h"

namespace lathe {

void WorkerScores::change_all(const std::vector<LayerQuestion>& questions, int /*workers*/,
                              const LayerAnswers& answers) {
  std::map<long, size_t> open;
  for (size_t i = 0; i < questions.size(); ++i) {
    if (!answers.wanted(i)) continue;
    nlohmann::json task = to_json(questions[i]);
    task["do"] = "layer";
    open[pool_.ask(std::move(task))] = i;
  }
  auto forget_unwanted = [&] {
    std::set<long> unwanted;
    for (auto [id, i] : open) {
      if (!answers.wanted(i)) unwanted.insert(id);
    }
    pool_.forget(unwanted);
    for (long id : unwanted) open.erase(id);
    return open.empty();
  };
  while (!open.empty()) {
    auto answer = pool_.next(forget_unwanted);
    if (!answer) return;
    auto found = open.find(answer->id);
    if (found == open.end()) continue;
    size_t i = found->second;
    open.erase(found);
    const LayerQuestion& question = questions[i];
    if (!answer->failure.empty()) {
      std::string text = fmt::format("{}: {}: it could not be scored elsewhere: {}", question.layer,
                                     print(question.recipe), answer->failure);
      if (question.recipe.empty()) fail("{}", text);  // nothing can be told without the original
      warn_(text);
    } else if (answer->result.is_null()) {
      answers.tell(i, std::nullopt);
    } else {
      answers.tell(i, change_from_json(answer->result));
    }
  }
}

}  // namespace lathe
