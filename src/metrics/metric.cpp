// metric.cpp: finding metrics. Interface: metric.h.
#include "metrics/metric.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"

namespace lathe {

const Metric& find_metric(const std::string& name) {
  const auto& all = metrics::all();
  auto found =
      std::find_if(all.begin(), all.end(), [&](const Metric& m) { return m.name == name; });
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  for (const Metric& metric : all) names.push_back(metric.name);
  fail("no metric '{}'; there are {}", name, fmt::join(names, ", "));
}

std::vector<Metric> parse_metrics(const std::string& list) {
  if (list == "all") return metrics::all();
  std::vector<Metric> result;
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');) result.push_back(find_metric(name));
  if (result.empty()) fail("name a metric, or several as in 'fisher,naswot'");
  return result;
}

}  // namespace lathe
