// npz.cpp: NumPy's archives: the parts of a zip file that stored, uncompressed members need.
// Format: PKWARE's APPNOTE.TXT, 4.3. Interface: npz.h.
#include "data/npz.h"

#include <array>
#include <cstdint>
#include <limits>
#include <set>

#include "data/file.h"
#include "data/npy.h"

namespace lathe {
namespace {

constexpr uint32_t first_of_1980 = 1U << 21 | 1U << 16;  // the earliest date: bytes do not vary
constexpr uint16_t version = 20;
constexpr uint16_t names_are_utf8 = 1U << 11;

std::array<uint32_t, 256> checksum_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value % 2 == 1 ? 0xedb88320U : 0U);
    table[byte] = value;
  }
  return table;
}

/// Returns the CRC-32 of two parts, one after the other.
uint32_t checksum(std::span<const std::byte> first, std::span<const std::byte> second) {
  static const std::array<uint32_t, 256> table = checksum_table();
  uint32_t value = ~0U;
  for (std::span<const std::byte> part : {first, second}) {
    for (std::byte byte : part) {
      value = value >> 8 ^ table[(value ^ std::to_integer<uint32_t>(byte)) & 0xffU];
    }
  }
  return ~value;
}

void put(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xffU);
}

/// A member of the archive: its place, and what both of its headers say.
struct Member {
  std::string name, start, common, header;
  size_t offset = 0, size = 0;
};

/// Writes what the header before a member and the one in the directory share.
std::string common_header(const Member& member, uint32_t checksum) {
  std::string out;
  put(out, version, 2);
  put(out, names_are_utf8, 2);
  put(out, 0, 2);  // stored, not compressed
  put(out, first_of_1980, 4);
  put(out, checksum, 4);
  put(out, member.size, 4);
  put(out, member.size, 4);
  put(out, member.name.size(), 2);
  put(out, 0, 2);  // no extra fields
  return out;
}

std::string directory(const std::vector<Member>& members, size_t offset) {
  std::string out;
  for (const Member& member : members) {
    out += "PK\x01\x02";
    put(out, version, 2);
    out += member.common;
    out.append(10, 0);  // no comment, first disk, no attributes
    put(out, member.offset, 4);
    out += member.name;
  }
  size_t size = out.size();
  out += "PK\x05\x06";
  put(out, 0, 4);
  put(out, members.size(), 2);
  put(out, members.size(), 2);
  put(out, size, 4);
  put(out, offset, 4);
  put(out, 0, 2);
  return out;
}

}  // namespace

void write_npz(const std::string& path, const NamedArrays& arrays) {
  constexpr size_t most = std::numeric_limits<uint32_t>::max();
  constexpr size_t most_members = std::numeric_limits<uint16_t>::max();
  if (arrays.size() >= most_members) {
    fail("cannot write '{}': it would have {} arrays, and fewer than {} are supported", path,
         arrays.size(), most_members);
  }
  std::vector<Member> members;
  std::set<std::string> names;
  size_t offset = 0;
  for (const auto& [name, array] : arrays) {
    check(names.insert(name).second, "arrays in one file have different names");
    Member member{name + ".npy", npy_start(path, array), {}, {}, offset, 0};
    if (member.name.size() > most_members) fail("cannot write '{}': a name is too long", path);
    member.size = member.start.size() + array.bytes().size();
    offset += 30 + member.name.size() + member.size;
    // The directory at the end has a place and a size for each member, of 32 bits.
    if (offset >= most - (1U << 28)) fail("cannot write '{}': it would have 4 GiB", path);
    uint32_t sum = checksum(std::as_bytes(std::span(member.start)), array.bytes());
    member.common = common_header(member, sum);
    member.header = "PK\x03\x04" + member.common + member.name + member.start;
    members.push_back(member);
  }
  std::string end = directory(members, offset);
  std::vector<std::span<const std::byte>> parts;
  for (size_t i = 0; i < members.size(); ++i) {
    parts.push_back(std::as_bytes(std::span(members[i].header)));
    parts.push_back(arrays[i].second.bytes());
  }
  parts.push_back(std::as_bytes(std::span(end)));
  write_file(path, parts);
}

}  // namespace lathe
