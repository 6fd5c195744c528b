// The only include of ONNX's protobuf schema. Its warnings are not ours.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define ONNX_ML 1
#define ONNX_NAMESPACE onnx
#include <onnx/onnx_pb.h>
#pragma GCC diagnostic pop

#include "base/array.h"

namespace lathe {

/// The folder of tensor data that are not in the file itself.
struct DataFolder {
  std::string path;
};

/// Reads a tensor. "what" names it in errors.
Array array_of(const onnx::TensorProto& tensor, const DataFolder& folder, const std::string& what);

/// Writes a tensor.
onnx::TensorProto tensor_of(const Array& array, const std::string& name);

/// Converts between element types and those of ONNX; fails with Unsupported where there is none.
Element element_of_onnx(long type, const std::string& what);
std::optional<Element> find_element(long type);
int onnx_of_element(Element element);

}  // namespace lathe
