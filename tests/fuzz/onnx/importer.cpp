// Damaged ONNX files: the importer takes them or throws a UserError, soon and without much memory.
#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>

#include "ops/op.h"
#include "support/mutate.h"
#include "support/onnx_model.h"

namespace lathe::test {
namespace {

constexpr double most_seconds = 5;
constexpr long most_kilobytes = 1L << 20;
constexpr long most_elements = 1000000;

/// A small model around one operator that works out shapes, slides windows, or both.
OnnxModel small_model(Random& random) {
  OnnxModel m(random.between(7, 22));
  m.input("x", {1, 2, 4, 6});
  m.integers("ints", {random.between(-1, 3), random.between(0, 4)});
  m.integers("four", {0, 1, 2, 1});
  m.reals("reals", {1, 1, 2, 0.5});
  m.initialiser("w", Array(Element::f32, {2, 2, 3, 3}));
  m.initialiser("scale", Array(Element::f32, {2}));
  const Shape two{random.between(1, 3), random.between(1, 3)};
  const Shape pads{1, 0, random.between(0, 2), 1};
  switch (random.between(0, 13)) {
    case 0:
      m.node("Conv", {"x", "w"}, {"y"}, {{"pads", pads}, {"strides", two}, {"group", 1L}});
      break;
    case 1:
      m.node("ConvTranspose", {"x", "w"}, {"y"},
             {{"strides", two}, {"auto_pad", std::string("SAME_UPPER")}});
      break;
    case 2:
      m.node("AveragePool", {"x"}, {"y"}, {{"kernel_shape", two}, {"ceil_mode", 1L}});
      break;
    case 3:
      m.node("Shape", {"x"}, {"s"});
      m.node("Gather", {"s", "ints"}, {"g"}, {{"axis", 0L}});
      m.node("Concat", {"g", "ints"}, {"c"}, {{"axis", 0L}});
      m.node("Reshape", {"x", "c"}, {"y"});
      break;
    case 4:
      m.node("Slice", {"x", "ints", "four", "ints"}, {"y"},
             {{"starts", Shape{0}}, {"ends", Shape{2}}});
      break;
    case 5:
      m.node("Pad", {"x", "four"}, {"y"},
             {{"mode", random.pick({"constant", "edge", "reflect", "wrap"})}});
      break;
    case 6:
      m.node("Resize", {"x", "", "reals"}, {"y"},
             {{"mode", random.pick({"nearest", "linear", "cubic"})}});
      break;
    case 7:
      m.node("Tile", {"x", "four"}, {"t"});
      m.node("Expand", {"t", "four"}, {"y"});
      break;
    case 8:
      m.node("ConstantOfShape", {"four"}, {"k"});
      m.node("Einsum", {"k", "k"}, {"y"}, {{"equation", std::string("abcd,aecd->be")}});
      break;
    case 9:
      m.node("BatchNormalization", {"x", "scale", "scale", "scale", "scale"}, {"b"});
      m.node("Relu", {"b"}, {"r"});
      m.node("GlobalAveragePool", {"r"}, {"y"});
      break;
    case 10:
      m.node("Split", {"x"}, {"y", "z"}, {{"axis", 2L}, {"split", two}});
      break;
    case 11:
      m.node("SequenceConstruct", {"x", "x"}, {"q"});
      m.node("ConcatFromSequence", {"q"}, {"y"}, {{"axis", 1L}, {"new_axis", 1L}});
      break;
    case 12:
      m.node("InstanceNormalization", {"x", "scale", "scale"}, {"i"});
      m.node("DepthToSpace", {"i"}, {"y"}, {{"blocksize", 1L}});
      break;
    default:
      m.node("ReduceSum", {"x"}, {"r"}, {{"axes", Shape{1, 2}}, {"keepdims", 0L}});
      m.node("Softmax", {"r"}, {"y"}, {{"axis", 1L}});
  }
  m.output("y");
  return m;
}

/// Appends a number as protobuf writes it.
std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) bytes += static_cast<char>(value | 128);
  return bytes + static_cast<char>(value);
}

/// Damages bytes once: bits, numbers, parts of itself or of another model, the end.
std::string damaged_once(Random& random, std::string bytes, const std::string& other) {
  if (bytes.empty()) return other;
  auto anywhere = [&](const std::string& in) {
    return static_cast<size_t>(random.between(0, static_cast<long>(in.size()) - 1));
  };
  size_t at = anywhere(bytes), from = anywhere(other);
  auto length = static_cast<size_t>(random.between(1, 16));
  constexpr uint64_t odd[] = {0,         1,         2,         127,       128,       1UL << 20,
                              1UL << 30, 1UL << 31, 1UL << 32, 1UL << 40, 1UL << 46, 1UL << 62,
                              1UL << 63, ~0UL,      ~0UL - 1,  3,         7,         255};
  switch (random.between(0, 6)) {
    case 0:
      bytes[at] = static_cast<char>(random.between(0, 255));
      return bytes;
    case 1:
      bytes[at] ^= static_cast<char>(1 << random.between(0, 7));
      return bytes;
    case 2:
      return bytes.substr(0, at);
    case 3:
      return bytes.erase(at, length);
    case 4:
      return bytes.insert(at, other.substr(from, length));
    case 5:
      return bytes.substr(0, at) + other.substr(from);
    default: {
      // The varint that begins here becomes another.
      size_t end = at;
      while (end + 1 < bytes.size() && (bytes[end] & 128) != 0) ++end;
      return bytes.replace(at, end - at + 1, varint(odd[random.between(0, std::size(odd) - 1)]));
    }
  }
}

/// Damages the model's numbers, which leaves it readable.
void damage_numbers(Random& random, onnx::GraphProto& graph) {
  constexpr long odd[] = {0,
                          1,
                          -1,
                          2,
                          1L << 20,
                          1L << 30,
                          1L << 40,
                          1L << 46,
                          1L << 62,
                          -(1L << 40),
                          std::numeric_limits<long>::max(),
                          std::numeric_limits<long>::lowest()};
  auto number = [&] { return odd[random.between(0, std::size(odd) - 1)]; };
  for (auto& node : *graph.mutable_node()) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.ints_size() > 0 && random.chance(30)) attribute.set_ints(0, number());
      if (attribute.ints_size() > 0 && random.chance(10)) attribute.add_ints(number());
      if (attribute.type() == onnx::AttributeProto::INT && random.chance(30)) {
        attribute.set_i(number());
      }
    }
    if (node.input_size() > 0 && random.chance(5)) node.set_input(0, "");
    if (node.output_size() > 0 && random.chance(3)) node.clear_output();
  }
  for (auto& tensor : *graph.mutable_initializer()) {
    if (tensor.data_type() != onnx::TensorProto::INT64 || !random.chance(40)) continue;
    long value = number();
    tensor.mutable_raw_data()->replace(0, 8, reinterpret_cast<const char*>(&value), 8);
  }
  if (random.chance(30)) {
    auto* shape = graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
    auto i = static_cast<int>(random.between(0, shape->dim_size() - 1));
    shape->mutable_dim(i)->set_dim_value(number());
  }
}

long elements_of(const Graph& graph) {
  long count = 0;
  for (const Value& value : graph.values) {
    if (!value.type.dynamic) count += count_of(value.type.shape);
  }
  return count;
}

/// Imports bytes. Anything but success and a UserError fails the test.
void expect_imported(const std::string& bytes) {
  auto start = std::chrono::steady_clock::now();
  try {
    Graph graph = parse_onnx(bytes, "m.onnx", "/there/is/no/such/folder");
    if (elements_of(graph) < most_elements) {
      verify_types(graph);
      structural_hash(graph);
      print(graph);
      export_onnx(graph);
    }
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()), "");
  }
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), most_seconds);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss, most_kilobytes);
}

TEST(FuzzOnnx, DamagedBytes) {
  google::protobuf::SetLogHandler(nullptr);
  for_each_case(4000, [](Case& trial) {
    std::string bytes = small_model(trial.random).bytes(),
                other = small_model(trial.random).bytes();
    for (long n = trial.random.between(1, 4); n > 0; --n) {
      bytes = damaged_once(trial.random, std::move(bytes), other);
    }
    expect_imported(bytes);
  });
}

TEST(FuzzOnnx, DamagedNumbers) {
  google::protobuf::SetLogHandler(nullptr);
  for_each_case(4000, [](Case& trial) {
    OnnxModel model = small_model(trial.random);
    damage_numbers(trial.random, model.graph());
    trial.story = model.model().DebugString();
    expect_imported(model.bytes());
  });
}

}  // namespace
}  // namespace lathe::test
