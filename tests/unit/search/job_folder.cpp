// Folders of jobs: what their results say, also where they were cut short, and what is refused.
#include "search/job_folder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/temporary.h"

namespace lathe::test {
namespace {

TEST(JobResults, AreReadLineByLine) {
  JobResults results = parse_results(
      "device 132 90 NVIDIA H200\n"
      "u1 milliseconds 0.001 0.002 off 1.5e-07 first 40.0\n"
      "u2 failed CUDA: running kernels: an illegal address (error 700)\n"
      "u3 milliseconds 0.5 0.75 off -1 first 3\n"
      "u4 milliseconds 0.5 0.75 off nan first 3\n");
  ASSERT_EQ(results.devices.size(), 1u);
  EXPECT_EQ(results.devices.front(), (JobDevice{"NVIDIA H200", 132, 90}));
  ASSERT_EQ(results.of_job.size(), 4u);
  EXPECT_DOUBLE_EQ(results.of_job["u1"].time, 2e-6);
  EXPECT_DOUBLE_EQ(results.of_job["u1"].off, 1.5e-7);
  EXPECT_EQ(results.of_job["u2"].failure, "CUDA: running kernels: an illegal address (error 700)");
  EXPECT_EQ(results.of_job["u3"].off, -1);
  EXPECT_TRUE(std::isnan(results.of_job["u4"].off));
}

TEST(JobResults, WhatIsNoneIsLeftOut) {
  for (const char* text :
       {"", "\n\n", "u1", "u1\n", "u1 milliseconds\n", "u1 milliseconds 1 x off 0 first 1\n",
        "u1 milliseconds 1 2 of 0\n", "u1 milliseconds 1 0 off 0 first 1\n",
        "u1 milliseconds 1 -2 off 0 first 1\n", "u1 took 3\n", "device\n", "device 1 2\n",
        "u1 milliseconds 1 2 off 0 first 1"}) {
    JobResults results = parse_results(text);
    EXPECT_TRUE(results.of_job.empty()) << text;
    EXPECT_TRUE(results.devices.empty()) << text;
  }
}

TEST(JobFolder, KeepsJobsAndReadsResults) {
  TemporaryDirectory directory;
  std::string path = directory.file("jobs");
  {
    JobFolder folder({.folder = path, .host = "x86-64-v3"});
    EXPECT_TRUE(folder.plan.is_null());
    folder.plan = {{"round", 1}};
    EXPECT_TRUE(folder.add("job u1 cuda 0\nend\n"));
    folder.write("round1");
  }
  EXPECT_EQ(content_of(path + "/round1.jobs"), "lathe jobs 2\njob u1 cuda 0\nend\n");
  EXPECT_TRUE(std::filesystem::exists(path + "/measure-jobs"));
  JobFolder again({.folder = path});
  EXPECT_EQ(again.plan["round"], 1);
  EXPECT_EQ(again.result("u1"), nullptr) << "it was not measured";
  EXPECT_FALSE(again.device());
  directory.file("jobs/results", "device 1 0 a\nu1 failed so\n");
  JobFolder measured({.folder = path});
  ASSERT_NE(measured.result("u1"), nullptr);
  EXPECT_EQ(measured.result("u1")->failure, "so");
  EXPECT_EQ(measured.device()->model, "a");
  measured.add("job u2 cuda 0\nend\n");
  measured.write("round2");
  EXPECT_FALSE(std::filesystem::exists(path + "/round1.jobs"));
  measured.clear();
}

TEST(JobFolder, HasNoMoreThanTheMostBytes) {
  TemporaryDirectory directory;
  JobFolder folder({.folder = directory.file("jobs"), .most_bytes = 100});
  EXPECT_TRUE(folder.add(std::string(50, 'x')));
  EXPECT_FALSE(folder.add(std::string(50, 'x')));
  EXPECT_TRUE(folder.add(std::string(20, 'x')));
}

TEST(JobFolder, RefusesWhatIsSomethingElse) {
  TemporaryDirectory directory;
  std::filesystem::create_directory(directory.file("mine"));
  directory.file("mine/thesis.txt", "x");
  expect_failure([&] { JobFolder({.folder = directory.file("mine")}); }, {"holds something else"});
  std::filesystem::create_directory(directory.file("damaged"));
  directory.file("damaged/plan.json", "{");
  expect_failure([&] { JobFolder({.folder = directory.file("damaged")}); }, {"is damaged"});
  std::filesystem::create_directory(directory.file("two"));
  directory.file("two/plan.json", "{}");
  directory.file("two/results", "device 1 0 a\ndevice 2 0 b\n");
  JobFolder two({.folder = directory.file("two")});
  expect_failure([&] { two.device(); }, {"several devices", "'a'", "'b'"});
}

}  // namespace
}  // namespace lathe::test
