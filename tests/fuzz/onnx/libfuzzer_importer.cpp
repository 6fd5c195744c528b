// A libFuzzer target: any bytes as an ONNX file. Built and run by scripts/fuzz, not by the tests.
//
// The importer takes them or throws a UserError. What it takes is also printed, hashed and written
// as ONNX again.
#include <google/protobuf/stubs/logging.h>

#include <cstdint>

#include "onnx/onnx.h"
#include "ops/op.h"

namespace {

constexpr long most_elements = 1000000;

long elements_of(const lathe::Graph& graph) {
  long count = 0;
  for (const lathe::Value& value : graph.values) {
    if (!value.type.dynamic) count += lathe::count_of(value.type.shape);
  }
  return count;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  google::protobuf::SetLogHandler(nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    std::string bytes(reinterpret_cast<const char*>(data), size);
    lathe::Graph graph = lathe::parse_onnx(bytes, "fuzz.onnx", "/there/is/no/such/folder");
    if (elements_of(graph) >= most_elements) return 0;
    lathe::verify_types(graph);
    lathe::structural_hash(graph);
    lathe::print(graph);
    lathe::export_onnx(graph);
  } catch (const lathe::UserError&) {
    return 0;
  }
  return 0;
}
