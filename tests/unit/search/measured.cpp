// Candidates on this machine: processes of their own that may crash and hang, units that run alone,
// smaller units that the interpreter judges.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "graph/text.h"
#include "models/model.h"
#include "search/isolated.h"
#include "search/measure.h"
#include "search/native_bench.h"
#include "search/reduced.h"
#include "search/unit_network.h"
#include "support/mixed_network.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

TEST(Isolated, ReturnsWhatTheWorkDoes) {
  Outcome outcome = isolated([] { return std::string("two\nlines"); }, 10);
  EXPECT_EQ(outcome.result, "two\nlines");
  EXPECT_EQ(outcome.failure, "");
  std::string large(1 << 20, 'x');
  EXPECT_EQ(isolated([&] { return large; }, 10).result, large);
}

TEST(Isolated, SurvivesWhatGoesWrong) {
  auto failure = [](const std::function<std::string()>& work, double seconds = 10) {
    return isolated(work, seconds).failure;
  };
  EXPECT_EQ(failure([]() -> std::string { fail("no such thing"); }), "no such thing");
  EXPECT_EQ(failure([]() -> std::string { _exit(0); }), "it ended without an answer");
  auto dies_of = [](int signal) {
    return [signal]() -> std::string {
      raise(signal);
      return "";
    };
  };
  EXPECT_NE(failure(dies_of(SIGSEGV)).find("crashed"), std::string::npos);
  EXPECT_NE(failure(dies_of(SIGILL)).find("llegal"), std::string::npos);
  EXPECT_EQ(failure(dies_of(SIGINT)), "") << "interruptions are left to the parent";
  EXPECT_NE(failure(
                []() -> std::string {
                  while (true) pause();
                },
                0.2)
                .find("longer"),
            std::string::npos);
}

TEST(TimesInTurn, TellTheSlowFromTheFast) {
  auto sleep = [](useconds_t time) { return [time] { usleep(time); }; };
  std::vector<double> times = times_in_turn({sleep(200), sleep(2000)}, {0.02, 5, 1e9});
  ASSERT_EQ(times.size(), 2u);
  EXPECT_GE(times[0], 200e-6);
  EXPECT_GE(times[1], 2000e-6);
  EXPECT_LT(times[0], times[1]);
}

TEST(Units, RunAloneAndWhenReducedAsTheInterpreterSays) {
  Graph graph = initialised(parse_graph(mixed_network), 1);
  Target target = native_target();
  size_t compared = 0, cut = 0, loaded = 0;
  for (const NodeUnit& node : units_of(graph)) {
    SCOPED_TRACE(node.unit.key);
    Context context;
    ScheduleSpace space = fitting_schedules(context, node.unit, target);
    ASSERT_FALSE(space.empty());
    Choice own{space.front().schedule, {}};
    auto smaller = reduced(node.unit, 200000);
    if (smaller) {
      UnitComparison comparison = compare_with_interpreter(*smaller, own, target);
      EXPECT_EQ(comparison.wrong, "");
      compared += comparison.unchecked.empty() ? 1 : 0;
      cut += print(smaller->call) != print(node.unit.call) ? 1 : 0;
    }
    auto made = make_unit(node.unit, {.target = target, .cache = false});
    UnitRunner once(*made, random_data(node.unit), target, 1);
    UnitRunner copies(*made, random_data(node.unit), target, 2, 3);
    for (int i = 0; i < 4; ++i) copies.run();
    EXPECT_EQ(once.outputs(), copies.outputs());
    auto at_load =
        static_cast<size_t>(std::count(made->code.once.begin(), made->code.once.end(), true));
    EXPECT_EQ(unit_network(*made, random_data(node.unit), target, 3).first_step, 3 * at_load);
    loaded += at_load;
  }
  EXPECT_GE(compared, 5u);
  EXPECT_GE(loaded, 1u);  // a Winograd layer's weights
  EXPECT_GE(cut, 2u);
}

TEST(Units, DifferencesAreSeen) {
  std::vector<float> must{1, -2, 300}, near{1, -2, 300.01F}, far{1, -1, 300}, none{1, NAN, 300};
  EXPECT_EQ(difference(must.data(), must.data(), 3), "");
  EXPECT_EQ(difference(near.data(), must.data(), 3), "");
  EXPECT_EQ(difference(far.data(), must.data(), 3), "element 1 is -1 instead of -2");
  EXPECT_NE(difference(none.data(), must.data(), 3), "");
}

TEST(NativeBench, TunesASmallNetwork) {
  TemporaryDirectory directory;
  Graph graph = initialised(parse_graph(mixed_network), 1);
  TunedStore store(directory.file("tuned.db"));
  auto bench = native_bench(graph, native_target(), 1);
  TuneReport report = tune(graph, native_target(), *bench, store, {.trials = 12});
  EXPECT_EQ(report.trials, 12);
  EXPECT_EQ(report.failed, 0);
  size_t measured = 0;
  for (const TunedUnit& unit : report.units) {
    for (const Measurement& m : store.measurements({unit.key, tuned_target(native_target()), 1})) {
      EXPECT_EQ(m.failure, "");
      EXPECT_GT(m.time, 0);
      EXPECT_GT(m.own, 0);
      ++measured;
    }
  }
  EXPECT_GT(measured, 0u);
}

}  // namespace
}  // namespace lathe::test
