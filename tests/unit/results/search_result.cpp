// Results of searches: what is written is read back, and what is wrong with a file is said.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "support/search_result.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

TEST(SearchResult, RoundTrip) {
  SearchResult result = sample_result();
  EXPECT_EQ(search_result_from_json(to_json(result)), result);
  SearchResult nothing = result_of_nothing();
  EXPECT_EQ(search_result_from_json(to_json(nothing)), nothing);
}

TEST(SearchResult, Folder) {
  TemporaryDirectory directory;
  expect_failure([&] { read_search_result(directory.path()); }, {"holds no search"});
  directory.file("journal.db", "");
  expect_failure([&] { read_search_result(directory.path()); },
                 {"the search in", "has not ended", "lathe optimize"});
  write_search_result(sample_result(), directory.path());
  EXPECT_EQ(read_search_result(directory.path()), sample_result());
  directory.file("result.json", "{\"lathe_result\": 1,");
  expect_failure([&] { read_search_result(directory.path()); }, {"result.json' is no JSON"});
  directory.file("result.json", "{\"lathe_result\": 1}");
  expect_failure([&] { read_search_result(directory.path()); },
                 {"result.json': 'lathe' is missing"});
}

TEST(SearchResult, WhatIsWrongIsNamed) {
  auto expect_wrong = [](const char* pointer, const nlohmann::json& value, const char* message) {
    nlohmann::json file = to_json(sample_result());
    file[nlohmann::json::json_pointer(pointer)] = value;
    expect_failure([&] { search_result_from_json(file); }, {message});
  };
  expect_wrong("/winner", 3, "'winner' is not an object");
  expect_wrong("/winner/verdict/ratio", "high", "'winner.verdict.ratio' is not a number");
  expect_wrong("/winner/verdict/interval", {1}, "'winner.verdict.interval' has not two ends");
  expect_wrong("/winner/recipe", 1, "'winner.recipe': network recipe: no list");
  expect_wrong("/layers/1/macs", 1.5, "'layers[1].macs' is not a whole number");
  expect_wrong("/found", 1, "'found' is not true or false");
  expect_wrong("/command", nullptr, "'command' is not a text");
  expect_wrong("/peers", 1, "'peers' is not a list");
  expect_wrong("/reasons", 1, "'reasons' is not an object");
  expect_wrong("/lathe_result", 2, "version 2 is not known here (this is version 1)");
  expect_wrong("/lathe_result", "1", "this is no result of a search");
  nlohmann::json file = to_json(sample_result());
  file["kinds"][0].erase("sites");
  expect_failure([&] { search_result_from_json(file); }, {"'kinds[0].sites' is missing"});
}

TEST(SearchResult, WhatIsNotKnown) {
  nlohmann::json file = to_json(sample_result());
  file["of a later version"] = 1;
  file["layers"][0].erase("exact");
  file["layers"][1]["exact"] = nullptr;
  file["blocks"] = nullptr;
  SearchResult result = search_result_from_json(file);
  EXPECT_FALSE(result.layers[0].exact);
  EXPECT_FALSE(result.layers[1].exact);
  EXPECT_FALSE(result.blocks);
  // Infinity is no number of JSON.
  result.layers[0].first_order = -INFINITY;
  EXPECT_FALSE(search_result_from_json(to_json(result)).layers[0].first_order);
}

TEST(SearchResult, OfAnEarlierVersion) {
  // One number for a list that was screened: no longer known, and no longer shown.
  nlohmann::json file = to_json(sample_result());
  file.erase("blocks");
  file.erase("log_networks");
  file["nas"] = {{"ms", 3.5}, {"original_ms", 4.55}};
  SearchResult result = search_result_from_json(file), wanted = sample_result();
  wanted.blocks.reset();
  wanted.log_networks.reset();
  EXPECT_EQ(result, wanted);
}

TEST(SearchResult, NamesTheScoreThatTheBandsAreOf) {
  EXPECT_EQ(sample_result().rule.score_name(), "fisher");
  nlohmann::json file = to_json(sample_result());
  file["rule"].erase("metric");  // as an earlier version wrote it
  EXPECT_EQ(search_result_from_json(file).rule.score_name(), "score");
}

TEST(SearchResult, WaysOfTheList) {
  auto expect_wrong = [](const char* pointer, const nlohmann::json& value, const char* message) {
    nlohmann::json file = to_json(sample_result());
    file[nlohmann::json::json_pointer(pointer)] = value;
    expect_failure([&] { search_result_from_json(file); }, {message});
  };
  expect_wrong("/blocks/most", "many", "'blocks.most' is not a whole number");
  expect_wrong("/blocks/ways/1/ms", "fast", "'blocks.ways[1].ms' is not a number");
  EXPECT_TRUE(to_json(sample_result())["blocks"]["ways"][0]["ms"].is_null());
}

TEST(SearchResult, NamesTheWayOfTheWinner) {
  SearchResult result = sample_result();
  EXPECT_EQ(way_of_winner(result), "Lathe");
  result.strategy = "nas";
  EXPECT_EQ(way_of_winner(result), "list of blocks (sampled)");
}

TEST(SearchResult, TimesOfOtherRunsAreBesideTheOriginals) {
  // They took turns in a slower run: twice as fast, whatever the machine did.
  ResultBaseline blocks{.way = "assigned", .ms = 6, .original_ms = 12};
  EXPECT_DOUBLE_EQ(blocks.ms_beside(10), 5);
}

TEST(SearchResult, VerdictOfJournal) {
  ResultVerdict verdict = *sample_result().winner.verdict;
  EXPECT_EQ(verdict_from_json(to_json(sample_result())["winner"]["verdict"]), verdict);
  expect_failure([&] { verdict_from_json(nullptr); }, {"'verdict' is not an object"});
}

TEST(SearchResult, WithOneSeedThereIsNoInterval) {
  nlohmann::json json = to_json(sample_result())["winner"]["verdict"];
  json.erase("interval");
  json.erase("sure");
  ResultVerdict verdict = verdict_from_json(json);
  EXPECT_FALSE(verdict.interval);
  EXPECT_FALSE(verdict.sure);
}

TEST(SearchResult, HasNoPointEstimateWhereTheRuleIsForOthers) {
  nlohmann::json json = to_json(sample_result())["winner"]["verdict"];
  json["caveat"] = "prediction not calibrated for this network";
  ResultVerdict verdict = verdict_from_json(json);
  EXPECT_FALSE(verdict.predicted);
  EXPECT_FALSE(verdict.uncertainty);
  EXPECT_EQ(verdict.prediction, (std::vector{-2.11, 1.69}));
}

}  // namespace
}  // namespace lathe::test
