// Tensors of ONNX files: every element type, sizes that do not fit, data in other files.
#include <gtest/gtest.h>

#include <filesystem>

#include "support/onnx_model.h"

namespace lathe::test {
namespace {

using onnx::TensorProto;

constexpr const char* what = "w";

std::string tensor_error(const TensorProto& tensor, const std::string& folder = ".") {
  return message_of([&] { array_of(tensor, {folder}, what); });
}

TensorProto tensor(int type, const Shape& shape) {
  TensorProto t;
  t.set_data_type(type);
  for (long extent : shape) t.add_dims(extent);
  return t;
}

TEST(OnnxTensor, EveryElementTypeRaw) {
  for (Element element : all_elements()) {
    if (element == Element::tf32) continue;
    SCOPED_TRACE(name_of(element));
    Array data = element == Element::string
                     ? Array::of_strings({2, 1}, {"a", std::string("b\0c", 3)})
                     : Array::of_integers(element, {2, 1}, std::vector<long>{1, 0});
    TensorProto written = tensor_of(data, "t");
    EXPECT_EQ(written.name(), "t");
    EXPECT_EQ(element_of_onnx(onnx_of_element(element), what), element);
    EXPECT_TRUE(array_of(written, {"."}, what) == data);
    TensorProto empty = tensor_of(Array(element, {0, 3}), "t");
    EXPECT_EQ(array_of(empty, {"."}, what).shape(), (Shape{0, 3}));
  }
}

TEST(OnnxTensor, ATypeThatOnnxHasNotIsRefused) {
  expect_failure([] { onnx_of_element(Element::tf32); }, {"ONNX has no elements of type tf32"});
}

TEST(OnnxTensor, EveryElementTypeTyped) {
  for (auto [type, least] : std::vector<std::pair<int, long>>{{TensorProto::INT8, -128},
                                                              {TensorProto::INT16, -32768},
                                                              {TensorProto::INT32, -2147483648L},
                                                              {TensorProto::UINT8, 255},
                                                              {TensorProto::UINT16, 65535},
                                                              {TensorProto::BOOL, 1}}) {
    TensorProto t = tensor(type, {2});
    t.add_int32_data(static_cast<int>(least));
    t.add_int32_data(0);
    EXPECT_EQ(array_of(t, {"."}, what).integers(), (Shape{least, 0})) << type;
  }
  TensorProto i64 = tensor(TensorProto::INT64, {1});
  i64.add_int64_data(std::numeric_limits<long>::lowest());
  EXPECT_EQ(array_of(i64, {"."}, what).integer(), std::numeric_limits<long>::lowest());
  TensorProto u32 = tensor(TensorProto::UINT32, {1});
  u32.add_uint64_data(4294967295UL);
  EXPECT_EQ(array_of(u32, {"."}, what).integer(), 4294967295L);
  TensorProto u64 = tensor(TensorProto::UINT64, {1});
  u64.add_uint64_data(~0UL);
  EXPECT_EQ(array_of(u64, {"."}, what).integer(), -1);
  TensorProto f32 = tensor(TensorProto::FLOAT, {2});
  f32.add_float_data(0.5F);
  f32.add_float_data(-2);
  EXPECT_EQ(array_of(f32, {"."}, what).reals(), (std::vector<double>{0.5, -2}));
  TensorProto f64 = tensor(TensorProto::DOUBLE, {1});
  f64.add_double_data(0.1);
  EXPECT_EQ(array_of(f64, {"."}, what).real(), 0.1);
  TensorProto f16 = tensor(TensorProto::FLOAT16, {1});
  f16.add_int32_data(0x3c00);
  EXPECT_EQ(array_of(f16, {"."}, what).real(), 1);
  TensorProto bf16 = tensor(TensorProto::BFLOAT16, {1});
  bf16.add_int32_data(0x3f80);
  EXPECT_EQ(array_of(bf16, {"."}, what).real(), 1);
  TensorProto text = tensor(TensorProto::STRING, {});
  text.add_string_data("a");
  EXPECT_EQ(array_of(text, {"."}, what).strings(), std::vector<std::string>{"a"});
}

TEST(OnnxTensor, DataFitTheShape) {
  TensorProto raw = tensor(TensorProto::FLOAT, {2, 2});
  raw.set_raw_data(std::string(15, '\0'));
  EXPECT_EQ(tensor_error(raw), "w: shape 2x2 needs 16 bytes, but there are 15");
  raw.set_raw_data(std::string(17, '\0'));
  EXPECT_EQ(tensor_error(raw), "w: shape 2x2 needs 16 bytes, but there are 17");
  for (int type : {TensorProto::FLOAT, TensorProto::DOUBLE, TensorProto::INT64, TensorProto::UINT64,
                   TensorProto::INT8, TensorProto::FLOAT16, TensorProto::STRING}) {
    EXPECT_EQ(tensor_error(tensor(type, {2, 2})), "w: shape 2x2 needs 4 elements, but there are 0");
  }
  TensorProto longer = tensor(TensorProto::INT64, {1});
  longer.add_int64_data(1);
  longer.add_int64_data(2);
  EXPECT_EQ(tensor_error(longer), "w: shape 1 needs 1 elements, but there are 2");
  TensorProto scalar = tensor(TensorProto::FLOAT, {});
  EXPECT_EQ(tensor_error(scalar), "w: shape scalar needs 1 elements, but there are 0");
}

TEST(OnnxTensor, ImpossibleShapes) {
  auto error = [](const Shape& shape) { return tensor_error(tensor(TensorProto::FLOAT, shape)); };
  EXPECT_EQ(error({-1}), "a tensor cannot have the shape -1");
  EXPECT_EQ(error({1L << 62}), "a tensor of the shape 4611686018427387904 is too large");
  EXPECT_EQ(error({1L << 32, 1L << 32}),
            "a tensor of the shape 4294967296x4294967296 is too large");
  EXPECT_EQ(error({1L << 40}),
            "w: shape 1099511627776 needs 1099511627776 elements, but there are 0");
  EXPECT_EQ(error({std::numeric_limits<long>::lowest()}),
            "a tensor cannot have the shape -9223372036854775808");
}

TEST(OnnxTensor, UnknownTypes) {
  EXPECT_EQ(tensor_error(tensor(0, {})), "w: elements of type number 0 are not supported");
  EXPECT_EQ(tensor_error(tensor(14, {})), "w: elements of type COMPLEX64 are not supported");
  EXPECT_EQ(tensor_error(tensor(15, {})), "w: elements of type COMPLEX128 are not supported");
  EXPECT_EQ(tensor_error(tensor(17, {})), "w: elements of type FLOAT8E4M3FN are not supported");
  EXPECT_EQ(tensor_error(tensor(20, {})), "w: elements of type FLOAT8E5M2FNUZ are not supported");
  EXPECT_EQ(tensor_error(tensor(22, {})), "w: elements of type INT4 are not supported");
  EXPECT_EQ(tensor_error(tensor(26, {})), "w: elements of type INT2 are not supported");
  EXPECT_EQ(tensor_error(tensor(-5, {})), "w: elements of type number -5 are not supported");
  EXPECT_EQ(tensor_error(tensor(1000, {})), "w: elements of type number 1000 are not supported");
  EXPECT_THROW(array_of(tensor(17, {}), {"."}, what), Unsupported);
}

TEST(OnnxTensor, Segments) {
  TensorProto t = tensor(TensorProto::FLOAT, {1});
  t.mutable_segment()->set_begin(0);
  EXPECT_EQ(tensor_error(t), "w: data in segments are not supported");
}

/// A tensor f32[2] whose data are in another file.
TensorProto external(const std::vector<std::pair<std::string, std::string>>& entries) {
  TensorProto t = tensor(TensorProto::FLOAT, {2});
  t.set_data_location(TensorProto::EXTERNAL);
  for (const auto& [key, value] : entries) {
    auto* entry = t.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  return t;
}

TEST(OnnxExternal, DataBesideTheModel) {
  TemporaryDirectory folder;
  std::vector<float> numbers{9, 1, 2, 3};
  std::string bytes(reinterpret_cast<const char*>(numbers.data()), 16);
  folder.file("w.bin", bytes);
  std::filesystem::create_directory(folder.file("sub"));
  folder.file("sub/w.bin", bytes);
  auto read = [&](const std::vector<std::pair<std::string, std::string>>& entries) {
    return array_of(external(entries), {folder.path()}, what).reals();
  };
  using List = std::vector<double>;
  EXPECT_EQ(read({{"location", "w.bin"}}), (List{9, 1}));
  EXPECT_EQ(read({{"location", "w.bin"}, {"offset", "4"}}), (List{1, 2}));
  EXPECT_EQ(read({{"location", "w.bin"}, {"offset", "8"}, {"length", "8"}}), (List{2, 3}));
  EXPECT_EQ(read({{"location", "./sub/w.bin"}, {"checksum", "?"}}), (List{9, 1}));
}

TEST(OnnxExternal, SizesAreChecked) {
  TemporaryDirectory folder;
  folder.file("w.bin", std::string(16, '\0'));
  auto error = [&](const std::string& offset, const std::string& length) {
    return tensor_error(external({{"location", "w.bin"}, {"offset", offset}, {"length", length}}),
                        folder.path());
  };
  EXPECT_EQ(error("0", "8"), "");
  EXPECT_EQ(error("0", "7"), "w: external data of 7 bytes, but its shape needs 8");
  EXPECT_EQ(error("0", "16"), "w: external data of 16 bytes, but its shape needs 8");
  EXPECT_EQ(error("9", "8"), "w: 'w.bin' has 16 bytes, too few for 8 from byte 9 on");
  EXPECT_EQ(error("17", "8"), "w: 'w.bin' has 16 bytes, too few for 8 from byte 17 on");
  EXPECT_EQ(error("9223372036854775807", "8"),
            "w: 'w.bin' has 16 bytes, too few for 8 from byte 9223372036854775807 on");
  EXPECT_EQ(error("-1", "8"), "w: '-1' is no size or offset of external data");
  EXPECT_EQ(error("", "8"), "w: '' is no size or offset of external data");
  EXPECT_EQ(error("8x", "8"), "w: '8x' is no size or offset of external data");
  EXPECT_EQ(error("99999999999999999999", "8"),
            "w: '99999999999999999999' is no size or offset of external data");
}

TEST(OnnxExternal, OnlyFilesOfTheModelsFolder) {
  TemporaryDirectory outside, folder;
  std::string secret = outside.file("secret", std::string(8, '\0'));
  folder.file("w.bin", std::string(8, '\0'));
  std::filesystem::create_symlink(secret, folder.file("link"));
  std::filesystem::create_directory_symlink(outside.path(), folder.file("sub"));
  std::filesystem::create_symlink("w.bin", folder.file("inside"));
  auto error = [&](const std::string& location) {
    return tensor_error(external({{"location", location}}), folder.path());
  };
  EXPECT_EQ(error("inside"), "");
  EXPECT_EQ(error("missing.bin"),
            "w: cannot read '" + folder.file("missing.bin") + "': No such file or directory");
  EXPECT_EQ(error(secret),
            "w: its data are in '" + secret + "', which is not a path inside the model's folder");
  EXPECT_EQ(error("../secret"),
            "w: its data are in '../secret', which is not a path inside the model's folder");
  EXPECT_EQ(error("a/../../secret"),
            "w: its data are in 'a/../../secret', which is not a path inside the model's folder");
  EXPECT_EQ(error(""), "w: its data are in '', which is not a path inside the model's folder");
  EXPECT_EQ(error("link"), "w: its data are in 'link', which leads out of the model's folder");
  EXPECT_EQ(error("sub/secret"),
            "w: its data are in 'sub/secret', which leads out of the model's folder");
  EXPECT_EQ(error(std::string("w.bin\0x", 7)),
            "w: its data are in 'w.bin', which is not a path inside the model's folder");
  EXPECT_EQ(error("."),
            "w: cannot read '" + folder.path() + "': it is a directory, not a regular file");
  EXPECT_EQ(tensor_error(external({}), folder.path()),
            "w: its data are in '', which is not a path inside the model's folder");
}

TEST(OnnxExternal, TextsAndHugeTensors) {
  TemporaryDirectory folder;
  folder.file("w.bin", std::string(8, '\0'));
  TensorProto text = external({{"location", "w.bin"}});
  text.set_data_type(TensorProto::STRING);
  EXPECT_EQ(tensor_error(text, folder.path()), "w: texts cannot be external data");
  TensorProto huge = external({{"location", "w.bin"}});
  huge.clear_dims();
  huge.add_dims(1L << 45);
  EXPECT_EQ(tensor_error(huge, folder.path()),
            "w: 'w.bin' has 8 bytes, too few for 140737488355328 from byte 0 on");
}

TEST(OnnxExternal, ThroughAModel) {
  TemporaryDirectory folder;
  OnnxModel m;
  m.input("x", {2});
  onnx::TensorProto& w = m.reals("w", {1, 2});
  w.clear_raw_data();
  w.set_data_location(TensorProto::EXTERNAL);
  auto* entry = w.add_external_data();
  entry->set_key("location");
  entry->set_value("w.bin");
  m.node("Add", {"x", "w"}, {"y"});
  m.output("y");
  std::string model = folder.file("m.onnx", m.bytes());
  EXPECT_EQ(message_of([&] { import_onnx(model); }), model + ": initialiser 'w': cannot read '" +
                                                         folder.file("w.bin") +
                                                         "': No such file or directory");
  folder.file("w.bin", std::string(8, '\0'));
  EXPECT_EQ(weight_count(import_onnx(model)), 2);
}

}  // namespace
}  // namespace lathe::test
