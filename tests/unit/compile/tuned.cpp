// What tuning found is kept: found again as it was, by several processes at once, and never a
// reason to fail.
#include "compile/tuned.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/temporary.h"

namespace lathe::test {
namespace {

const TunedFor conv{"conv(...) (1 2/3/4)", "aarch64 +x", 1};

Measurement measurement(long n) {
  return {
      {"contraction", {{"positions", n}, {"unroll", 4}}}, fmt::format("code{}", n), 0.001, 0.002};
}

TEST(Tuned, MeasurementsAreFoundAgain) {
  TemporaryDirectory directory;
  std::string path = directory.file("new/folder/tuned.db");
  {
    TunedStore store(path);
    EXPECT_TRUE(store.measurements(conv).empty());
    store.add(conv, measurement(5));
    store.add(conv, {{"window", {}}, "c", 0, 0, "it crashed"});
    store.add({conv.unit, conv.target, 2}, measurement(7));
  }
  std::vector<Measurement> found = TunedStore(path).measurements(conv);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].choice, measurement(5).choice);
  EXPECT_EQ(found[0].code, "code5");
  EXPECT_EQ(found[0].time, 0.001);
  EXPECT_EQ(found[0].own, 0.002);
  EXPECT_EQ(found[1].failure, "it crashed");
}

TEST(Tuned, OnlyWhatIsKeptIsUsed) {
  TemporaryDirectory directory;
  std::string path = directory.file("tuned.db"), warning;
  auto warn = [&](const std::string& what) { warning = what; };
  Target target = target_named("aarch64");
  TunedFor where{"unit", tuned_target(target), 1};
  EXPECT_FALSE(tuned_choices(path, target, 1, warn)) << "there is no file";
  TunedStore store(path);
  store.set_found(where, {{"contraction", {{"block", 8}}}, 1, 2});
  EXPECT_FALSE(tuned_choices(path, target, 1, warn)) << "it is not kept";
  ASSERT_TRUE(store.found(where));
  EXPECT_FALSE(store.kept(where));
  store.keep({where}, {});
  Chooser choose = tuned_choices(path, target, 1, warn);
  ASSERT_TRUE(choose);
  EXPECT_EQ(choose("unit"), (Choice{"contraction", {{"block", 8}}}));
  EXPECT_FALSE(choose("another"));
  EXPECT_FALSE(tuned_choices(path, target, 2, warn)) << "for another number of workers";
  EXPECT_FALSE(tuned_choices(path, target_named("x86-64-v3"), 1, warn));
  EXPECT_EQ(store.others({"another", where.target, 1}).size(), 1u);
  store.keep({}, {where});
  EXPECT_FALSE(tuned_choices(path, target, 1, warn)) << "it was dropped";
  EXPECT_EQ(warning, "");
}

TEST(Tuned, WhatIsForgottenIsGone) {
  TemporaryDirectory directory;
  TunedStore store(directory.file("tuned.db"));
  TunedFor other{"other", conv.target, 1};
  for (const TunedFor& where : {conv, other}) {
    store.add(where, measurement(1));
    store.set_found(where, {measurement(1).choice, 1, 2});
  }
  store.forget({conv});
  EXPECT_TRUE(store.measurements(conv).empty());
  EXPECT_FALSE(store.found(conv));
  EXPECT_EQ(store.measurements(other).size(), 1u);
  EXPECT_TRUE(store.found(other));
}

TEST(Tuned, AFileThatIsNoDatabaseIsAWarning) {
  TemporaryDirectory directory;
  std::string path = directory.file("tuned.db", std::string(5000, 'x')), warning;
  auto warn = [&](const std::string& what) { warning = what; };
  EXPECT_FALSE(tuned_choices(path, native_target(), 1, warn));
  EXPECT_NE(warning.find(path), std::string::npos) << warning;
  expect_failure([&] { TunedStore store(path); }, {path, "not a database"});
  std::string folder = directory.path();
  EXPECT_FALSE(tuned_choices(folder, native_target(), 1, warn));
  EXPECT_NE(warning.find(folder), std::string::npos) << warning;
}

TEST(Tuned, SettingsThatAreNoneAreLeftOut) {
  EXPECT_EQ(print_settings({{"b", 2}, {"a", -1}}), R"({"a":-1,"b":2})");
  EXPECT_EQ(parse_settings(R"({"a":-1,"b":2})"), (Settings{{"a", -1}, {"b", 2}}));
  for (const char* text : {"", "{", "[]", "1", R"({"a":"b"})", R"({"a":1.5})"}) {
    EXPECT_FALSE(parse_settings(text)) << text;
  }
}

TEST(Tuned, SeveralProcessesWriteAtOnce) {
  constexpr int processes = 4;
  constexpr long each = 25;
  TemporaryDirectory directory;
  std::string path = directory.file("tuned.db");
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    pid_t child = fork();
    if (child == 0) {
      int status = 1;
      try {
        TunedStore store(path);
        for (long i = 0; i < each; ++i) store.add(conv, measurement(1000 * p + i));
        status = 0;
      } catch (const UserError&) {
        status = 2;
      }
      _exit(status);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(TunedStore(path).measurements(conv).size(), static_cast<size_t>(processes * each));
}

TEST(Tuned, LayoutsAreKeptForOneNetwork) {
  TemporaryDirectory directory;
  std::string path = directory.file("tuned.db");
  Target target = target_named("aarch64");
  TunedFor network{"network", tuned_target(target), 1};
  EXPECT_FALSE(tuned_layouts(path, target, 1)) << "there is no file";
  TunedStore store(path);
  EXPECT_FALSE(tuned_layouts(path, target, 1));
  LayoutChoice choice{{64, 16}, {{3, 32}}};
  store.keep_layouts(network, choice);
  EXPECT_EQ(store.layouts(network), choice);
  LayoutChooser layouts = tuned_layouts(path, target, 1);
  ASSERT_TRUE(layouts);
  EXPECT_EQ(layouts("network"), choice);
  EXPECT_FALSE(layouts("another"));
  EXPECT_FALSE(tuned_layouts(path, target, 2)) << "for another number of workers";
  store.keep_layouts(network, std::nullopt);
  EXPECT_FALSE(store.layouts(network));
  store.keep_layouts(network, choice);
  store.forget({network});
  EXPECT_FALSE(tuned_layouts(path, target, 1));
}

TEST(Tuned, CostsAreByWhatTheyWereMeasuredBeside) {
  TemporaryDirectory directory;
  TunedStore store(directory.file("tuned.db"));
  TunedFor where{"unit", "target", 1};
  EXPECT_FALSE(store.cost(where, "a"));
  store.add_cost(where, "a", {1, 2, ""});
  store.add_cost(where, "b", {0, 0, "it crashed"});
  ASSERT_TRUE(store.cost(where, "a"));
  EXPECT_EQ(store.cost(where, "a")->time, 1);
  EXPECT_EQ(store.cost(where, "a")->own, 2);
  EXPECT_EQ(store.cost(where, "b")->failure, "it crashed");
  store.forget({where});
  EXPECT_FALSE(store.cost(where, "a"));
}

TEST(Tuned, FilesOfEarlierVersionsHaveNoLayouts) {
  TemporaryDirectory directory;
  std::string path = directory.file("tuned.db");
  Database(path, Database::Open::create).run("CREATE TABLE choice (version INTEGER)");
  EXPECT_FALSE(tuned_layouts(path, native_target(), 1));
}

/// What was found for a GPU says nothing about a CPU behind OpenCL. How many cores that has does
/// not change its code.
TEST(Tuned, CpusBehindOpenClHaveChoicesOfTheirOwn) {
  Target gpu = target_named("opencl"), cpu = target_named("opencl:vectors=64"), here = cpu;
  here.gpu.multiprocessors = 2;
  EXPECT_NE(tuned_target(gpu), tuned_target(cpu));
  EXPECT_EQ(tuned_target(here), tuned_target(cpu));
  EXPECT_NE(tuned_target(target_named("opencl:vectors=32")), tuned_target(cpu));
}

}  // namespace
}  // namespace lathe::test
