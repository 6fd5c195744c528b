// metric.cpp: finding metrics. Interface: metric.h.
#include "metrics/metric.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"

namespace lathe {
namespace {

constexpr std::pair<Form, const char*> form_names[] = {
    {Form::distance, "distance"},
    {Form::log_distance, "log_distance"},
    {Form::layers_distance, "layers_distance"},
    {Form::worst_distance, "worst_distance"},
    {Form::log_ratio, "log_ratio"},
    {Form::times_less, "times_less"},
    {Form::difference, "difference"},
    {Form::moved, "moved"},
};

}  // namespace

const char* name_of(Form form) {
  for (const auto& [known, name] : form_names) {
    if (known == form) return name;
  }
  return "";
}

Form form_named(const std::string& name) {
  std::vector<const char*> names;
  for (const auto& [form, known] : form_names) {
    if (name == known) return form;
    names.push_back(known);
  }
  fail("scores are not compared in the form '{}'; there are {}", name, fmt::join(names, ", "));
}

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
  if (list == "all") {
    std::vector<Metric> all = metrics::all();
    std::erase_if(all, [](const Metric& metric) {
      return metric.contributes.use == Contribution::Use::trained;
    });
    return all;
  }
  std::vector<Metric> result;
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');) result.push_back(find_metric(name));
  if (result.empty()) fail("name a metric, or several as in 'fisher,naswot'");
  return result;
}

std::vector<Metric> metrics_used(Contribution::Use use) {
  std::vector<Metric> result;
  for (const Metric& metric : metrics::all()) {
    if (metric.contributes.use == use) result.push_back(metric);
  }
  return result;
}

}  // namespace lathe
