// NumPy's archives: members are whole .npy files, and the directory says where they lie.
#include "data/npz.h"

#include <gtest/gtest.h>

#include <cstring>

#include "data/npy.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

uint32_t number_at(const std::string& bytes, size_t at, size_t size) {
  uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, size);
  return value;
}

/// Reads an archive by its directory, as zip readers do.
NamedArrays read(const TemporaryDirectory& files, const std::string& bytes) {
  size_t end = bytes.size() - 22;
  EXPECT_EQ(bytes.substr(end, 4), "PK\x05\x06");
  size_t count = number_at(bytes, end + 10, 2), at = number_at(bytes, end + 16, 4);
  EXPECT_EQ(at + number_at(bytes, end + 12, 4), end);
  NamedArrays result;
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(bytes.substr(at, 4), "PK\x01\x02");
    size_t size = number_at(bytes, at + 24, 4), name_size = number_at(bytes, at + 28, 2);
    size_t member = number_at(bytes, at + 42, 4);
    std::string name = bytes.substr(at + 46, name_size);
    EXPECT_EQ(bytes.substr(member, 4), "PK\x03\x04");
    // What the two headers share.
    EXPECT_EQ(bytes.substr(member + 4, 26), bytes.substr(at + 6, 26));
    EXPECT_EQ(bytes.substr(member + 30, name_size), name);
    EXPECT_TRUE(name.ends_with(".npy"));
    std::string content = bytes.substr(member + 30 + name_size, size);
    result.emplace_back(name.substr(0, name.size() - 4), read_npy(files.file("m.npy", content)));
    at += 46 + name_size;
  }
  return result;
}

TEST(Npz, MembersAreWhole) {
  TemporaryDirectory files;
  NamedArrays arrays{{"conv1.weight", Array::of<float>({2, 3}, {1, 2, 3, 4, 5, 6})},
                     {"a/b \"c\"", Array::of<double>({}, {0.5})},
                     {"none", Array(Element::i64, {0, 4})}};
  write_npz(files.file("a.npz"), arrays);
  EXPECT_EQ(read(files, content_of(files.file("a.npz"))), arrays);
}

TEST(Npz, NoMember) {
  TemporaryDirectory files;
  write_npz(files.file("a.npz"), {});
  EXPECT_EQ(content_of(files.file("a.npz")).size(), 22u);
}

TEST(Npz, ChecksumsAreThoseOfZip) {
  TemporaryDirectory files;
  write_npz(files.file("a.npz"), {{"a", Array::of<float>({3}, {1, 2, 3})}});
  std::string bytes = content_of(files.file("a.npz"));
  // zlib.crc32() of what numpy.save() writes of the same array.
  EXPECT_EQ(number_at(bytes, 14, 4), 0xd140a677u);
}

TEST(Npz, TypesThatNumpyLacks) {
  TemporaryDirectory files;
  expect_failure(
      [&] {
        write_npz(files.file("a.npz"), {{"a", Array(Element::bf16, {1})}});
      },
      {files.file("a.npz"), "NumPy has no type for elements bf16"});
}

}  // namespace
}  // namespace lathe::test
