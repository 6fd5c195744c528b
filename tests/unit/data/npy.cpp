// NumPy files: what is written is read again, other layouts are converted, and every kind of damage
// has its own message.
#include "data/npy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

/// Returns a file of version 1: the header as it is given, and the elements.
std::string npy(const std::string& header, const std::string& data) {
  std::string length = {static_cast<char>(header.size() & 0xff),
                        static_cast<char>(header.size() >> 8)};
  return std::string("\x93NUMPY\x01\x00", 8) + length + header + data;
}

std::string header(const std::string& type, const std::string& shape,
                   const std::string& fortran = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

class Npy : public ::testing::Test {
 protected:
  Array read(const std::string& content) { return read_npy(files_.file("a.npy", content)); }

  /// Expects that the file is refused by its name and with the given words.
  void expect_refused(const std::string& content, std::string_view words) {
    expect_failure([&] { read(content); }, {files_.file("a.npy"), words});
  }

  TemporaryDirectory files_;
};

TEST_F(Npy, RoundTripOfEveryType) {
  for (Element element : all_elements()) {
    if (element == Element::string) continue;
    if (element == Element::bf16 || element == Element::tf32) continue;  // NumPy has neither
    SCOPED_TRACE(name_of(element));
    std::vector<double> values = {0, 1, 2, 3, 100, 127};
    if (is_float(element)) values[1] = -0.5;
    if (element == Element::i64) values[1] = -4e18;
    Array array = Array::of_reals(element, {2, 3}, values);
    write_npy(files_.file("a.npy"), array);
    EXPECT_EQ(read_npy(files_.file("a.npy")), array);
  }
}

TEST_F(Npy, RoundTripOfShapes) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{5}, Shape{0}, Shape{3, 0, 2}, Shape{2, 1, 3},
                             Shape{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                   1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2}}) {
    SCOPED_TRACE(print_shape(shape));
    Array array(Element::i32, shape);
    write_npy(files_.file("a.npy"), array);
    EXPECT_EQ(read_npy(files_.file("a.npy")), array);
  }
}

TEST_F(Npy, WritesWhatNumPyWrites) {
  write_npy(files_.file("a.npy"), Array::of<float>({2}, {1, 2}));
  std::string content = content_of(files_.file("a.npy"));
  ASSERT_EQ(content.size(), 128 + 8);  // the elements begin at a multiple of 64
  EXPECT_EQ(content.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_TRUE(content.substr(10).starts_with(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }  "));
  EXPECT_EQ(content[127], '\n');
  EXPECT_EQ(content.substr(128), std::string("\x00\x00\x80\x3f\x00\x00\x00\x40", 8));
}

TEST_F(Npy, ReadsAllVersions) {
  std::string text = header("|u1", "(2,)");
  std::string size = {static_cast<char>(text.size()), 0, 0, 0};
  for (char version : {'\x02', '\x03'}) {
    std::string start = std::string("\x93NUMPY") + version + '\0';
    EXPECT_EQ(read(start + size + text + "\x05\x06"), Array::of<uint8_t>({2}, {5, 6}));
  }
}

TEST_F(Npy, FortranOrderBecomesRowMajor) {
  std::string data = {0, 3, 1, 4, 2, 5};
  EXPECT_EQ(read(npy(header("|i1", "(2, 3)", "True"), data)),
            Array::of<int8_t>({2, 3}, {0, 1, 2, 3, 4, 5}));
  data = {0, 4, 2, 6, 1, 5, 3, 7};
  EXPECT_EQ(read(npy(header("|i1", "(2, 2, 2)", "True"), data)),
            Array::of<int8_t>({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(read(npy(header("|i1", "(0, 2)", "True"), "")), Array(Element::i8, {0, 2}));
}

TEST_F(Npy, BigEndianNumbersAreSwapped) {
  EXPECT_EQ(read(npy(header(">i2", "(2,)"), std::string("\x01\x02\xff\xfe", 4))).integers(),
            (std::vector<long>{258, -2}));
  EXPECT_EQ(read(npy(header(">f4", "()"), std::string("\x3f\x80\x00\x00", 4))),
            Array::of<float>({}, {1}));
}

TEST_F(Npy, AcceptsOtherSpellings) {
  Array expected = Array::of<int32_t>({1, 1}, {7});
  std::string data("\x07\x00\x00\x00", 4);
  for (const char* text : {"{\"shape\":(1,1),\"fortran_order\":False,\"descr\":\"=i4\"}",
                           "  { 'shape' : ( 1L , 1L, ) , 'descr':'<i4','fortran_order':True } \n\n",
                           "{'descr': 'i4', 'fortran_order': False, 'shape': (1, 1)}"}) {
    EXPECT_EQ(read(npy(text, data)), expected) << text;
  }
}

TEST_F(Npy, TruthValuesAreZeroOrOne) {
  EXPECT_EQ(read(npy(header("|b1", "(3,)"), std::string("\x00\x01\x07", 3))),
            Array::of<bool>({3}, {false, true, true}));
}

TEST_F(Npy, RefusesOtherFiles) {
  expect_refused("", "is not a NumPy array");
  expect_refused("hello, world", "is not a NumPy array");
  expect_refused("\x93NUMP", "is not a NumPy array");
  expect_refused("PK\x03\x04 and so on", "is an archive (.npz?)");
  expect_refused(std::string("\x93NUMPY\x04\x00\x00\x00", 10), "has version 4.0");
  expect_refused(std::string("\x93NUMPY\x01\x02\x00\x00", 10), "has version 1.2");
}

TEST_F(Npy, RefusesTruncatedHeaders) {
  std::string whole = npy(header("<f4", "(1,)"), "");
  for (size_t size : {6, 7, 8, 9}) {
    expect_refused(whole.substr(0, size), "is truncated: it ends after");
  }
  for (size_t size : {size_t{10}, size_t{20}, whole.size() - 1}) {
    expect_refused(whole.substr(0, size), "is truncated: its header ends at byte");
  }
  expect_refused(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12), "is truncated: its header");
}

TEST_F(Npy, RefusesMalformedHeaders) {
  for (const char* text : {"", "{", "}", "{'descr'", "{'descr': }", "{'descr': '<f4",
                           "{'shape': (1, }", "{'shape': (,)}", "{'shape': (1 2)}",
                           "{'fortran_order': Maybe}", "{'shape': 3}", "{3: 4}", "[1, 2]"}) {
    SCOPED_TRACE(text);
    expect_refused(npy(text, ""), "has a malformed header");
  }
  expect_refused(npy("{'descr': '<f4', 'shape': (1,)}", "1234"), "it lacks 'fortran_order'");
  expect_refused(npy("{'descr': '<f4', 'descr': '<f4'}", "1234"), "it has 'descr' twice");
  expect_refused(npy("{'colour': 'red'}", "1234"), "unknown key 'colour'");
  expect_refused(npy(header("<f4", "(1,)") + "x", "1234"), "the end of the header is expected");
}

TEST_F(Npy, RefusesOtherElements) {
  for (const char* type : {"<c8", "|O", "<U3", "|S5", "<M8[ns]", "<f16", "<f3", "", "<"}) {
    SCOPED_TRACE(type);
    expect_refused(npy(header(type, "(1,)"), "12345678"), "which is not supported; supported are");
  }
  expect_refused(npy("{'descr': [('x', '<f4'), ('y', '<f4')], 'shape': (1,)}", ""),
                 "records of several fields");
}

TEST_F(Npy, RefusesImpossibleShapes) {
  expect_refused(npy(header("<f4", "(-1,)"), ""), "the dimension -1 in its shape");
  expect_refused(npy(header("<f4", "(99999999999999999999999,)"), ""), "which is too large");
  expect_refused(npy(header("<f8", "(4294967296, 4294967296)"), ""),
                 "has the shape 4294967296x4294967296, which is too large");
  std::string ones = "(";
  for (int i = 0; i < 33; ++i) ones += "1, ";
  expect_refused(npy(header("|u1", ones + ")"), "x"), "more than 32 dimensions");
}

TEST_F(Npy, RefusesOtherAmountsOfData) {
  expect_refused(npy(header("<f4", "(2, 3)"), std::string(20, 'x')),
                 "is truncated: 2x3 elements f32 take 24 bytes after the header, but there are 20");
  expect_refused(npy(header("<f4", "(70368744177664,)"), "1234"), "is truncated");
  expect_refused(npy(header("<f4", "(1,)"), "12345"), "goes on after its last element");
  expect_refused(npy(header("<f4", "(0,)"), "1"), "goes on after its last element");
}

TEST_F(Npy, SurvivesDamage) {
  std::string whole = npy(header("<f4", "(2, 3)"), std::string(24, 'x'));
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string content = whole;
    for (int i = 0; i < 2; ++i) {
      content[6 + random.below(content.size() - 6)] = static_cast<char>(random.below(128));
    }
    std::string message = message_of([&] { read(content); });  // an array, or a clear refusal
    EXPECT_TRUE(message.empty() || message.find("a.npy") != std::string::npos) << message;
  }
}

TEST_F(Npy, RefusesWhatIsNoFile) {
  expect_failure([&] { read_npy(files_.file("none.npy")); }, {"none.npy", "No such file"});
  expect_failure([&] { read_npy(files_.path()); }, {files_.path(), "is a directory"});
  expect_failure([&] { read_npy("/dev/null"); }, {"/dev/null", "not a regular file"});
}

TEST_F(Npy, AFailureToWriteLeavesNothing) {
  Array array = Array::of<float>({1}, {1});
  expect_failure([&] { write_npy(files_.file("none/a.npy"), array); },
                 {"cannot write", "none/a.npy", "No such file"});
  expect_failure([&] { write_npy(files_.path(), array); }, {"cannot write", "is a directory"});
  expect_failure([&] { write_npy(files_.file("a.npy"), array.with_element(Element::bf16)); },
                 {"a.npy", "no type for elements bf16"});
  expect_failure([&] { write_npy(files_.file("a.npy"), Array::of_strings({1}, {"x"})); },
                 {"a.npy", "no type for elements string"});
  EXPECT_TRUE(std::filesystem::is_empty(files_.path()));
}

TEST_F(Npy, WritingReplacesAFile) {
  write_npy(files_.file("a.npy"), Array::of<float>({3}, {1, 2, 3}));
  write_npy(files_.file("a.npy"), Array::of<float>({1}, {4}));
  EXPECT_EQ(read_npy(files_.file("a.npy")), Array::of<float>({1}, {4}));
  auto entries = std::filesystem::directory_iterator(files_.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

}  // namespace
}  // namespace lathe::test
