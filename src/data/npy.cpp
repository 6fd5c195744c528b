// npy.cpp: NumPy's file format: a magic string, a version, the length of the header, the header
// (npy_header.h), and the elements. Format: numpy.lib.format. Interface: npy.h.
#include "data/npy.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "data/file.h"
#include "data/npy_header.h"

namespace lathe {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as they are");

constexpr std::string_view magic = "\x93NUMPY";
constexpr long largest_header = 1L << 20;  // a header of the largest rank has less than 2 KiB
constexpr std::string_view element_types =
    "bool (b1), i1, i2, i4, i8, u1, u2, u4, u8, f2, f4 and f8";

struct TypeCode {
  Element element;
  std::string_view code;
};

constexpr std::array<TypeCode, 12> type_codes = {{{Element::boolean, "b1"},
                                                  {Element::i8, "i1"},
                                                  {Element::i16, "i2"},
                                                  {Element::i32, "i4"},
                                                  {Element::i64, "i8"},
                                                  {Element::u8, "u1"},
                                                  {Element::u16, "u2"},
                                                  {Element::u32, "u4"},
                                                  {Element::u64, "u8"},
                                                  {Element::f16, "f2"},
                                                  {Element::f32, "f4"},
                                                  {Element::f64, "f8"}}};

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Returns the version of the format. Fails where the file is none of NumPy's.
int version_of(const InputFile& file) {
  std::vector<std::byte> start =
      file.read(0, std::min(file.size(), static_cast<long>(magic.size()) + 2));
  if (text_of(start).starts_with("PK\x03\x04")) {
    fail("'{}' is an archive (.npz?), not one NumPy array: save each array with numpy.save",
         file.path());
  }
  if (!text_of(start).starts_with(magic)) {
    fail("'{}' is not a NumPy array: it does not begin as numpy.save begins a file", file.path());
  }
  if (start.size() < magic.size() + 2) {
    fail("'{}' is truncated: it ends after {} bytes, inside its header", file.path(), file.size());
  }
  int major = std::to_integer<int>(start[6]), minor = std::to_integer<int>(start[7]);
  if (major < 1 || major > 3 || minor != 0) {
    fail("'{}' has version {}.{} of NumPy's format; 1.0, 2.0 and 3.0 are supported", file.path(),
         major, minor);
  }
  return major;
}

/// Reads the header; "data" becomes the offset of the elements.
NpyHeader read_header(const InputFile& file, long& data) {
  long digits = version_of(file) == 1 ? 2 : 4, start = static_cast<long>(magic.size()) + 2;
  if (file.size() < start + digits) {
    fail("'{}' is truncated: it ends after {} bytes, inside its header", file.path(), file.size());
  }
  std::vector<std::byte> bytes = file.read(start, digits);
  uint32_t length = 0;
  std::memcpy(&length, bytes.data(), bytes.size());
  data = start + digits + length;
  if (data > file.size()) {
    fail("'{}' is truncated: its header ends at byte {}, but the file has {}", file.path(), data,
         file.size());
  }
  if (length > largest_header) {
    fail("'{}' has a header of {} bytes; the most is {}", file.path(), length, largest_header);
  }
  std::vector<std::byte> text = file.read(start + digits, length);
  return parse_npy_header(text_of(text), file.path());
}

Element element_of(const NpyHeader& header, const std::string& path) {
  std::string_view code = header.type;
  if (!code.empty() && std::string_view("|<>=").find(code.front()) != std::string_view::npos) {
    code.remove_prefix(1);
  }
  for (const TypeCode& type : type_codes) {
    if (type.code == code || (code == "?" && type.code == "b1")) return type.element;
  }
  fail("'{}' has elements of the type '{}', which is not supported; supported are {}", path,
       header.type, element_types);
}

/// Checks the claimed size against the file's before anything is allocated by it.
void check_size(const InputFile& file, const NpyHeader& header, Element element, long data) {
  long count = 1;
  for (long extent : header.shape) {
    if (extent != 0 && count > largest_npy_extent / extent) {
      fail("'{}' has the shape {}, which is too large", file.path(), print_shape(header.shape));
    }
    count *= extent;
  }
  long expected = count * size_of(element), there = file.size() - data;
  if (there < expected) {
    fail("'{}' is truncated: {} elements {} take {} bytes after the header, but there are {}",
         file.path(), print_shape(header.shape), name_of(element), expected, there);
  }
  if (there > expected) {
    fail(
        "'{}' goes on after its last element: {} elements {} take {} bytes after the header, but "
        "there are {}",
        file.path(), print_shape(header.shape), name_of(element), expected, there);
  }
}

void swap_bytes(std::vector<std::byte>& bytes, long size) {
  for (auto at = bytes.begin(); at != bytes.end(); at += size) std::reverse(at, at + size);
}

/// Lays out row-major what is laid out with the first dimension fastest.
std::vector<std::byte> row_major(const std::vector<std::byte>& bytes, const Shape& shape,
                                 size_t size) {
  std::vector<size_t> strides(shape.size(), size);
  for (size_t d = 1; d < shape.size(); ++d) {
    strides[d] = strides[d - 1] * static_cast<size_t>(shape[d - 1]);
  }
  std::vector<std::byte> result(bytes.size());
  std::vector<long> index(shape.size());
  size_t from = 0;
  for (size_t to = 0; to < result.size(); to += size) {
    std::memcpy(result.data() + to, bytes.data() + from, size);
    for (size_t d = shape.size(); d-- > 0;) {
      from += strides[d];
      if (++index[d] < shape[d]) break;
      from -= strides[d] * static_cast<size_t>(shape[d]);
      index[d] = 0;
    }
  }
  return result;
}

std::string print_header(const Array& array, std::string_view code) {
  std::string dimensions = fmt::format("{}", fmt::join(array.shape(), ", "));
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                 size_of(array.element()) == 1 ? '|' : '<', code, dimensions,
                                 array.rank() == 1 ? "," : "");
  // The elements begin at a multiple of 64, after magic, version, length and a line's end.
  size_t before = magic.size() + 4;
  text.append((64 - (before + text.size() + 1) % 64) % 64, ' ');
  text += '\n';
  auto length = static_cast<uint16_t>(text.size());
  std::string start(magic);
  start += {'\x01', '\x00', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  return start + text;
}

}  // namespace

Array read_npy(const std::string& path) {
  InputFile file(path);
  long data = 0;
  NpyHeader header = read_header(file, data);
  Element element = element_of(header, path);
  check_size(file, header, element, data);
  std::vector<std::byte> bytes = file.read(data, file.size() - data);
  if (header.type.front() == '>') swap_bytes(bytes, size_of(element));
  if (element == Element::boolean) {
    for (std::byte& value : bytes) value = std::byte(value != std::byte(0));
  }
  if (header.fortran_order && header.shape.size() > 1) {
    bytes = row_major(bytes, header.shape, static_cast<size_t>(size_of(element)));
  }
  return Array::of_bytes(element, header.shape, bytes);
}

std::string npy_start(const std::string& path, const Array& array) {
  auto type = std::find_if(type_codes.begin(), type_codes.end(), [&](const TypeCode& candidate) {
    return candidate.element == array.element();
  });
  if (type == type_codes.end()) {
    fail("cannot write '{}': NumPy has no type for elements {}; convert them first", path,
         name_of(array.element()));
  }
  if (array.rank() > largest_npy_rank) {
    fail("cannot write '{}': NumPy reads no arrays of more than {} dimensions", path,
         largest_npy_rank);
  }
  return print_header(array, type->code);
}

void write_npy(const std::string& path, const Array& array) {
  std::string start = npy_start(path, array);
  write_file(path, {std::as_bytes(std::span(start)), array.bytes()});
}

}  // namespace lathe
