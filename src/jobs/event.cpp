// event.cpp: what a job tells, for programs. Interface: event.h.
#include "jobs/event.h"

#include <nlohmann/json.hpp>

namespace lathe {
namespace {

using Json = nlohmann::json;

std::optional<Json> as_json(const WorkDone& work) {
  return Json{{"event", "progress"}, {"what", work.what}, {"done", work.done}, {"of", work.all}};
}

std::optional<Json> as_json(const NetworkTried& tried) {
  const Trial& trial = tried.trial;
  if (!trial.details.contains("verdict")) return std::nullopt;
  return Json{{"event", "trial"},
              {"number", tried.number},
              {"strategy", tried.strategy},
              {"outcome", name_of(trial.outcome)},
              {"reason", trial.reason},
              {"ms", trial.time * 1e3},
              {"original_ms", trial.own * 1e3}};
}

std::optional<Json> as_json(const TuningGoesOn& tuning) {
  return Json{{"event", "tuning"},
              {"network", tuning.network},
              {"elapsed", tuning.elapsed},
              {"of", tuning.seconds}};
}

std::optional<Json> as_json(const JobWarning& warning) {
  return Json{{"event", "warning"}, {"text", warning.text}};
}

}  // namespace

std::optional<Json> to_json(const JobEvent& event) {
  return std::visit([](const auto& each) { return as_json(each); }, event);
}

}  // namespace lathe
