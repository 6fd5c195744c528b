// backend_runtime.cpp: the runtime's structures. Interface: backend_runtime.h.
#include "backends/backend_runtime.h"

namespace lathe {
namespace {

lathe_face described(const TableFace& face) {
  return {face.name.c_str(), face.element.c_str(), static_cast<int32_t>(face.shape.size()),
          face.shape.data(), face.bytes};
}

}  // namespace

RuntimeTables::RuntimeTables(Tables tables, const std::vector<lathe_kernel>& kernels,
                             const lathe_machine* machine, std::span<const std::byte> weights)
    : tables_(std::move(tables)) {
  for (size_t i = 0; i < tables_.steps.size(); ++i) {
    const TableStep& step = tables_.steps[i];
    lathe_kernel kernel = machine == nullptr ? kernels.at(i) : nullptr;
    steps_.push_back({kernel, step.first, step.tensors, step.count});
    launches_.push_back(launch_of(step));
  }
  for (const TableFace& face : tables_.inputs) faces_.push_back(described(face));
  for (const TableFace& face : tables_.outputs) faces_.push_back(described(face));
  network_ = {.version = LATHE_RUNTIME_VERSION,
              .name = tables_.name.c_str(),
              .target = "native",
              .steps = static_cast<int32_t>(steps_.size()),
              .places = static_cast<int32_t>(tables_.places.size()),
              .inputs = static_cast<int32_t>(tables_.inputs.size()),
              .outputs = static_cast<int32_t>(tables_.outputs.size()),
              .step = steps_.data(),
              .place = tables_.places.data(),
              .input = faces_.data(),
              .output = faces_.data() + tables_.inputs.size(),
              .weights = weights.data(),
              .arena_bytes = tables_.arena_bytes,
              .scratch_bytes = tables_.scratch_bytes,
              .prepared_bytes = tables_.prepared_bytes,
              .first_step = tables_.first_step,
              .next = nullptr,
              .machine = machine,
              .launch = launches_.data(),
              .module = nullptr,
              .modules = 0,
              .weight_bytes = static_cast<int64_t>(weights.size())};
}

lathe_launch launch_of(const TableStep& step) {
  lathe_launch launch{step.symbol.c_str(), {}, {}};
  for (size_t d = 0; d < 3; ++d) {
    launch.blocks[d] = static_cast<int32_t>(step.grid.blocks[d]);
    launch.threads[d] = static_cast<int32_t>(step.grid.threads[d]);
  }
  return launch;
}

}  // namespace lathe
