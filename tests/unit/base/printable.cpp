// Text that a terminal shows and does not obey.
#include "base/printable.h"

#include <gtest/gtest.h>

#include "base/lexer.h"

namespace lathe::test {
namespace {

TEST(Printable, ControlCharactersAreWrittenAsJsonHasThem) {
  EXPECT_EQ(printable("a\x1b[2J\r\x07"), "a\\u001b[2J\\u000d\\u0007");
  EXPECT_EQ(printable(std::string("\0", 1)), "\\u0000");
  EXPECT_EQ(printable("\x7f"), "\\u007f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\u009b2J");
}

TEST(Printable, TheRestStays) {
  for (std::string text : {"layer1.0/conv \t\n",
                           "Gr\xc3\xb6\xc3\x9f"
                           "e",
                           "\xc2\xa0\xc2\xb5", "\xff\xc2", "\xc2\xc2\xc2z", "", "\xe2\x80\x9b"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, PartsAreAsTheWhole) {
  std::string text = "\xc2\x9b a\x1b \xc2\xb5 \xc2\xc2\x80.";
  std::string parts;
  Printable by_part;
  for (char c : text) parts += by_part.next({&c, 1});
  EXPECT_EQ(parts, printable(text));
}

TEST(Printable, SomeAreObeyedWhereTheyAreOurOwn) {
  EXPECT_EQ(Printable("\r").next("\r50 %\x1b"), "\r50 %\\u001b");
}

TEST(Printable, QuotedTextsAreReadAgain) {
  for (std::string text : {"a\x1b[2J", "\\\x1b", "\xc2\x9b", "\\u001b", "\n\t\r", "\xff", "u\\"}) {
    std::string written = lathe::quoted(text);
    EXPECT_EQ(printable(written), written);
    EXPECT_EQ(Lexer("test", written).peek().text, text);
  }
}

}  // namespace
}  // namespace lathe::test
