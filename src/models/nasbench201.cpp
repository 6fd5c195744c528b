// nasbench201.cpp: the networks of NAS-Bench-201 for CIFAR-10, by their index in the benchmark or
// by their cell. Three stages of five equal cells with 16, 32 and 64 channels; a residual block
// halves rows and columns between stages. Layers are named as in the authors' code.
#include "models/model_nasbench201.h"

#include "base/number.h"
#include "models/model_layers.h"

namespace lathe::models {
namespace {

constexpr long first_filters = 16;
constexpr int stages = 3, cells_per_stage = 5;
constexpr long total_stride = 4;
constexpr const char* example =
    "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_1x1~2|";

/// A node of a cell; nothing where no edge brings a value, which means zeros.
using CellValue = std::optional<ValueId>;

ValueId add_relu_conv_norm(GraphBuilder& g, const std::string& name, ValueId x, const Conv& conv) {
  x = add_relu(g, name + ".op.0", x);
  x = add_conv(g, name + ".op.1", x, conv);
  return add_batch_norm(g, name + ".op.2", x);
}

/// Adds a value of zeros.
ValueId add_zeros(GraphBuilder& g, const std::string& name, const Shape& shape) {
  const double zero = 0;
  ValueId scalar = g.constant(Array::of_reals(Element::f32, {}, {&zero, 1}), name + ".value");
  return g.call("expand", {scalar}, {{"shape", shape}}, name);
}

/// Adds an edge. A convolution is followed by a normalisation, which can turn zeros into other
/// values; the other operations keep them.
CellValue add_edge(GraphBuilder& g, const std::string& name, CellValue x, CellOp op,
                   const Shape& shape) {
  if (op == CellOp::none) return std::nullopt;
  if (op == CellOp::skip_connect) return x;
  if (op == CellOp::avg_pool_3x3) {
    if (!x) return x;
    return add_avg_pool(g, name + ".op", *x, {.kernel = 3, .stride = 1, .pad = 1});
  }
  ValueId from = x ? *x : add_zeros(g, name + ".zeros", shape);
  long kernel = op == CellOp::nor_conv_3x3 ? 3 : 1;
  return add_relu_conv_norm(g, name, from, {.filters = shape[1], .kernel = kernel});
}

ValueId add_cell(GraphBuilder& g, const std::string& name, ValueId x, const Cell& cell) {
  const Shape shape = g.shape(x);
  std::vector<CellValue> nodes = {x};
  for (size_t node = 1; node < cell_nodes; ++node) {
    CellValue sum;
    for (size_t from = 0; from < node; ++from) {
      size_t edge = edge_of(node, from);
      CellValue term =
          add_edge(g, fmt::format("{}.layers.{}", name, edge), nodes[from], cell[edge], shape);
      if (sum && term) {
        sum = g.call("add", {*sum, *term}, {}, fmt::format("{}.layers.{}.add", name, edge));
      } else if (term) {
        sum = term;
      }
    }
    nodes.push_back(sum);
  }
  return nodes.back() ? *nodes.back() : add_zeros(g, name + ".zeros", shape);
}

/// Adds the block between two stages: twice the channels, half the rows and columns.
ValueId add_reduction(GraphBuilder& g, const std::string& name, ValueId x, long filters) {
  ValueId y =
      add_relu_conv_norm(g, name + ".conv_a", x, {.filters = filters, .kernel = 3, .stride = 2});
  y = add_relu_conv_norm(g, name + ".conv_b", y, {.filters = filters, .kernel = 3});
  x = add_avg_pool(g, name + ".downsample.0", x, {.kernel = 2, .stride = 2});
  x = add_conv(g, name + ".downsample.1", x, {.filters = filters});
  return g.call("add", {x, y}, {}, name + ".add");
}

/// Reads a cell: its index in the benchmark, or its text form.
Cell read_cell(const std::string& text) {
  if (text.starts_with('|')) return parse_cell(text);
  auto index = number_in<long>(text);
  if (!index || *index < 0 || *index >= cell_count) {
    fail("nasbench201: '{}' is neither an index from 0 to {} nor a cell like {}", text,
         cell_count - 1, example);
  }
  return nasbench201_cells()[static_cast<size_t>(*index)];
}

Graph build_nasbench201(const std::string& name, const ModelOptions& options) {
  const Cell cell = read_cell(name.substr(name.find(':') + 1));
  GraphBuilder g(name);
  ValueId x = add_image(g, name, options, size_of(Images::cifar), total_stride);
  if (g.shape(x)[2] % total_stride != 0) {
    fail("nasbench201: the size of its images is a multiple of {}, not {}", total_stride,
         g.shape(x)[2]);
  }
  x = add_conv(g, "stem.0", x, {.filters = first_filters, .kernel = 3});
  x = add_batch_norm(g, "stem.1", x);
  int index = 0;
  auto path = [&] { return fmt::format("cells.{}", index++); };
  for (int stage = 0; stage < stages; ++stage) {
    if (stage > 0) x = add_reduction(g, path(), x, first_filters << stage);
    for (int i = 0; i < cells_per_stage; ++i) x = add_cell(g, path(), x, cell);
  }
  x = add_batch_norm(g, "lastact.0", x);
  x = add_relu(g, "lastact.1", x);
  return finish_classifier(g, "classifier", x, options.classes.value_or(classes_of(Images::cifar)));
}

}  // namespace

Model nasbench201() {
  return {.name = "nasbench201",
          .variants = {{"nasbench201", "a network of NAS-Bench-201 for CIFAR, by index or cell"}},
          .build = build_nasbench201,
          .argument = "INDEX|CELL",
          .example = "6111"};
}

}  // namespace lathe::models
