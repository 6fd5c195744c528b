// Power is read where a machine shows it. Folders laid out like /sys stand for machines.
#include "search/power.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/temporary.h"

namespace lathe::test {
namespace {

void put(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text << "\n";
}

TEST(Power, IsNotGuessed) {
  TemporaryDirectory sys;
  PowerMeter meter(sys.file("none"));
  EXPECT_FALSE(meter.shows_power());
  EXPECT_FALSE(meter.shows_temperature());
  EXPECT_TRUE(meter.sources().empty());
  PowerReading reading = meter.during([] {});
  EXPECT_FALSE(reading.watts || reading.celsius);
}

TEST(Power, IsEnergyByTime) {
  TemporaryDirectory sys;
  std::string zone = sys.file("class/powercap/intel-rapl:0");
  put(zone + "/name", "package-0");
  put(zone + "/max_energy_range_uj", "1000000000");
  put(zone + "/energy_uj", "999000000");
  // A domain of the package, which counts there.
  put(sys.file("class/powercap/intel-rapl:0:0/energy_uj"), "5");
  put(sys.file("class/powercap/intel-rapl:0:0/max_energy_range_uj"), "10");
  put(sys.file("class/hwmon/hwmon0/name"), "coretemp");
  put(sys.file("class/hwmon/hwmon0/temp1_input"), "41000");
  put(sys.file("class/hwmon/hwmon0/temp2_input"), "52500");
  PowerMeter meter(sys.file("."));
  EXPECT_TRUE(meter.shows_power());
  EXPECT_EQ(meter.sources(), (std::vector<std::string>{"powercap package-0", "hwmon coretemp"}));
  // The counter begins again at 0 meanwhile: two joules were used.
  PowerReading reading = meter.during([&] { put(zone + "/energy_uj", "1000000"); });
  ASSERT_TRUE(reading.watts);
  EXPECT_NEAR(*reading.watts * reading.seconds, 2, 1e-6);
  EXPECT_EQ(reading.celsius, 52.5);
}

TEST(Power, IsReadMeanwhileWhereNothingCounts) {
  TemporaryDirectory sys;
  put(sys.file("class/hwmon/hwmon1/name"), "power_meter");
  put(sys.file("class/hwmon/hwmon1/power1_input"), "30000000");
  PowerMeter meter(sys.file("."));
  EXPECT_EQ(meter.during([] {}).watts, 30.0);
  EXPECT_THROW(meter.during([] { throw std::runtime_error("stopped"); }), std::runtime_error);
}

}  // namespace
}  // namespace lathe::test
