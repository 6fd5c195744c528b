// op_window.cpp: windows that slide over an input. Interface: op_window.h.
#include "ops/op_window.h"

#include <algorithm>

#include "base/error.h"
#include "ops/op_dims.h"
#include "ops/op_shape.h"

namespace lathe::ops {
namespace {

/// An explicit kh or kw wins over k.
long side(const Params& p, const std::string& name) { return p[name] != 0 ? p[name] : p["k"]; }

/// Returns the distance from the first to behind the last element that the windows touch.
long span(const Slide& s) { return (s.outputs - 1) * s.stride + (s.elements - 1) * s.dilation + 1; }

/// Gives a slide of known outputs its input: as large as the windows span, unless told otherwise.
void settle(std::string_view op, Slide& s, long inputs, const char* name) {
  long needed = span(s) - s.pad.before;
  s.inputs = inputs != 0 ? inputs : needed - s.pad.after;
  if (s.inputs < 1) {
    fail("{}: pad={} leaves nothing of the input that the windows span", op, s.pad.before);
  }
  if (needed > s.inputs + s.pad.after || needed + s.stride <= s.inputs + s.pad.after) {
    fail("{}: {}={} does not fit: with this output the windows span {} of it", op, name, inputs,
         needed - s.pad.after);
  }
}

/// How many windows begin before the end of the padded input (rounded up: also those that reach
/// beyond it, if they begin before its padding at the end).
long count_outputs(const Slide& s, Rounding rounding) {
  long room = s.stored() - ((s.elements - 1) * s.dilation + 1);
  if (rounding == Rounding::down) return room < 0 ? 0 : room / s.stride + 1;
  long count = (room < 0 ? 0 : (room + s.stride - 1) / s.stride) + 1;
  if ((count - 1) * s.stride >= s.inputs + s.pad.before) --count;
  return count;
}

}  // namespace

std::vector<Param> window_params(std::vector<Param> before, const std::vector<Param>& after) {
  std::vector<Param> params = std::move(before);
  params.insert(params.end(), {{"oh", std::nullopt, "output rows"},
                               {"ow", std::nullopt, "output columns"},
                               {"ih", 0, "input rows; 0: as many as the windows span"},
                               {"iw", 0, "input columns; 0: as many as the windows span"},
                               {"k", 0, "rows and columns of the kernel"},
                               {"kh", 0, "rows of the kernel, if not k"},
                               {"kw", 0, "columns of the kernel, if not k"},
                               {"stride", 1, "input rows and columns from one output to the next"},
                               {"pad", 0, "padding around the input, on each side"}});
  params.insert(params.end(), after.begin(), after.end());
  return params;
}

Window window(std::string_view op, const Params& p, long dilation) {
  check_sizes(op, p, {"oh", "ow", "stride"});
  if (dilation < 1) fail("{}: dilation must be at least 1, not {}", op, dilation);
  long kh = side(p, "kh"), kw = side(p, "kw"), pad = p["pad"];
  if (kh < 1 || kw < 1) fail("{}: give the kernel's size, k (or kh and kw)", op);
  if (pad < 0) fail("{}: pad must be at least 0, not {}", op, pad);
  Window w{{"oh", "kh", p["oh"], kh, p["stride"], dilation, 0, {pad, pad}, pad},
           {"ow", "kw", p["ow"], kw, p["stride"], dilation, 0, {pad, pad}, pad}};
  settle(op, w[0], p["ih"], "ih");
  settle(op, w[1], p["iw"], "iw");
  return w;
}

std::vector<Setting> window_settings(const std::vector<Setting>& more) {
  auto list = [](const char* name, const char* meaning, long each) {
    return Setting{name, Shape{}, meaning, Setting::Need::optional, each};
  };
  return joined({list("strides", "input elements from one output to the next; all 1", 1),
                 list("dilations", "input elements from one of the kernel to the next; all 1", 1),
                 list("pads", "padding before each dimension, then after each; all 0", 0)},
                more);
}

Shape window_list(const Call& call, const std::string& name, size_t count, long least) {
  Shape list = call.integers(name, count);
  for (long value : list) {
    if (value >= least && value <= most_in_window) continue;
    call.refuse("{}={}: {} is out of range", name, print_attribute(list), value);
  }
  return list;
}

Window window(const Call& call, const Shape& kernel, Rounding rounding) {
  const Shape& input = call.shape(0);
  if (input.size() < 3) {
    call.refuse("the input {} needs a batch, channels and rows", print_shape(input));
  }
  size_t dims = input.size() - 2;
  if (kernel.size() != dims) {
    call.refuse("a kernel of {} dimensions does not slide over {}", kernel.size(),
                print_shape(input));
  }
  Shape strides = window_list(call, "strides", dims, 1);
  Shape dilations = window_list(call, "dilations", dims, 1);
  Shape pads = window_list(call, "pads", 2 * dims, 0);
  std::vector<std::string> names = dim_names(input.size());
  Window w;
  for (size_t i = 0; i < dims; ++i) {
    const std::string& name = names[i + 2];
    if (kernel[i] < 1) call.refuse("the kernel {} is empty", print_shape(kernel));
    if (kernel[i] > most_in_window) call.refuse("the kernel {} is too large", print_shape(kernel));
    Slide s{"o" + name,
            "k" + name,
            0,
            kernel[i],
            strides[i],
            dilations[i],
            input[i + 2],
            {pads[i], pads[i + dims]},
            pads[i + dims]};
    s.outputs = count_outputs(s, rounding);
    if (s.outputs < 1) {
      call.refuse("the kernel {} does not fit the padded input {}", print_shape(kernel),
                  print_shape(input));
    }
    s.pad.after = std::max(s.pad.after, span(s) - s.inputs - s.pad.before);
    w.push_back(s);
  }
  return w;
}

Shape outputs(const Window& w) {
  Shape result;
  for (const Slide& s : w) result.push_back(s.outputs);
  return result;
}

Shape elements(const Window& w) {
  Shape result;
  for (const Slide& s : w) result.push_back(s.elements);
  return result;
}

StatementBuilder::Extents output_loops(const Window& w) {
  StatementBuilder::Extents loops;
  for (const Slide& s : w) loops.emplace_back(s.output, s.outputs);
  return loops;
}

StatementBuilder::Extents kernel_loops(const Window& w) {
  StatementBuilder::Extents loops;
  for (const Slide& s : w) loops.emplace_back(s.kernel, s.elements);
  return loops;
}

size_t padded_input(NestBuilder& b, const Window& w, long n, long channels, double padding,
                    Element element) {
  Shape shape{channels};
  std::vector<Pad> pads(n > 0 ? 2 : 1);
  for (const Slide& s : w) {
    shape.push_back(s.stored());
    pads.push_back(s.pad);
  }
  return b.tensor("I", Role::input, batched_shape(n, shape), pads, padding, element);
}

std::vector<Index> under_window(const StatementBuilder& s, const Window& w, long n,
                                const Index& channel) {
  std::vector<Index> at{channel};
  for (const Slide& slide : w) {
    at.push_back(s[slide.output] * slide.stride + s[slide.kernel] * slide.dilation);
  }
  return batched_at(s, n, at);
}

}  // namespace lathe::ops
