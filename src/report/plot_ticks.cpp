// plot_ticks.cpp: the marks of an axis. Interface: ticks() of plot.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/plot.h"

namespace lathe {
namespace {

/// Returns the distance of marks: 1, 2 or 5 times a power of ten.
double round_step(double range, int wanted) {
  double rough = range / std::max(1, wanted);
  double power = std::pow(10, std::floor(std::log10(rough)));
  for (double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * 0.999999) return factor * power;
  }
  return 10 * power;
}

/// Writes a number with the digits that tell it from one a step away.
std::string print_at_step(double value, double step) {
  if (std::abs(value) < step / 2) return "0";
  double size = std::abs(value);
  if (size >= 1e6 || size < 1e-4) {
    int digits = static_cast<int>(std::floor(std::log10(size)) - std::floor(std::log10(step)));
    std::string text = fmt::format("{:.{}e}", value, std::clamp(digits, 0, 15));
    // 1.5e+06 is 1.5e6.
    size_t exponent = text.find('e') + 1;
    return text.substr(0, exponent) + fmt::format("{}", std::stoi(text.substr(exponent)));
  }
  int digits = static_cast<int>(std::ceil(-std::log10(step) - 1e-9));
  return fmt::format("{:.{}f}", value, std::clamp(digits, 0, 15));
}

std::vector<Tick> linear_ticks(double low, double high, int wanted) {
  std::vector<Tick> result;
  double step = round_step(high - low, wanted);
  double first = std::ceil(low / step - 1e-9), last = std::floor(high / step + 1e-9);
  for (double i = first; i <= last; ++i)
    result.push_back({i * step, print_at_step(i * step, step)});
  return result;
}

/// Returns the powers of ten, each so often that there are about as many as wanted; within few
/// powers also 2 and 5 times them.
std::vector<Tick> logarithmic_ticks(double low, double high, int wanted) {
  double first = std::floor(std::log10(low)), last = std::ceil(std::log10(high));
  double powers = last - first;
  double every = std::max(1.0, std::ceil(powers / std::max(1, wanted)));
  std::vector<double> factors{1};
  if (3 * powers <= wanted + 3) factors = {1, 2, 5};
  std::vector<Tick> result;
  for (double power = first; power <= last; power += every) {
    for (double factor : factors) {
      double at = factor * std::pow(10, power);
      if (at < low * (1 - 1e-9) || at > high * (1 + 1e-9)) continue;
      result.push_back({at, print_at_step(at, std::pow(10, power))});
    }
  }
  // Within one power there may be hardly any.
  return result.size() < 2 ? linear_ticks(low, high, wanted) : result;
}

}  // namespace

std::vector<Tick> ticks(double low, double high, Scale scale, int wanted) {
  if (!(low < high)) return {{low, fmt::format("{}", low)}};
  return scale == Scale::linear ? linear_ticks(low, high, wanted)
                                : logarithmic_ticks(low, high, wanted);
}

}  // namespace lathe
