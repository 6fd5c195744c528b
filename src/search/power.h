// Power and temperature, where the machine shows them.
//
//   PowerMeter meter;
//   if (meter.shows_power()) ...
//   PowerReading reading = meter.during([&] { network.run(); });
//   reading.watts                                    of the whole package, not of one process
//
// Linux shows the energy of processors in /sys/class/powercap, and sensors in /sys/class/hwmon;
// NVIDIA's driver shows those of its cards in a library of its own. A virtual machine shows none of
// them. What is not shown is not guessed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lathe {

/// What was read while something ran.
struct PowerReading {
  double seconds = 0;
  std::optional<double> watts;    ///< on average
  std::optional<double> celsius;  ///< of the hottest sensor, at the end
};

/// NVIDIA's library of sensors. It is loaded where there is one.
class NvidiaSensors;

class PowerMeter {
 public:
  /// Looks for sensors: of the machine, or in a folder that is laid out like its /sys (for tests;
  /// cards are not looked for then).
  explicit PowerMeter(std::string sys = "");
  ~PowerMeter();

  bool shows_power() const;
  bool shows_temperature() const;
  /// Names what is read: "powercap package-0", "hwmon power_meter".
  const std::vector<std::string>& sources() const { return sources_; }

  /// Runs "work" once and reads what is shown before, meanwhile and after it.
  PowerReading during(const std::function<void()>& work) const;

 private:
  struct Counter {
    std::string path;
    double range;  ///< microjoules after which it begins again at 0
  };
  std::vector<Counter> energies_;    ///< microjoules since some time
  std::vector<std::string> powers_;  ///< microwatts now
  std::vector<std::string> heats_;   ///< thousandths of a degree Celsius
  std::unique_ptr<NvidiaSensors> nvidia_;
  std::vector<std::string> sources_;

  void find_counters(const std::string& folder);
  void find_sensors(const std::string& folder);
  std::optional<double> joules_between(const std::vector<double>& before,
                                       const std::vector<double>& after) const;
  std::vector<double> counters() const;
  std::optional<double> power_now() const;
  std::optional<double> hottest() const;
};

}  // namespace lathe
