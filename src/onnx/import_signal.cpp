// import_signal.cpp: ONNX's operators on signals: windows, Fourier transforms, filters. A transform
// is a product with a constant matrix.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "onnx/site.h"

namespace lathe {
namespace {

/// Returns the element type of an output that an attribute names.
Element stated_type(const Site& site) {
  return element_of_onnx(site.integer("output_datatype", 1), site.where());
}

/// A window is a sum of cosines: a - b cos(x) + c cos(2 x).
Translation window(double a, double b, double c) {
  return [=](const Site& site) {
    long size = site.required(0, "its size").integer();
    if (size < 0) site.wrong(fmt::format("a window of {} elements", size));
    long period = site.integer("periodic", 1) != 0 ? size : size - 1;
    std::vector<double> values;
    site.storable({size});
    for (long i = 0; i < size; ++i) {
      double x =
          2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(std::max(1L, period));
      values.push_back(a - b * std::cos(x) + c * std::cos(2 * x));
    }
    site.set_output(0, site.constant_value(Array::of_reals(stated_type(site), {size}, values)));
  };
}

/// A Fourier transform along one axis of a signal whose last dimension holds real and imaginary
/// parts, or real parts alone.
struct Fourier {
  size_t axis;
  long length;
  bool inverse, onesided;
};

/// Returns a matrix [from, to] of cosines or sines of 2 pi i j / length, each row times weight(i).
template <class Wave, class Weight>
ValueId waves(const Site& site, long from, long to, long length, Wave wave, Weight weight) {
  std::vector<double> list;
  site.storable({from, to});
  for (long i = 0; i < from; ++i) {
    for (long j = 0; j < to; ++j) {
      // The remainder first: the angle keeps its digits.
      auto turns = static_cast<double>(i * j % length);
      list.push_back(weight(i) * wave(2 * std::numbers::pi * turns / static_cast<double>(length)));
    }
  }
  return site.constant_value(Array::of_reals(Element::f64, {from, to}, list));
}

/// Returns one part of a signal, with the transformed axis last and of the extent that is needed.
ValueId lines_of(const Site& site, ValueId value, const Fourier& f, long part, long extent) {
  size_t last = site.shape_of(value).size() - 1;
  ValueId lines = site.element_at(value, last, part);
  // Sums in which nearly all cancels need all digits.
  lines = site.cast(lines, Element::f64);
  Shape perm(last), pads(2 * last, 0);
  for (size_t i = 0; i < last; ++i) perm[i] = static_cast<long>(i);
  std::swap(perm[f.axis], perm.back());
  lines = site.transposed(lines, perm);
  long given = site.shape_of(lines).back();
  if (given > extent) return site.sliced(lines, last - 1, 0, extent);
  pads.back() = extent - given;
  return given == extent ? lines : site.emit("pad", {lines}, {{"pads", pads}});
}

ValueId transformed(const Site& site, ValueId value, const Fourier& f) {
  bool is_half = f.inverse && f.onesided;  // the other half is its mirror image
  long half = f.length / 2 + 1, from = is_half ? half : f.length;
  long to = f.onesided && !f.inverse ? half : f.length;
  auto weight = [&](long i) {
    double scale = f.inverse ? 1 / static_cast<double>(f.length) : 1;
    bool has_mirror = is_half && i != 0 && 2 * i != f.length;
    return has_mirror ? 2 * scale : scale;
  };
  auto cosines = waves(
      site, from, to, f.length, [](double x) { return std::cos(x); }, weight);
  auto sines = waves(
      site, from, to, f.length, [](double x) { return std::sin(x); }, weight);
  auto product = [&](ValueId a, ValueId b) { return site.emit("matmul", {a, b}); };
  // (re + i im) (cos -+ i sin): the upper sign is the transform, the lower one its inverse.
  ValueId re = lines_of(site, value, f, 0, from), real = product(re, cosines);
  ValueId imaginary = product(re, sines);
  if (!f.inverse) imaginary = site.emit("neg", {imaginary});
  if (site.shape_of(value).back() == 2) {
    ValueId im = lines_of(site, value, f, 1, from);
    real = site.emit(f.inverse ? "sub" : "add", {real, product(im, sines)});
    imaginary = site.emit("add", {imaginary, product(im, cosines)});
  }
  size_t rank = site.shape_of(real).size();
  ValueId result = is_half ? site.stacked({real}, rank) : site.stacked({real, imaginary}, rank);
  Shape perm(rank + 1);
  for (size_t i = 0; i <= rank; ++i) perm[i] = static_cast<long>(i);
  std::swap(perm[f.axis], perm[rank - 1]);
  return site.cast(site.transposed(result, perm), site.type_of(value).element);
}

constexpr long most_length = 1L << 24;

void check_signal(const Site& site, const Shape& shape, size_t least) {
  if (shape.size() < least || (shape.back() != 1 && shape.back() != 2)) {
    site.wrong(
        fmt::format("{} is no signal: its last dimension must be 1 or 2", print_shape(shape)));
  }
}

void dft(const Site& site) {
  const Shape shape = site.shape(0);
  check_signal(site, shape, 2);
  long axis = site.opset() < 20 ? site.integer("axis", 1) : -2;
  if (site.opset() >= 20 && site.has(2)) axis = site.required(2, "its axis").integer();
  Fourier f{site.axis(axis, shape.size()), 0, site.integer("inverse", 0) != 0,
            site.integer("onesided", 0) != 0};
  if (f.axis + 1 == shape.size()) site.wrong("its axis holds the parts of numbers");
  f.length = f.inverse && f.onesided ? 2 * (shape[f.axis] - 1) : shape[f.axis];
  if (site.has(1)) f.length = site.required(1, "its length").integer();
  if (f.length < 1 || f.length > most_length) {
    site.wrong(fmt::format("a transform of length {}", f.length));
  }
  site.set_output(0, transformed(site, site.input(0), f));
}

/// Transforms frames of a signal, each multiplied with a window.
void stft(const Site& site) {
  ValueId signal = site.input(0);
  Shape shape = site.shape(0);
  if (shape.size() == 2) shape.push_back(1);
  check_signal(site, shape, 3);
  signal = site.reshaped(signal, shape);
  long step = site.required(1, "its step").integer();
  long length = shape[1];
  if (site.has(2)) length = count_of(site.shape(2));
  if (site.has(3)) length = site.required(3, "the length of a frame").integer();
  if (step < 1 || length < 1 || length > shape[1]) site.wrong("its frames do not fit its signal");
  long frames = (shape[1] - length) / step + 1;
  Shape indices;
  site.storable({frames, length});
  for (long i = 0; i < frames * length; ++i) indices.push_back(i / length * step + i % length);
  ValueId parts = site.emit("take", {signal}, {{"axis", 1L}, {"indices", indices}});
  parts = site.reshaped(parts, {shape[0], frames, length, shape[2]});
  if (site.has(2)) {
    if (site.shape(2) != Shape{length}) site.wrong("its window does not fit its frames");
    parts = site.emit("mul", {parts, site.reshaped(site.input(2), {length, 1})});
  }
  bool onesided = site.integer("onesided", 1) != 0;
  site.set_output(0, transformed(site, parts, {2, length, false, onesided}));
}

/// The triangular filters that sum the frequencies of a spectrum as an ear would.
void mel_weight_matrix(const Site& site) {
  long filters = site.required(0, "num_mel_bins").integer();
  long length = site.required(1, "dft_length").integer();
  long rate = site.required(2, "sample_rate").integer();
  double low = site.required(3, "lower_edge_hertz").real();
  double high = site.required(4, "upper_edge_hertz").real();
  bool fits = filters > 0 && filters < most_length && length > 0 && length < most_length &&
              rate > 0 && low >= 0 && high >= low && high <= static_cast<double>(rate) / 2;
  if (!fits) site.wrong("its sizes or frequencies do not fit");
  auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double step = (mel(high) - mel(low)) / static_cast<double>(filters + 2);
  auto bin = [&](long i) {
    double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + mel(low)) / 2595) - 1);
    return static_cast<long>(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
  };
  long bins = length / 2 + 1;
  std::vector<double> matrix(static_cast<size_t>(site.storable({bins, filters})), 0);
  for (long f = 0; f < filters; ++f) {
    long left = bin(f), centre = bin(f + 1), right = bin(f + 2);
    auto set = [&](long j, long part, long whole) {
      if (j >= bins) return;
      matrix[static_cast<size_t>(j * filters + f)] =
          static_cast<double>(part) / static_cast<double>(whole);
    };
    for (long j = left; j < centre; ++j) set(j, j - left, centre - left);
    for (long j = centre + 1; j < right; ++j) set(j, right - j, right - centre);
    set(centre, 1, 1);
  }
  Array data = Array::of_reals(stated_type(site), {bins, filters}, matrix);
  site.set_output(0, site.constant_value(data));
}

}  // namespace

Translations signal_translations() {
  return {{"HannWindow", window(0.5, 0.5, 0)},
          {"HammingWindow", window(25.0 / 46, 21.0 / 46, 0)},
          {"BlackmanWindow", window(0.42, 0.5, 0.08)},
          {"DFT", dft},
          {"STFT", stft},
          {"MelWeightMatrix", mel_weight_matrix}};
}

}  // namespace lathe
