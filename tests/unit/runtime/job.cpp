// Files of jobs, as the program reads them that measures: sums over outputs, and damaged files.
#include "runtime/job.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/temporary.h"

namespace lathe::test {
namespace {

std::vector<float> sums_of(const std::vector<float>& elements) {
  std::vector<float> sums(elements.size() / LATHE_SUM_OF + 1);
  sums.resize(static_cast<size_t>(
      lathe_sums(LATHE_F32, elements.data(), static_cast<int64_t>(elements.size()), sums.data())));
  return sums;
}

double off(const std::vector<float>& is, const std::vector<float>& must) {
  std::vector<float> a = sums_of(is), b = sums_of(must);
  return lathe_compare_sums(a.data(), b.data(), static_cast<int64_t>(a.size()));
}

TEST(JobSums, TellWhetherAnElementIsWrong) {
  std::vector<float> must(200);
  for (size_t i = 0; i < must.size(); ++i) must[i] = std::sin(static_cast<float>(i));
  EXPECT_EQ(sums_of(must).size(), 4u);
  EXPECT_EQ(off(must, must), 0);
  std::vector<float> is = must;
  is[199] += 0.5F;
  EXPECT_GT(off(is, must), 0.01);
  is = must;
  std::swap(is[3], is[4]);
  EXPECT_GT(off(is, must), 0.001) << "the order counts";
  is = must;
  is[70] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(off(is, must) <= 1) << "no number is wrong";
  EXPECT_GT(off({1, 2}, {std::numeric_limits<float>::infinity(), 1}), -2);
  EXPECT_EQ(off({1}, {std::numeric_limits<float>::quiet_NaN()}), -1) << "nothing to compare";
}

TEST(JobFile, JobsAreFoundBetweenBytes) {
  TemporaryDirectory directory;
  std::string path =
      directory.file("a.jobs",
                     "lathe jobs 2\nexpect k 0 8\njob end\n\njob a cuda 5\nmodule 9\n"
                     "job b end\nend\njob c opencl 0\nend\njob d cuda 1\n");
  lathe_job_file file{};
  ASSERT_EQ(lathe_job_file_read(path.c_str(), &file), 0) << lathe_last_error();
  char name[16];
  size_t at = lathe_job_next(&file, 0, name, sizeof name);
  EXPECT_STREQ(name, "a");
  EXPECT_EQ(lathe_job_machine(&file, at), &lathe_cuda);
  EXPECT_FALSE(lathe_job_is_network(&file, at));
  at = lathe_job_next(&file, at + 1, name, sizeof name);
  EXPECT_STREQ(name, "c");
  EXPECT_TRUE(lathe_job_is_network(&file, at));
  EXPECT_EQ(lathe_job_next(&file, at + 1, name, sizeof name), file.bytes) << "d has no end";
  lathe_job_file_free(&file);
}

TEST(JobFile, WhatIsNoneIsRefused) {
  TemporaryDirectory directory;
  lathe_job_file file{};
  EXPECT_NE(lathe_job_file_read(directory.file("none").c_str(), &file), 0);
  EXPECT_NE(lathe_job_file_read(directory.file("x", "lathe jobs 1\n").c_str(), &file), 0);
  EXPECT_NE(lathe_job_file_read(directory.file("y", "").c_str(), &file), 0);
}

TEST(JobFile, DamagedJobsFailAndSayWhere) {
  const std::pair<const char*, const char*> cases[] = {
      {"memory 0 0 x\n", "memory"},
      {"numbers f32 0 4 1\n", "numbers"},
      {"memory 0 0 8\nnumbers f32 0 4 1\n", "numbers"},
      {"memory 0 0 8\npacked f32 0 2 1 1 9 0 1 1 1 0 0 1 1 1 0 0\n", "packed"},
      {"memory 0 0 8\nnumbers i8 0 4 1\n", "numbers"},
      {"memory 0 0 8\nbytes 4 8\n12345678\n", "bytes"},
      {"memory 0 0 0\nstep k 1 1 1 1 1 1 1 2 0 0\n", "step"},
      {"memory 0 0 0\nfirst 1\n", "first"},
      {"memory 0 0 0\ninput f99 1 1\n", "input"},
      {"what 1\n", "what"}};
  for (const auto& [lines, where] : cases) {
    TemporaryDirectory directory;
    std::string path =
        directory.file("a.jobs", std::string("lathe jobs 2\njob a opencl 1\n") + lines + "end\n");
    lathe_job_file file{};
    ASSERT_EQ(lathe_job_file_read(path.c_str(), &file), 0);
    lathe_job_device device{};
    lathe_job_times times{};
    EXPECT_NE(lathe_job_measure(&file, 13, &device, 0.01, &times), 0) << lines;
    EXPECT_NE(std::string(times.why).find(where), std::string::npos) << times.why;
    EXPECT_EQ(device.gpu, nullptr) << "no device is opened for it";
    lathe_job_file_free(&file);
  }
}

}  // namespace
}  // namespace lathe::test
