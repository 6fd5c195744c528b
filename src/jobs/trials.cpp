// trials.cpp: what a search tried. Interface: trials.h.
#include "jobs/trials.h"

#include <nlohmann/json.hpp>

namespace lathe {
namespace {

nlohmann::json trial_to_json(const RecordedTrial& each) {
  const Trial& trial = each.trial;
  return {{"number", each.number},
          {"at", each.at},
          {"subject", trial.subject},
          {"recipe", trial.recipe},
          {"outcome", name_of(trial.outcome)},
          {"reason", trial.reason},
          {"ms", trial.time * 1e3},
          {"original_ms", trial.own * 1e3},
          {"details", trial.details}};
}

}  // namespace

nlohmann::json to_json(const JournalRecord& record) {
  nlohmann::json trials = nlohmann::json::array();
  for (const RecordedTrial& each : record.trials) trials.push_back(trial_to_json(each));
  return {{"about", record.identity}, {"trials", trials}};
}

}  // namespace lathe
