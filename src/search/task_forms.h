// Answers to tasks that are done elsewhere, as JSON and back. Each number comes back as it was, bit
// for bit, infinity too.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "capacity/gate.h"
#include "capacity/layer_scores.h"
#include "search/network_bench.h"

namespace lathe {

nlohmann::json to_json(const LayerQuestion& question);
LayerQuestion question_from_json(const nlohmann::json& json);

nlohmann::json to_json(const LayerChange& change);
LayerChange change_from_json(const nlohmann::json& json);

nlohmann::json to_json(const std::vector<Comparison>& comparisons);
std::vector<Comparison> comparisons_from_json(const nlohmann::json& json);

/// Power is left out.
nlohmann::json to_json(const NetworkTimes& times);
NetworkTimes times_from_json(const nlohmann::json& json);

}  // namespace lathe
