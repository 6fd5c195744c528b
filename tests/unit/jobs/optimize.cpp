// A whole search through the library: events, result, cancellation, resumption, refusals.
#include "jobs/optimize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "base/error.h"
#include "jobs/work_folder.h"
#include "support/small_scoring.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

namespace fs = std::filesystem;

/// A search of the small network by the default rule and strategy, in a folder of its own.
struct Search {
  TemporaryDirectory directory;
  OptimizeOptions options;
  std::vector<JobEvent> events;

  Search() {
    options.score = small_scoring(directory);
    options.folder = directory.file("runs") + "/small";
    options.rule.tolerance = 20;  // what the rule expects of so small a network is beside the point
    options.space.most = 4;
    options.space.narrow = false;  // that measures more than most tests need
    options.exact = 1;
    options.trials = 20;
    options.tune = 0;
    options.blocks = false;  // the list is longer than the space here
  }

  OptimizeResult run(std::function<bool()> stop = nullptr) {
    events.clear();
    return optimize(options, {[&](const JobEvent& event) { events.push_back(event); }, stop});
  }

  template <class Event>
  std::vector<Event> told() const {
    std::vector<Event> result;
    for (const JobEvent& event : events) {
      if (const auto* found = std::get_if<Event>(&event)) result.push_back(*found);
    }
    return result;
  }

  /// Returns the last that was told of some work.
  std::optional<WorkDone> last(const std::string& what) const {
    std::optional<WorkDone> result;
    for (const WorkDone& work : told<WorkDone>()) {
      if (work.what == what) result = work;
    }
    return result;
  }

  /// Runs it; it must fail with a message that has this part, and leave nothing behind.
  void expect_refused(const std::string& part) {
    try {
      run();
      ADD_FAILURE() << "no error: " << part;
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
    EXPECT_FALSE(fs::exists(options.folder)) << part;
    EXPECT_FALSE(fs::exists(fs::path(options.folder).parent_path())) << part;
  }
};

TEST(Optimize, FindsAFasterNetworkAndDoesNothingTwice) {
  Search search;
  OptimizeResult found = search.run();
  ASSERT_TRUE(found.result);
  const SearchResult& result = *found.result;
  EXPECT_FALSE(found.stopped);
  EXPECT_TRUE(result.found);
  EXPECT_TRUE(is_success(result));
  EXPECT_FALSE(result.winner.recipe.empty());
  EXPECT_LT(result.winner.ms, result.winner.original_ms);
  EXPECT_LT(result.winner.weights, result.original.weights);
  EXPECT_EQ(result.layers.size(), 2u);
  EXPECT_TRUE(result.winner.verdict && result.winner.verdict->accepted);
  EXPECT_EQ(read_search_result(found.folder), result);
  for (const char* file : {"bundle/model.onnx", "bundle/winner.recipe", "report.html"}) {
    EXPECT_TRUE(fs::exists(fs::path(found.folder) / file)) << file;
  }
  for (const char* what : {"variants looked at", "variants measured", "variants scored"}) {
    auto work = search.last(what);
    ASSERT_TRUE(work) << what;
    EXPECT_EQ(work->done, work->all) << what;
  }
  auto tried = search.told<NetworkTried>();
  ASSERT_FALSE(tried.empty());
  EXPECT_EQ(tried.front().strategy, "assign");
  EXPECT_EQ(tried.front().number, 1);
  // The same command again does nothing twice.
  JournalRecord before = read_journal(search.options.folder);
  SearchResult second = *search.run().result;
  JournalRecord after = read_journal(search.options.folder);
  EXPECT_EQ(result.winner, second.winner);
  ASSERT_EQ(before.trials.size(), after.trials.size());
  for (size_t i = 0; i < before.trials.size(); ++i) {
    EXPECT_EQ(before.trials[i].number, after.trials[i].number);
    EXPECT_EQ(before.trials[i].trial.time, after.trials[i].trial.time);
  }
}

TEST(Optimize, TakesChannelsAwayToo) {
  Search search;
  search.options.space.narrow = true;
  search.options.exact = 3;
  const SearchResult result = *search.run().result;
  EXPECT_TRUE(result.found);
  EXPECT_GT(result.layers.size(), 2u) << "those that make and read the channels change with them";
}

TEST(Optimize, ComparesWithTheListOfBlocks) {
  Search search;
  search.run();
  JournalRecord before = read_journal(search.options.folder);
  search.options.blocks = true;
  const SearchResult result = *search.run().result;
  ASSERT_TRUE(result.blocks);
  Graph network = load_network(search.options.score.network);
  NetworkSpace list = block_space(network);
  EXPECT_EQ(result.blocks->most, static_cast<long>(list.kinds[0].variants.size()));
  EXPECT_NEAR(result.blocks->log_networks, log_size(list), 1e-9);
  ASSERT_EQ(result.blocks->ways.size(), 2u);
  EXPECT_EQ(result.blocks->ways[0].way, "sampled");
  EXPECT_EQ(result.blocks->ways[1].way, "assigned");
  for (const ResultBaseline& way : result.blocks->ways) {
    EXPECT_GT(way.tried, 0) << way.way;
    if (!way.ms) continue;
    EXPECT_GT(*way.ms, 0) << way.way;
    EXPECT_LT(way.weights, result.original.weights) << way.way;
  }
  std::set<std::string> told;
  for (const NetworkTried& tried : search.told<NetworkTried>()) told.insert(tried.strategy);
  EXPECT_EQ(told, (std::set<std::string>{"assign", "blocks sampled", "blocks assigned"}));
  // What space and list share was measured once.
  std::map<std::pair<std::string, std::string>, long> numbers;
  for (const RecordedTrial& each : read_journal(search.options.folder).trials) {
    numbers[{each.trial.subject, each.trial.recipe}] = each.number;
  }
  EXPECT_GT(numbers.size(), before.trials.size());
  for (const RecordedTrial& each : before.trials) {
    auto now = numbers.find({each.trial.subject, each.trial.recipe});
    ASSERT_NE(now, numbers.end());
    if (each.trial.outcome == Trial::Outcome::judged) continue;  // it may be measured later
    EXPECT_EQ(now->second, each.number);
  }
  // Every block was measured.
  for (const LayerVariant& block : list.kinds[0].variants) {
    EXPECT_TRUE(numbers.contains({list.kinds[0].description, label_of(block)})) << label_of(block);
  }
}

TEST(Optimize, SearchesTheListAlone) {
  Search search;
  search.options.strategy = "nas";
  search.options.blocks = true;
  const SearchResult result = *search.run().result;
  ASSERT_TRUE(result.blocks);
  ASSERT_EQ(result.blocks->ways.size(), 1u);  // the other way is the search itself
  EXPECT_EQ(result.blocks->ways[0].way, "assigned");
  EXPECT_EQ(result.kinds[0].variants.size(), static_cast<size_t>(result.blocks->most));
  EXPECT_FALSE(search.last("variants looked at")) << "the list is not screened";
}

TEST(Optimize, GoesOnWhereItWasStopped) {
  Search search;
  auto stop = [&] { return !search.told<WorkDone>().empty() && search.last("variants measured"); };
  OptimizeResult stopped = search.run(stop);
  EXPECT_TRUE(stopped.stopped);
  EXPECT_FALSE(stopped.result);
  EXPECT_TRUE(fs::exists(search.options.folder + "/journal.db"));
  EXPECT_FALSE(fs::exists(search.options.folder + "/result.json"));
  OptimizeResult ended = search.run();
  EXPECT_FALSE(ended.stopped);
  ASSERT_TRUE(ended.result);
  EXPECT_TRUE(ended.result->found);
  // What was looked at before is not looked at again.
  EXPECT_FALSE(search.last("variants looked at"));
}

TEST(Optimize, SaysWhatIsWrongBeforeItBegins) {
  Search search;
  search.options.score.data = "npy:none.npy,none.npy";
  search.expect_refused("none.npy");
  search.options.score.data = "synthetic:0";
  search.options.strategy = "assing";
  search.expect_refused("'assign'");
  search.options.strategy = "assign";
  search.options.limits.weights = 1;
  search.expect_refused("--max-params 1: no network here has so few weights");
  search.options.limits.weights = std::numeric_limits<long>::max();
  search.options.limits.time = 1e-9;
  search.expect_refused("what cannot change takes");
  search.options.limits.time = std::numeric_limits<double>::infinity();
  search.options.against = "best";
  search.options.lathe = search.directory.file("lathe");
  search.expect_refused("needs the program 'peers'");
}

TEST(Optimize, SaysThatAFolderCannotBeWrittenBeforeItBegins) {
  Search search;
  std::string file = search.directory.file("notes", "mine");
  for (const std::string& folder : {file + "/runs/small", std::string("/proc/nowhere/small")}) {
    search.options.folder = folder;
    search.expect_refused(folder);
    EXPECT_TRUE(search.events.empty()) << "the search had begun";
  }
  EXPECT_EQ(content_of(file), "mine");
}

TEST(Optimize, LeavesAFolderThatWasThere) {
  Search search;
  fs::create_directories(search.options.folder);
  std::ofstream(search.options.folder + "/notes") << "mine";
  search.options.score.data = "npy:none.npy,none.npy";
  EXPECT_THROW(search.run(), UserError);
  EXPECT_TRUE(fs::exists(search.options.folder + "/notes"));
  EXPECT_FALSE(fs::exists(search.options.folder + "/journal.db"));
  EXPECT_FALSE(fs::exists(search.options.folder + "/lock"));
}

TEST(Optimize, AConstraintThatTheOriginalKeepsIsMet) {
  Search search;
  search.options.limits.time = 1000;
  OptimizeResult found = search.run();
  ASSERT_TRUE(found.result);
  EXPECT_FALSE(found.result->found);
  EXPECT_TRUE(found.result->winner.recipe.empty());
  EXPECT_TRUE(is_success(*found.result));
  ASSERT_EQ(found.result->limits.size(), 1u);
  EXPECT_EQ(found.result->limits[0].what, "latency");
  EXPECT_TRUE(found.result->limits[0].met);
}

TEST(Optimize, NeverCallsTheOriginalAFind) {
  Search search;
  search.options.rule.tolerance = 0;
  search.options.rule.network_band = search.options.rule.layer_band = 0;  // only the original fits
  OptimizeResult found = search.run();
  ASSERT_TRUE(found.result);
  EXPECT_FALSE(found.result->found);
  EXPECT_FALSE(is_success(*found.result));
  EXPECT_TRUE(found.result->winner.recipe.empty());
  EXPECT_EQ(found.result->winner.weights, found.result->original.weights);
}

TEST(Optimize, ABudgetEndsIt) {
  Search search;
  search.options.budget = 1;  // of seconds: what is in the tables by then is what it chooses from
  search.options.space.most = 16;
  OptimizeResult found = search.run();
  ASSERT_TRUE(found.result);
  EXPECT_FALSE(found.stopped);
  auto work = search.last("variants looked at");
  EXPECT_TRUE(!work || work->done < work->all);
}

TEST(WorkFolder, StaysInRuns) {
  EXPECT_EQ(work_folder_of("resnet34-cifar"), "runs/resnet34-cifar");
  EXPECT_EQ(work_folder_of("../x/model.onnx"), "runs/model.onnx");
  EXPECT_EQ(work_folder_of("/tmp/a.graph"), "runs/a.graph");
  EXPECT_EQ(work_folder_of("../../etc"), "runs/_.._.._etc");
}

}  // namespace
}  // namespace lathe::test
