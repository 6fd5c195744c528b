// Units of built-in networks, at their own size and made smaller, compute on an OpenCL device, or
// on another GPU of this computer (LATHE_TARGET=cuda), what the interpreter does. A driver takes
// about a second for each, so that a small network must do. LATHE_NETWORKS=1 takes the units of all
// that are built in, LATHE_NETWORKS=vgg16,resnet34 those of two. LATHE_PARTS=16 LATHE_PART=3 takes
// the third of 16 parts of them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <sstream>

#include "compile/compile.h"
#include "models/model.h"
#include "search/reduced.h"
#include "search/round_tuning.h"
#include "support/on_device.h"

namespace lathe::test {
namespace {

/// What came of comparing units.
struct Counts {
  long whole = 0, some = 0;               ///< units that were compared, all of one or some elements
  std::map<std::string, long> unchecked;  ///< why others were not
};

void compare(const Unit& unit, const Target& target, Counts& counts) {
  Context context;
  ScheduleSpace space = fitting_schedules(context, unit, target);
  Choice own{space.empty() ? "" : space.front().schedule, {}};
  if (auto smaller = reduced(unit)) {
    UnitComparison whole = compare_with_interpreter(*smaller, own, target);
    EXPECT_EQ(whole.wrong, "") << own.schedule << ", smaller: " << print(smaller->call);
    counts.whole += whole.unchecked.empty() ? 1 : 0;
  }
  UnitComparison some = compare_some(unit, own, target);
  EXPECT_EQ(some.wrong, "") << own.schedule;
  if (some.unchecked.empty()) {
    ++counts.some;
  } else {
    ++counts.unchecked[some.unchecked];
  }
}

std::vector<std::string> asked_networks() {
  const char* asked = std::getenv("LATHE_NETWORKS");
  if (asked == nullptr) return {"resnet20-cifar"};
  std::vector<std::string> names;
  if (std::string(asked) == "1") {
    for (const ModelEntry& entry : list_models()) names.push_back(entry.example);
  } else {
    std::istringstream list(asked);
    for (std::string name; std::getline(list, name, ',');) names.push_back(name);
  }
  return names;
}

/// Compares the units of networks on a device that is here.
void compare_networks(const Target& target) {
  if (cases_target()) return;  // units are compared where the device is
  const long parts = environment("LATHE_PARTS", 1), part = environment("LATHE_PART", 1);
  std::set<std::string> seen;
  Counts all;
  for (const std::string& name : asked_networks()) {
    Counts counts;
    for (const NodeUnit& node : units_for(initialised(load_model(name), 1), target)) {
      if (!seen.insert(node.unit.key).second) continue;
      if (static_cast<long>(seen.size()) % parts != part % parts) continue;
      if (environment("LATHE_TELL", 0) != 0) std::cout << node.node << std::endl;
      SCOPED_TRACE(name + ", " + node.node + ": " + node.unit.key);
      compare(node.unit, target, counts);
    }
    std::cout << name << ": " << counts.some << " units at their size, " << counts.whole
              << " made smaller\n"
              << std::flush;
    all.some += counts.some;
    for (const auto& [why, count] : counts.unchecked) all.unchecked[why] += count;
  }
  for (const auto& [why, count] : all.unchecked) {
    std::cout << count << " unchecked: " << why << "\n";
  }
  if (parts == 1) {
    EXPECT_GE(all.some, 8);
  }
}

TEST(OpenClUnits, ComputeWhatTheInterpreterDoes) {
  LATHE_NEEDS_DEVICE(target);
  compare_networks(*target);
}

TEST(OpenClUnits, OfCpusComputeWhatTheInterpreterDoes) {
  LATHE_NEEDS_CPU(target);
  compare_networks(*target);
}

}  // namespace
}  // namespace lathe::test
