// power.cpp: sensors of the machine. Interface: power.h.
#include "search/power.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// Seconds between two readings of power. Sensors have a new value some times a second.
constexpr std::chrono::milliseconds between_readings{50};

constexpr double micro = 1e-6, milli = 1e-3;

std::optional<double> number_in(const std::string& path) {
  std::ifstream file(path);
  double value = 0;
  if (!(file >> value)) return std::nullopt;
  return value;
}

std::string text_in(const std::string& path, const std::string& otherwise) {
  std::ifstream file(path);
  std::string text;
  return std::getline(file, text) && !text.empty() ? text : otherwise;
}

/// Returns the entries of a folder, sorted; none if it cannot be read.
std::vector<fs::path> entries(const std::string& folder) {
  std::vector<fs::path> result;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) result.push_back(entry.path());
  std::sort(result.begin(), result.end());
  return result;
}

bool begins_and_ends(const std::string& name, std::string_view begin, std::string_view end) {
  return name.starts_with(begin) && name.ends_with(end);
}

}  // namespace

class NvidiaSensors {
 public:
  /// Returns the sensors of the first card; null where there is no card or no library.
  static std::unique_ptr<NvidiaSensors> load() {
    auto sensors = std::unique_ptr<NvidiaSensors>(new NvidiaSensors);
    return sensors->device_ != nullptr ? std::move(sensors) : nullptr;
  }
  ~NvidiaSensors() {
    if (shutdown_ != nullptr) shutdown_();
    if (library_ != nullptr) dlclose(library_);
  }
  NvidiaSensors(const NvidiaSensors&) = delete;
  NvidiaSensors& operator=(const NvidiaSensors&) = delete;

  std::optional<double> watts() const { return read(power_, milli); }
  std::optional<double> celsius() const {
    unsigned degrees = 0;
    bool known = heat_ != nullptr && heat_(device_, gpu_die, &degrees) == success;
    return known ? std::optional<double>(degrees) : std::nullopt;
  }

 private:
  // As NVIDIA's header declares them.
  static constexpr int success = 0;
  static constexpr int gpu_die = 0;
  void* library_ = nullptr;
  void* device_ = nullptr;
  int (*shutdown_)() = nullptr;
  int (*power_)(void*, unsigned*) = nullptr;      // milliwatts
  int (*heat_)(void*, int, unsigned*) = nullptr;  // degrees

  NvidiaSensors() {
    library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) return;
    int (*begin)() = nullptr;
    int (*find)(unsigned, void**) = nullptr;
    find_function("nvmlInit_v2", begin);
    find_function("nvmlDeviceGetHandleByIndex_v2", find);
    find_function("nvmlDeviceGetPowerUsage", power_);
    find_function("nvmlDeviceGetTemperature", heat_);
    if (begin == nullptr || find == nullptr || begin() != success) return;
    find_function("nvmlShutdown", shutdown_);
    if (find(0, &device_) != success) device_ = nullptr;
  }

  template <class Function>
  void find_function(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
  }

  std::optional<double> read(int (*function)(void*, unsigned*), double unit) const {
    unsigned value = 0;
    bool known = function != nullptr && function(device_, &value) == success;
    return known ? std::optional(value * unit) : std::nullopt;
  }
};

PowerMeter::PowerMeter(std::string sys) {
  bool is_machine = sys.empty();
  if (is_machine) sys = "/sys";
  find_counters(sys + "/class/powercap");
  find_sensors(sys + "/class/hwmon");
  if (is_machine) nvidia_ = NvidiaSensors::load();
  if (nvidia_) sources_.emplace_back("NVML");
}

PowerMeter::~PowerMeter() = default;

/// Domains of a package ("intel-rapl:0:1") are part of it ("intel-rapl:0"): only packages count.
void PowerMeter::find_counters(const std::string& folder) {
  for (const fs::path& zone : entries(folder)) {
    std::string name = zone.filename();
    if (std::count(name.begin(), name.end(), ':') != 1) continue;
    std::string path = zone / "energy_uj";
    auto range = number_in(zone / "max_energy_range_uj");
    if (!range || !number_in(path)) continue;
    energies_.push_back({path, *range});
    sources_.push_back("powercap " + text_in(zone / "name", name));
  }
}

void PowerMeter::find_sensors(const std::string& folder) {
  for (const fs::path& chip : entries(folder)) {
    bool used = false;
    for (const fs::path& file : entries(chip)) {
      std::string name = file.filename();
      bool is_power = begins_and_ends(name, "power", "_input");
      bool is_heat = begins_and_ends(name, "temp", "_input");
      if ((!is_power && !is_heat) || !number_in(file)) continue;
      (is_power ? powers_ : heats_).push_back(file);
      used = true;
    }
    if (used) sources_.push_back("hwmon " + text_in(chip / "name", chip.filename()));
  }
}

bool PowerMeter::shows_power() const { return !energies_.empty() || power_now().has_value(); }

bool PowerMeter::shows_temperature() const { return hottest().has_value(); }

std::vector<double> PowerMeter::counters() const {
  std::vector<double> result;
  for (const Counter& counter : energies_) result.push_back(number_in(counter.path).value_or(-1));
  return result;
}

std::optional<double> PowerMeter::joules_between(const std::vector<double>& before,
                                                 const std::vector<double>& after) const {
  if (energies_.empty()) return std::nullopt;
  double sum = 0;
  for (size_t i = 0; i < energies_.size(); ++i) {
    if (before[i] < 0 || after[i] < 0) return std::nullopt;
    double used = after[i] - before[i];
    sum += (used < 0 ? used + energies_[i].range : used) * micro;
  }
  return sum;
}

std::optional<double> PowerMeter::power_now() const {
  std::optional<double> sum = nvidia_ ? nvidia_->watts() : std::nullopt;
  for (const std::string& path : powers_) {
    if (auto power = number_in(path)) sum = sum.value_or(0) + *power * micro;
  }
  return sum;
}

std::optional<double> PowerMeter::hottest() const {
  std::optional<double> most = nvidia_ ? nvidia_->celsius() : std::nullopt;
  for (const std::string& path : heats_) {
    auto heat = number_in(path);
    if (heat) most = std::max(most.value_or(*heat * milli), *heat * milli);
  }
  return most;
}

PowerReading PowerMeter::during(const std::function<void()>& work) const {
  // Counters tell what was used; where there are none, power is read again and again meanwhile.
  bool samples = energies_.empty() && power_now().has_value();
  std::atomic<bool> done = false;
  double sum = 0;
  long readings = 0;
  std::thread reader;
  if (samples) {
    reader = std::thread([&] {
      for (; !done || readings == 0; std::this_thread::sleep_for(between_readings)) {
        if (auto watts = power_now()) sum += *watts;
        ++readings;
      }
    });
  }
  std::vector<double> before = counters();
  auto begin = Clock::now();
  try {
    work();
  } catch (...) {
    done = true;
    if (reader.joinable()) reader.join();
    throw;
  }
  PowerReading reading;
  reading.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::vector<double> after = counters();
  done = true;
  if (reader.joinable()) reader.join();
  if (auto joules = joules_between(before, after)) reading.watts = *joules / reading.seconds;
  if (samples) reading.watts = sum / static_cast<double>(readings);
  reading.celsius = hottest();
  return reading;
}

}  // namespace lathe
