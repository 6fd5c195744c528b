// The journal of a search: what was added is there, for the same search alone.
#include "search/journal.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <thread>

#include "compile/database.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

const Journal::Identity identity{{"network", "tiny 1"}, {"machine", "this one"}};

Trial some_trial(const std::string& recipe) {
  return {"network", recipe, Trial::Outcome::refused, "too far", 0.25, 0.5, {{"macs", 12}}};
}

TEST(Journal, KeepsTrialsAndNumbers) {
  TemporaryDirectory folder;
  {
    Journal journal(folder.path(), identity);
    journal.add(some_trial("conv1: group(2)\n"));
    journal.set_number("score", 0.1);
    EXPECT_FALSE(journal.find("network", ""));
  }
  Journal journal(folder.path(), identity);
  auto trial = journal.find("network", "conv1: group(2)\n");
  ASSERT_TRUE(trial);
  EXPECT_EQ(trial->outcome, Trial::Outcome::refused);
  EXPECT_EQ(trial->reason, "too far");
  EXPECT_EQ(trial->time, 0.25);
  EXPECT_EQ(trial->own, 0.5);
  EXPECT_EQ(trial->details["macs"], 12);
  EXPECT_EQ(journal.number("score"), 0.1);
  EXPECT_EQ(journal.number("other"), std::nullopt);
}

TEST(Journal, ReplacesATrialOfTheSameRecipe) {
  TemporaryDirectory folder;
  Journal journal(folder.path(), identity);
  journal.add(some_trial("a"));
  Trial again = some_trial("a");
  again.outcome = Trial::Outcome::measured;
  journal.add(again);
  JournalRecord record = read_journal(folder.path());
  ASSERT_EQ(record.trials.size(), 1U);
  EXPECT_EQ(record.trials[0].trial.outcome, Trial::Outcome::measured);
  EXPECT_EQ(record.identity, identity);
}

TEST(Journal, RefusesAnotherSearch) {
  TemporaryDirectory folder;
  { Journal journal(folder.path(), identity); }
  Journal::Identity other{{"network", "tiny 2"}, {"machine", "this one"}};
  expect_failure([&] { Journal journal(folder.path(), other); },
                 {"another network: 'tiny 1' there, 'tiny 2' now", "--work-dir"});
}

TEST(Journal, IsOfOneSearchAtATime) {
  TemporaryDirectory folder;
  Journal journal(folder.path(), identity);
  expect_failure([&] { Journal second(folder.path(), identity); }, {"another search works in"});
}

TEST(Journal, WaitsForASearchThatEnds) {
  TemporaryDirectory folder;
  auto first = std::make_unique<Journal>(folder.path(), identity);
  first->set_number("score", 0.5);
  std::thread end([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    first.reset();
  });
  EXPECT_EQ(Journal(folder.path(), identity).number("score"), 0.5);
  end.join();
}

TEST(Journal, IsReadableAfterItsWriterWasKilled) {
  TemporaryDirectory folder;
  pid_t child = fork();
  if (child == 0) {
    Journal journal(folder.path(), identity);
    for (int i = 0; i < 5; ++i) journal.add(some_trial(std::to_string(i)));
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(read_journal(folder.path()).trials.size(), 5U);
  Journal journal(folder.path(), identity);
  EXPECT_TRUE(journal.find("network", "4"));
}

TEST(Journal, IsEmptyWhereItsWriterWasKilledAtOnce) {
  TemporaryDirectory folder;
  folder.file("journal.db", "");
  JournalRecord record = read_journal(folder.path());
  EXPECT_TRUE(record.identity.empty());
  EXPECT_TRUE(record.trials.empty());
}

TEST(Journal, SaysThatItIsDamaged) {
  TemporaryDirectory folder;
  { Journal(folder.path(), identity).add(some_trial("conv1: group(2)")); }
  {
    Database database(folder.file("journal.db"), Database::Open::create);
    Query(database, "UPDATE trials SET details = '{'").step();
  }
  expect_failure([&] { read_journal(folder.path()); }, {"damaged", "conv1: group(2)"});
}

TEST(Journal, SaysWhereThereIsNone) {
  TemporaryDirectory folder;
  expect_failure([&] { read_journal(folder.file("nothing")); }, {"holds no search"});
  std::string file = folder.file("file", "x");
  expect_failure([&] { Journal journal(file, identity); }, {file});
}

}  // namespace
}  // namespace lathe::test
