// Folders: written all or nothing, and nothing of the user's is lost.
#include "data/folder.h"

#include <gtest/gtest.h>

#include "data/file.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

namespace fs = std::filesystem;

/// Reads lines "NAME HASH" of the file "record".
FileHashes read_lines(const std::string& folder) {
  std::istringstream lines(read_file(folder + "/record"));
  FileHashes hashes;
  for (std::string name, hash; lines >> name >> hash;) hashes[name] = hash;
  if (hashes.empty()) fail("the record is empty");
  return hashes;
}

const FolderRecord record{"test folder", "record", read_lines};

void write_text(const std::string& path, const std::string& text) {
  write_file(path, {std::as_bytes(std::span(text))});
}

/// Writes a folder of files, all of which have the same text.
void write_folder(const std::string& path, const std::vector<std::string>& names,
                  const std::string& text) {
  FolderDraft draft(path, record);
  std::string lines;
  for (const std::string& name : names) {
    fs::create_directories(fs::path(draft.file(name)).parent_path());
    write_text(draft.file(name), text);
    lines += name + " " + hash_of_file(draft.file(name)) + "\n";
  }
  write_text(draft.file("record"), lines);
  draft.commit();
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    names.push_back(entry.path().lexically_relative(folder).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Folder, IsReplacedAndFilesOfOthersStay) {
  TemporaryDirectory place;
  std::string out = place.file("out");
  write_folder(out, {"a", "sub/b", "old"}, "first");
  place.file("out/mine", "mine");
  place.file("out/sub/mine", "mine");
  fs::create_directory(out + "/own");
  fs::create_symlink("../mine", out + "/own/link");
  write_folder(out, {"a", "sub/b"}, "second");
  EXPECT_EQ(content_of(out + "/a"), "second");
  EXPECT_EQ(content_of(out + "/sub/b"), "second");
  EXPECT_EQ(content_of(out + "/sub/mine"), "mine");
  EXPECT_EQ(content_of(out + "/own/link"), "mine");
  EXPECT_EQ(names_in(place.path()),
            (std::vector<std::string>{"out", "out/a", "out/mine", "out/own", "out/own/link",
                                      "out/record", "out/sub", "out/sub/b", "out/sub/mine"}));
}

TEST(Folder, WhatLatheDidNotWriteIsNotReplaced) {
  TemporaryDirectory place;
  fs::create_directory(place.file("out"));
  place.file("out/a", "mine");
  expect_failure([&] { write_folder(place.file("out"), {"a"}, "x"); },
                 {"'" + place.file("out") + "' is not replaced", "no test folder", "no record"});
  place.file("out/record", "");
  expect_failure([&] { check_replaceable(place.file("out"), record); }, {"the record is empty"});
  EXPECT_EQ(content_of(place.file("out/a")), "mine");
  place.file("file", "x");
  expect_failure([&] { check_replaceable(place.file("file"), record); }, {"it is a file"});
  expect_failure([&] { check_replaceable("", record); }, {"the name is empty"});
  expect_failure([&] { check_replaceable(place.file("no/out"), record); },
                 {"'" + place.file("no/out") + "'", "No such file"});
  EXPECT_EQ(names_in(place.path()).size(), 4U);
}

TEST(Folder, AChangedFileIsNotReplaced) {
  TemporaryDirectory place;
  std::string out = place.file("out");
  write_folder(out, {"a", "sub/b"}, "first");
  place.file("out/sub/b", "changed");
  expect_failure(
      [&] {
        write_folder(out, {"a", "sub/b"}, "second");
      },
      {"'sub/b' in it was changed after Lathe wrote it"});
  EXPECT_EQ(content_of(out + "/a"), "first");
  EXPECT_EQ(content_of(out + "/sub/b"), "changed");
  fs::remove(out + "/sub/b");
  write_folder(out, {"a", "sub/b"}, "second");
  EXPECT_EQ(content_of(out + "/sub/b"), "second");
}

TEST(Folder, AFileThatChangesMeanwhileIsNotReplaced) {
  TemporaryDirectory place;
  std::string out = place.file("out");
  write_folder(out, {"a"}, "first");
  FolderDraft draft(out, record);
  write_text(draft.file("a"), "second");
  place.file("out/a", "changed");
  expect_failure([&] { draft.commit(); }, {"'a' in it was changed"});
  EXPECT_EQ(content_of(out + "/a"), "changed");
}

TEST(Folder, AFileOfOthersIsNotOverwritten) {
  TemporaryDirectory place;
  std::string out = place.file("out");
  write_folder(out, {"a"}, "first");
  place.file("out/report", "mine");
  expect_failure(
      [&] {
        write_folder(out, {"a", "report"}, "second");
      },
      {"Lathe did not write 'report'"});
  EXPECT_EQ(content_of(out + "/report"), "mine");
  EXPECT_EQ(content_of(out + "/a"), "first");
}

TEST(Folder, WhatAKilledProcessLeftIsClearedAway) {
  TemporaryDirectory place;
  for (const char* left : {"out.lathe0.tmp/sub", "out.lathe1.tmp"}) {
    fs::create_directories(place.file(left));
    place.file(std::string(left) + "/half", "half");
  }
  write_folder(place.file("out"), {"a"}, "whole");
  EXPECT_EQ(names_in(place.path()), (std::vector<std::string>{"out", "out/a", "out/record"}));
}

TEST(Folder, DraftsOfOneFolderDoNotMeet) {
  TemporaryDirectory place;
  FolderDraft one(place.file("out"), record);
  write_text(one.file("a"), "one");
  {
    FolderDraft two(place.file("out"), record);
    EXPECT_NE(one.file("a"), two.file("a"));
  }
  EXPECT_EQ(content_of(one.file("a")), "one");
}

TEST(Folder, AFolderThatStoodAsideIsPutBack) {
  TemporaryDirectory place;
  write_folder(place.file("out"), {"a"}, "first");
  place.file("out/mine", "mine");
  fs::rename(place.file("out"), place.file("out.lathe.old"));
  write_folder(place.file("out"), {"a"}, "second");
  EXPECT_EQ(content_of(place.file("out/mine")), "mine");
  EXPECT_EQ(content_of(place.file("out/a")), "second");
  EXPECT_FALSE(fs::exists(place.file("out.lathe.old")));
}

TEST(Folder, TemporaryOnesNeedAPlace) {
  std::string before = temporary_place();
  ::setenv("TMPDIR", "/nowhere", 1);
  expect_failure([] { TemporaryFolder folder("x"); }, {"'/nowhere'", "TMPDIR"});
  ::setenv("TMPDIR", before.c_str(), 1);
}

}  // namespace
}  // namespace lathe::test
