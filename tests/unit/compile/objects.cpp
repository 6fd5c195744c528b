// Object files that are kept: found again whole or not at all.
#include "compile/objects.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "support/temporary.h"

namespace lathe::test {
namespace {

/// Sets the folder of kept objects while it lives.
class KeptIn {
 public:
  explicit KeptIn(const std::string& folder) {
    const char* was = std::getenv("LATHE_CACHE");
    if (was != nullptr) before_ = was;
    ::setenv("LATHE_CACHE", folder.c_str(), 1);
  }
  KeptIn(const KeptIn&) = delete;
  KeptIn& operator=(const KeptIn&) = delete;
  ~KeptIn() {
    if (before_) {
      ::setenv("LATHE_CACHE", before_->c_str(), 1);
    } else {
      ::unsetenv("LATHE_CACHE");
    }
  }

 private:
  std::optional<std::string> before_;
};

TEST(Objects, FingerprintsTellTextsApart) {
  EXPECT_EQ(fingerprint("a"), fingerprint("a"));
  EXPECT_NE(fingerprint("a"), fingerprint("b"));
  EXPECT_NE(fingerprint(""), fingerprint(std::string(1, '\0')));
  EXPECT_EQ(fingerprint("a").size(), 32u);
}

TEST(Objects, AreFoundAgain) {
  TemporaryDirectory directory;
  KeptIn kept(directory.file("new/folder"));
  std::string object = std::string("ELF\0\1\2", 6);
  EXPECT_FALSE(kept_object("name"));
  keep_object("name", object);
  EXPECT_EQ(kept_object("name"), object);
  EXPECT_FALSE(kept_object("other"));
  keep_object("name", "another");
  EXPECT_EQ(kept_object("name"), "another");
}

TEST(Objects, FilesCutShortAreNone) {
  TemporaryDirectory directory;
  KeptIn kept(directory.path());
  keep_object("name", "content");
  std::string whole = content_of(directory.file("name.o"));
  ASSERT_FALSE(whole.empty());
  for (size_t n = 0; n < whole.size(); ++n) {
    directory.file("name.o", whole.substr(0, n));
    EXPECT_FALSE(kept_object("name")) << n << " bytes";
  }
}

TEST(Objects, ChangedFilesAreNone) {
  TemporaryDirectory directory;
  KeptIn kept(directory.path());
  keep_object("name", "content");
  std::string whole = content_of(directory.file("name.o"));
  for (size_t n = 0; n < whole.size(); ++n) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = whole;
      changed[n] = static_cast<char>(changed[n] ^ (1 << bit));
      directory.file("name.o", changed);
      EXPECT_FALSE(kept_object("name")) << "bit " << bit << " of byte " << n;
    }
  }
  directory.file("eman.o", whole);
  EXPECT_FALSE(kept_object("eman"));
  keep_object("name", "content");
  EXPECT_EQ(kept_object("name"), "content");
}

TEST(Objects, AFolderThatCannotBeWrittenIsNoFailure) {
  TemporaryDirectory directory;
  directory.file("file", "no folder");
  KeptIn kept(directory.file("file"));
  EXPECT_NO_THROW(keep_object("name", "content"));
  EXPECT_FALSE(kept_object("name"));
}

}  // namespace
}  // namespace lathe::test
