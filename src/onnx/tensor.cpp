// tensor.cpp: ONNX's tensors to arrays and back. Interface: proto.h, read_tensor() of onnx.h.
#include <bit>
#include <cstring>
#include <filesystem>

#include "base/number.h"
#include "data/file.h"
#include "onnx/onnx.h"
#include "onnx/proto.h"

namespace lathe {
namespace {

static_assert(std::endian::native == std::endian::little, "ONNX's raw data are little-endian");

using onnx::TensorProto;

constexpr std::pair<int, Element> types[] = {
    {TensorProto::FLOAT, Element::f32},    {TensorProto::DOUBLE, Element::f64},
    {TensorProto::FLOAT16, Element::f16},  {TensorProto::BFLOAT16, Element::bf16},
    {TensorProto::INT8, Element::i8},      {TensorProto::INT16, Element::i16},
    {TensorProto::INT32, Element::i32},    {TensorProto::INT64, Element::i64},
    {TensorProto::UINT8, Element::u8},     {TensorProto::UINT16, Element::u16},
    {TensorProto::UINT32, Element::u32},   {TensorProto::UINT64, Element::u64},
    {TensorProto::BOOL, Element::boolean}, {TensorProto::STRING, Element::string},
};

/// Names the types of the newest schemas that Lathe does not have.
std::string onnx_name(long type) {
  static constexpr const char* newer[] = {
      "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "UINT4",
      "INT4",         "FLOAT4E2M1",     "FLOAT8E8M0", "UINT2",          "INT2"};
  if (type == TensorProto::COMPLEX64) return "COMPLEX64";
  if (type == TensorProto::COMPLEX128) return "COMPLEX128";
  if (type >= 17 && type < 17 + static_cast<long>(std::size(newer))) return newer[type - 17];
  return fmt::format("number {}", type);
}

/// Finds the file that external data name. Only paths inside the model's folder are followed.
std::filesystem::path external_path(const std::string& location, const DataFolder& folder,
                                    const std::string& what) {
  std::filesystem::path relative(location);
  bool climbs = false;
  for (const auto& part : relative) climbs = climbs || part == "..";
  bool is_text = location.find('\0') == std::string::npos;
  if (location.empty() || !is_text || relative.is_absolute() || climbs) {
    fail("{}: its data are in '{}', which is not a path inside the model's folder", what,
         location.c_str());
  }
  std::error_code error;
  std::filesystem::path root = std::filesystem::weakly_canonical(folder.path, error);
  std::filesystem::path file = std::filesystem::weakly_canonical(root / relative, error);
  std::filesystem::path from_root = file.lexically_relative(root);
  if (error || from_root.empty() || *from_root.begin() == "..") {
    fail("{}: its data are in '{}', which leads out of the model's folder", what, location);
  }
  return file;
}

long parse_long(const std::string& text, const std::string& what) {
  auto value = number_in<long>(text);
  if (!value || *value < 0) fail("{}: '{}' is no size or offset of external data", what, text);
  return *value;
}

std::vector<std::byte> external_bytes(const TensorProto& tensor, const DataFolder& folder,
                                      const std::string& what, long needed) {
  std::string location;
  long offset = 0, length = -1;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = parse_long(entry.value(), what);
    if (entry.key() == "length") length = parse_long(entry.value(), what);
  }
  std::filesystem::path path = external_path(location, folder, what);
  if (length >= 0 && length != needed) {
    fail("{}: external data of {} bytes, but its shape needs {}", what, length, needed);
  }
  try {
    InputFile file(path.string());
    if (offset > file.size() || needed > file.size() - offset) {
      fail("'{}' has {} bytes, too few for {} from byte {} on", location, file.size(), needed,
           offset);
    }
    return file.read(offset, needed);
  } catch (const UserError& error) {
    fail("{}: {}", what, error.what());
  }
}

/// Checks the number of typed elements before anything of the claimed size is made.
void check_count(long count, long given, const std::string& what, const Shape& shape) {
  if (count == given) return;
  fail("{}: shape {} needs {} elements, but there are {}", what, print_shape(shape), count, given);
}

Array typed(const TensorProto& tensor, Element element, const Shape& shape,
            const std::string& what) {
  long count = count_of(shape);
  auto integers = [&](const auto& data) {
    check_count(count, data.size(), what, shape);
    std::vector<long> values(data.begin(), data.end());
    return Array::of_integers(element, shape, values);
  };
  auto reals = [&](const auto& data) {
    check_count(count, data.size(), what, shape);
    std::vector<double> values(data.begin(), data.end());
    return Array::of_reals(element, shape, values);
  };
  switch (element) {
    case Element::f32:
      return reals(tensor.float_data());
    case Element::f64:
      return reals(tensor.double_data());
    case Element::i64:
      return integers(tensor.int64_data());
    case Element::u32:
    case Element::u64:
      return integers(tensor.uint64_data());
    case Element::f16:
    case Element::bf16: {
      check_count(count, tensor.int32_data_size(), what, shape);
      std::vector<uint16_t> bits(tensor.int32_data().begin(), tensor.int32_data().end());
      return Array::of_bytes(element, shape, std::as_bytes(std::span(bits)));
    }
    case Element::string: {
      check_count(count, tensor.string_data_size(), what, shape);
      return Array::of_strings(shape, {tensor.string_data().begin(), tensor.string_data().end()});
    }
    default:
      return integers(tensor.int32_data());
  }
}

}  // namespace

std::optional<Element> find_element(long type) {
  for (const auto& [number, element] : types) {
    if (number == type) return element;
  }
  return std::nullopt;
}

Element element_of_onnx(long type, const std::string& what) {
  if (auto found = find_element(type)) return *found;
  throw Unsupported(
      fmt::format("{}: elements of type {} are not supported", what, onnx_name(type)));
}

int onnx_of_element(Element element) {
  for (const auto& [number, known] : types) {
    if (known == element) return number;
  }
  throw Unsupported(fmt::format("ONNX has no elements of type {}", name_of(element)));
}

Array array_of(const TensorProto& tensor, const DataFolder& folder, const std::string& what) {
  Element element = element_of_onnx(tensor.data_type(), what);
  Shape shape(tensor.dims().begin(), tensor.dims().end());
  if (tensor.has_segment()) throw Unsupported(what + ": data in segments are not supported");
  long needed = count_of(shape) * size_of(element);
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    if (element == Element::string) fail("{}: texts cannot be external data", what);
    return Array::of_bytes(element, shape, external_bytes(tensor, folder, what, needed));
  }
  if (!tensor.has_raw_data() || element == Element::string) {
    return typed(tensor, element, shape, what);
  }
  const std::string& raw = tensor.raw_data();
  if (static_cast<long>(raw.size()) != needed) {
    fail("{}: shape {} needs {} bytes, but there are {}", what, print_shape(shape), needed,
         raw.size());
  }
  return Array::of_bytes(element, shape, std::as_bytes(std::span(raw)));
}

TensorProto tensor_of(const Array& array, const std::string& name) {
  TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(onnx_of_element(array.element()));
  for (long extent : array.shape()) tensor.add_dims(extent);
  if (array.element() == Element::string) {
    for (const std::string& text : array.strings()) tensor.add_string_data(text);
  } else {
    auto bytes = array.bytes();
    tensor.set_raw_data(bytes.data(), bytes.size());
  }
  return tensor;
}

Array read_tensor(const std::string& path) {
  TensorProto tensor;
  if (!tensor.ParseFromString(read_file(path))) fail("'{}' holds no ONNX tensor", path);
  return array_of(tensor, {std::filesystem::path(path).parent_path().string()}, path);
}

}  // namespace lathe
