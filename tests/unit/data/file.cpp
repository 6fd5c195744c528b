// Files: only regular ones are read, and what a killed process left is cleared away.
#include "data/file.h"

#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "support/temporary.h"

namespace lathe::test {
namespace {

void write_text(const std::string& path, const std::string& text) {
  write_file(path, {std::as_bytes(std::span(text))});
}

size_t entries_of(const std::string& folder) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

TEST(File, IsReadAsItWasWritten) {
  TemporaryDirectory folder;
  std::string text("a\0b", 3);
  write_text(folder.file("x"), text);
  EXPECT_EQ(read_file(folder.file("x")), text);
  EXPECT_EQ(read_file(folder.file("empty", "")), "");
  expect_failure([&] { read_file(folder.file("none")); }, {"none", "No such file"});
}

TEST(File, PipesAndDevicesAreRefusedAtOnce) {
  TemporaryDirectory folder;
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("pipe", folder.file("link"));
  for (const char* name : {"pipe", "link"}) {
    expect_failure([&] { read_file(folder.file(name)); }, {name, "it is a pipe, not a regular"});
    expect_failure([&] { write_text(folder.file(name), ""); }, {name, "it is a pipe"});
  }
  expect_failure([] { read_file("/dev/zero"); }, {"/dev/zero", "it is a device, not a regular"});
  expect_failure([&] { read_file(folder.path()); }, {"it is a directory, not a regular"});
}

TEST(File, AnEmptyNameIsNone) {
  expect_failure([] { write_text("", "x"); }, {"cannot write ''", "the name is empty"});
}

TEST(File, WhatAKilledProcessLeftIsClearedAway) {
  TemporaryDirectory folder;
  folder.file("x.lathe0.tmp", "half of a longer text");
  folder.file("x.lathe1.tmp", "half");
  write_text(folder.file("x"), "whole");
  EXPECT_EQ(read_file(folder.file("x")), "whole");
  EXPECT_EQ(entries_of(folder.path()), 1U);
}

TEST(File, WhatAnotherProcessWritesIsLeftAlone) {
  TemporaryDirectory folder;
  std::string other = folder.file("x.lathe0.tmp", "half");
  int descriptor = ::open(other.c_str(), O_RDONLY);
  ASSERT_EQ(::flock(descriptor, LOCK_EX), 0);
  write_text(folder.file("x"), "whole");
  EXPECT_EQ(read_file(folder.file("x")), "whole");
  EXPECT_EQ(read_file(other), "half");
  EXPECT_EQ(entries_of(folder.path()), 2U);
  ::close(descriptor);
}

TEST(File, SeveralWritersLeaveOneWholeFile) {
  TemporaryDirectory folder;
  std::vector<pid_t> children;
  for (char letter : {'a', 'b', 'c', 'd'}) {
    pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < 100; ++i) write_text(folder.file("x"), std::string(5000, letter));
      _exit(0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  std::string text = read_file(folder.file("x"));
  EXPECT_EQ(text, std::string(5000, text.at(0)));
  EXPECT_EQ(entries_of(folder.path()), 1U);
}

}  // namespace
}  // namespace lathe::test
