// The options of a call: an object in JSON.
//
//   Options options(R"({"network": "resnet20-cifar", "samples": 32})");
//   options.read("samples", arguments.samples, {2, 4096});
//   options.check_all_read();                       fails if there is one that nobody asked for
//
// What is left out, or null, keeps the value that it has.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"

namespace lathe {

/// The numbers that an option may have.
struct OptionRange {
  double least = std::numeric_limits<double>::lowest(), most = std::numeric_limits<double>::max();
};

class Options {
 public:
  /// Reads the object. Fails if the text is none.
  explicit Options(const std::string& text);

  /// Is the option given?
  bool has(const std::string& name);
  /// Sets a value to what the option says.
  void read(const std::string& name, std::string& value);
  void read(const std::string& name, bool& value);
  void read(const std::string& name, std::vector<std::string>& value);
  void read(const std::string& name, double& value, OptionRange range = {});
  template <class T>
  void read(const std::string& name, T& value, OptionRange range = {});
  /// Returns a text that must be given.
  std::string required(const std::string& name);

  /// Fails if an option was given that nobody has read; lists those that there are.
  void check_all_read() const;

 private:
  nlohmann::json values_;
  std::set<std::string> known_;

  /// Returns what is given; null: nothing.
  const nlohmann::json* find(const std::string& name);
};

template <class T>
void Options::read(const std::string& name, T& value, OptionRange range) {
  static_assert(std::is_integral_v<T>);
  const nlohmann::json* given = find(name);
  if (given == nullptr) return;
  if (!given->is_number_integer()) fail("{} must be a whole number, not {}", name, given->dump());
  double number = static_cast<double>(value);
  read(name, number, range);
  value = given->get<T>();
}

}  // namespace lathe
