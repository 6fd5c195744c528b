// call_options.cpp: the options of a call. Interface: call_options.h.
#include "calls/call_options.h"

#include <fmt/ranges.h>

namespace lathe {

Options::Options(const std::string& text) {
  values_ = nlohmann::json::parse(text, nullptr, false);
  if (!values_.is_object())
    fail("options are an object in JSON, like {{\"network\": \"resnet18\"}}");
}

const nlohmann::json* Options::find(const std::string& name) {
  known_.insert(name);
  auto found = values_.find(name);
  return found == values_.end() || found->is_null() ? nullptr : &*found;
}

bool Options::has(const std::string& name) { return find(name) != nullptr; }

void Options::read(const std::string& name, std::string& value) {
  const nlohmann::json* given = find(name);
  if (given == nullptr) return;
  if (!given->is_string()) fail("{} must be a text, not {}", name, given->dump());
  value = given->get<std::string>();
}

void Options::read(const std::string& name, bool& value) {
  const nlohmann::json* given = find(name);
  if (given == nullptr) return;
  if (!given->is_boolean()) fail("{} must be true or false, not {}", name, given->dump());
  value = given->get<bool>();
}

void Options::read(const std::string& name, std::vector<std::string>& value) {
  const nlohmann::json* given = find(name);
  if (given == nullptr) return;
  bool is_list =
      given->is_array() &&
      std::all_of(given->begin(), given->end(), [](const auto& each) { return each.is_string(); });
  if (!is_list) fail("{} must be a list of texts, not {}", name, given->dump());
  value = given->get<std::vector<std::string>>();
}

void Options::read(const std::string& name, double& value, OptionRange range) {
  const nlohmann::json* given = find(name);
  if (given == nullptr) return;
  if (!given->is_number()) fail("{} must be a number, not {}", name, given->dump());
  value = given->get<double>();
  if (value < range.least) fail("{} is {}, and must be {} or more", name, value, range.least);
  if (value > range.most) fail("{} is {}, and must be {} or less", name, value, range.most);
}

std::string Options::required(const std::string& name) {
  std::string value;
  read(name, value);
  if (value.empty()) fail("{} is missing", name);
  return value;
}

void Options::check_all_read() const {
  for (const auto& [name, value] : values_.items()) {
    if (known_.contains(name)) continue;
    fail("there is no option '{}'; there are {}", name, fmt::join(known_, ", "));
  }
}

}  // namespace lathe
