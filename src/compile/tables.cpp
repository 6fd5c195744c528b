// tables.cpp: steps, places and faces in the runtime's numbers. Interface: tables.h.
#include "compile/tables.h"

namespace lathe {
namespace {

std::vector<TableFace> faces_of(const std::vector<CompiledFace>& list) {
  std::vector<TableFace> faces;
  for (const CompiledFace& face : list) {
    const Type& type = face.type;
    faces.push_back({face.name,
                     name_of(type.element),
                     {type.shape.begin(), type.shape.end()},
                     count_of(type.shape) * size_of(type.element)});
  }
  return faces;
}

}  // namespace

Tables tables_of(const Compiled& compiled, const std::string& name) {
  Tables tables;
  tables.name = name;
  tables.target = compiled.target;
  tables.needs = compiled.needs;
  for (const CompiledStep& step : compiled.steps) {
    tables.steps.push_back({step.symbol, static_cast<int32_t>(tables.places.size()),
                            static_cast<int32_t>(step.places.size()), step.count, step.grid});
    tables.places.insert(tables.places.end(), step.places.begin(), step.places.end());
  }
  tables.inputs = faces_of(compiled.inputs);
  tables.outputs = faces_of(compiled.outputs);
  tables.arena_bytes = compiled.arena_bytes;
  tables.scratch_bytes = compiled.scratch_bytes;
  tables.prepared_bytes = compiled.prepared_bytes;
  tables.first_step = static_cast<int64_t>(compiled.first_step);
  return tables;
}

}  // namespace lathe
