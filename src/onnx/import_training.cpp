// import_training.cpp: ONNX's optimisers: how weights move along their gradients.
//
// Operands are a rate, how often the weights moved, and then all weights, all gradients and all
// states, each kind together.
#include <cmath>

#include "onnx/site.h"

namespace lathe {
namespace {

/// The arithmetic of one weight.
struct Arithmetic {
  const Site& site;
  Element element;

  ValueId number(double x) const { return site.number(element, x); }
  ValueId times(ValueId a, ValueId b) const { return site.emit("mul", {a, b}); }
  ValueId times(double a, ValueId b) const { return times(number(a), b); }
  ValueId plus(ValueId a, ValueId b) const { return site.emit("add", {a, b}); }
  ValueId minus(ValueId a, ValueId b) const { return site.emit("sub", {a, b}); }
  ValueId over(ValueId a, ValueId b) const { return site.emit("div", {a, b}); }
  ValueId root(ValueId a) const { return site.emit("sqrt", {a}); }

  ValueId rate() const { return site.cast(site.reshaped(site.input(0), {}), element); }
  ValueId count() const { return site.cast(site.reshaped(site.input(1), {}), element); }
  /// Returns the gradient with that of a penalty on large weights.
  ValueId regularised(ValueId weight, ValueId gradient) const {
    return plus(gradient, times(site.real("norm_coefficient", 0), weight));
  }
  /// Returns one of two numbers: the first if the weights have moved before.
  ValueId if_moved(ValueId later, ValueId first) const {
    return site.emit("where", {site.emit("less", {number(0), count()}), later, first});
  }
};

/// Maps a weight, its gradient and its states to the new weight and the new states.
using Rule = std::vector<ValueId> (*)(const Arithmetic&, const std::vector<ValueId>&);

std::vector<ValueId> momentum(const Arithmetic& a, const std::vector<ValueId>& v) {
  double alpha = a.site.real("alpha", 0);
  std::string mode = a.site.text("mode", "standard");
  if (mode != "standard" && mode != "nesterov") a.site.wrong(fmt::format("mode is '{}'", mode));
  ValueId gradient = a.regularised(v[0], v[1]);
  ValueId beta = a.if_moved(a.number(a.site.real("beta", 1)), a.number(1));
  ValueId speed = a.plus(a.times(alpha, v[2]), a.times(beta, gradient));
  ValueId way = mode == "nesterov" ? a.plus(gradient, a.times(alpha, speed)) : speed;
  return {a.minus(v[0], a.times(a.rate(), way)), speed};
}

std::vector<ValueId> adagrad(const Arithmetic& a, const std::vector<ValueId>& v) {
  ValueId gradient = a.regularised(v[0], v[1]);
  ValueId squares = a.plus(v[2], a.times(gradient, gradient));
  ValueId decay = a.plus(a.number(1), a.times(a.site.real("decay_factor", 0), a.count()));
  ValueId divisor = a.plus(a.root(squares), a.number(a.site.real("epsilon", 1e-6)));
  ValueId way = a.over(a.times(a.over(a.rate(), decay), gradient), divisor);
  return {a.minus(v[0], way), squares};
}

std::vector<ValueId> adam(const Arithmetic& a, const std::vector<ValueId>& v) {
  double alpha = a.site.real("alpha", 0.9), beta = a.site.real("beta", 0.999);
  ValueId gradient = a.regularised(v[0], v[1]);
  ValueId mean = a.plus(a.times(alpha, v[2]), a.times(1 - alpha, gradient));
  ValueId square = a.times(gradient, gradient);
  ValueId squares = a.plus(a.times(beta, v[3]), a.times(1 - beta, square));
  ValueId divisor = a.plus(a.root(squares), a.number(a.site.real("epsilon", 1e-6)));
  // Both means begin at 0; the rate makes up for that.
  auto missing = [&](double base) {
    return a.minus(a.number(1), a.site.emit("pow", {a.number(base), a.count()}));
  };
  ValueId corrected = a.over(a.times(a.rate(), a.root(missing(beta))), missing(alpha));
  ValueId rate = a.if_moved(corrected, a.rate());
  ValueId weight = a.minus(v[0], a.times(rate, a.over(mean, divisor)));
  return {a.times(1 - a.site.real("norm_coefficient_post", 0), weight), mean, squares};
}

/// Applies a rule to every weight; "kinds" counts the operands of each.
Translation optimiser(Rule rule, size_t kinds) {
  return [=](const Site& site) {
    if (site.inputs() < 2 + kinds || (site.inputs() - 2) % kinds != 0) {
      site.wrong(fmt::format("it has {} operands", site.inputs()));
    }
    size_t weights = (site.inputs() - 2) / kinds;
    for (size_t w = 0; w < weights; ++w) {
      std::vector<ValueId> operands;
      for (size_t k = 0; k < kinds; ++k) operands.push_back(site.input(2 + k * weights + w));
      Arithmetic arithmetic{site, site.type_of(operands[0]).element};
      std::vector<ValueId> results = rule(arithmetic, operands);
      for (size_t k = 0; k < results.size(); ++k) site.set_output(k * weights + w, results[k]);
    }
  };
}

}  // namespace

Translations training_translations() {
  const std::string domain = "ai.onnx.preview.training:";
  return {{domain + "Momentum", optimiser(momentum, 3)},
          {domain + "Adagrad", optimiser(adagrad, 3)},
          {domain + "Adam", optimiser(adam, 4)}};
}

}  // namespace lathe
