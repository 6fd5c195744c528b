// faces.cpp: arrays in and out of compiled code. Interface: faces.h.
#include "compile/faces.h"

#include "base/error.h"

namespace lathe {

std::vector<Array> run_on_arrays(const std::vector<CompiledFace>& inputs,
                                 const std::vector<CompiledFace>& outputs,
                                 const std::vector<Array>& arrays,
                                 const std::function<void(const void* const*, void* const*)>& run) {
  if (arrays.size() != inputs.size()) {
    fail("the network has {} inputs, but {} were given", inputs.size(), arrays.size());
  }
  static const std::byte nothing{};
  std::vector<const void*> from;
  for (size_t i = 0; i < arrays.size(); ++i) {
    Type given{arrays[i].element(), arrays[i].shape()};
    if (given != inputs[i].type) {
      fail("input '{}' is {}, but was given {}", inputs[i].name, print_type(inputs[i].type),
           print_type(given));
    }
    from.push_back(arrays[i].bytes().empty() ? &nothing : arrays[i].bytes().data());
  }
  std::vector<std::vector<std::byte>> buffers;
  std::vector<void*> to;
  for (const CompiledFace& face : outputs) {
    long bytes = count_of(face.type.shape) * size_of(face.type.element);
    buffers.emplace_back(static_cast<size_t>(std::max(bytes, 1L)));
    to.push_back(buffers.back().data());
  }
  run(from.data(), to.data());
  std::vector<Array> results;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Type& type = outputs[i].type;
    auto bytes = static_cast<size_t>(count_of(type.shape) * size_of(type.element));
    results.push_back(
        Array::of_bytes(type.element, type.shape, std::span(buffers[i]).first(bytes)));
  }
  return results;
}

}  // namespace lathe
