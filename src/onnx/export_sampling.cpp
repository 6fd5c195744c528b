// export_sampling.cpp: operators that run on arrays, because data decide what they read, to ONNX.
// Interface: export_site.h.
#include "onnx/export_site.h"
#include "onnx/proto.h"

namespace lathe {
namespace {

void bit_cast(const ExportSite& site) {
  long to = onnx_of_element(*element_named(site.call().text("to")));
  site.finish("BitCast", site.inputs(), {{"to", to}});
}

void grid_sample(const ExportSite& site) {
  const std::string& border = site.call().text("border");
  std::string padding = border == "clamp" ? "border" : border == "reflect" ? "reflection" : border;
  site.finish("GridSample", site.inputs(),
              {{"mode", site.call().text("mode")},
               {"padding_mode", padding},
               {"align_corners", site.call().integer("corners")}});
}

void roi_align(const ExportSite& site) {
  const Call& call = site.call();
  site.finish("RoiAlign", site.inputs(),
              {{"output_height", call.integer("rows")},
               {"output_width", call.integer("columns")},
               {"sampling_ratio", call.integer("samples")},
               {"spatial_scale", call.real("scale")},
               {"mode", std::string(call.text("mode") == "max" ? "max" : "avg")},
               {"coordinate_transformation_mode",
                std::string(call.integer("shift") == 1 ? "half_pixel" : "output_half_pixel")}});
}

void unique(const ExportSite& site) {
  OnnxAttributes attributes{{"sorted", site.call().integer("sorted")}};
  if (site.call().integer("flat") == 0) {
    attributes.emplace_back("axis", site.call().integer("axis"));
  }
  site.finish("Unique", site.inputs(), attributes);
}

/// The indices are the second output of MaxPool.
void max_pool_indices(const ExportSite& site) {
  const Call& call = site.call();
  Shape kernel = call.integers("kernel");
  site.finish("MaxPool", site.inputs(),
              {{"kernel_shape", kernel},
               {"strides", call.integers("strides", kernel.size())},
               {"dilations", call.integers("dilations", kernel.size())},
               {"pads", call.integers("pads", 2 * kernel.size())},
               {"ceil_mode", call.integer("ceil")},
               {"storage_order", call.integer("columns")}},
              1);
}

}  // namespace

std::map<std::string, Export> sampling_exports() {
  return {{"bit_cast", {bit_cast, 26}},
          {"grid_sample", {grid_sample, 20}},
          {"roi_align", {roi_align}},
          {"unique", {unique}},
          {"max_pool_indices", {max_pool_indices}}};
}

}  // namespace lathe
