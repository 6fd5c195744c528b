// import_reduction.cpp: ONNX's sums of all kinds: reductions, products of matrices, scans, losses.
#include <algorithm>

#include "onnx/site.h"

namespace lathe {
namespace {

Translation reduction(const std::string& op) {
  return [op](const Site& site) {
    auto axes = site.integers_or_input("axes", 1);
    bool keep = site.integer("keepdims", 1) == 1;
    if ((!axes || axes->empty()) && site.integer("noop_with_empty_axes", 0) == 1) {
      // Nothing is summed; what is done to each element still is.
      ValueId value = site.input(0);
      if (op == "reduce_l1" || op == "reduce_l2") value = site.emit("abs", {value});
      if (op == "reduce_sum_square") value = site.emit("mul", {value, value});
      if (op == "reduce_log_sum") value = site.emit("log", {value});
      site.set_output(0, value == site.input(0) ? site.emit("identity", {value}) : value);
      return;
    }
    Shape list;
    size_t rank = site.shape(0).size();
    for (long a : axes.value_or(Shape{})) list.push_back(static_cast<long>(site.axis(a, rank)));
    std::sort(list.begin(), list.end());
    if (rank == 0) {
      list.clear();
    } else if (list.empty()) {
      for (size_t i = 0; i < rank; ++i) list.push_back(static_cast<long>(i));
    }
    site.set_output(0, site.emit(op, {site.input(0)}, {{"axes", list}, {"keep", keep ? 1L : 0L}}));
  };
}

Translation arg_extreme(const std::string& op) {
  return [op](const Site& site) {
    site.set_output(0, site.emit(op, {site.input(0)},
                                 {{"axis", site.integer("axis", 0)},
                                  {"keep", site.integer("keepdims", 1)},
                                  {"last", site.integer("select_last_index", 0)}}));
  };
}

void matmul(const Site& site) {
  site.set_output(0, site.emit("matmul", {site.input(0), site.input(1)}));
}

ValueId scaled(const Site& site, ValueId value, double factor) {
  if (factor == 1) return value;
  std::vector<double> list{factor};
  ValueId constant = site.constant_value(Array::of_reals(site.type_of(value).element, {}, list));
  return site.emit("mul", {value, constant});
}

/// alpha A B + beta C, with either matrix transposed.
void gemm(const Site& site) {
  if (site.shape(0).size() != 2 || site.shape(1).size() != 2) site.wrong("it needs matrices");
  double alpha = site.real("alpha", 1), beta = site.real("beta", 1);
  bool transposed_b = site.integer("transB", 0) != 0;
  ValueId a = site.input(0), b = site.input(1);
  if (site.integer("transA", 0) != 0) a = site.transposed(a, {1, 0});
  bool has_c = site.has(2) && beta != 0;
  // Weights of a layer are known, and stored as the layer reads them.
  if (!transposed_b && site.constant_of(b) && !site.state().known.contains(b)) {
    b = site.transposed(b, {1, 0});
    transposed_b = true;
  }
  long columns = site.shape_of(b)[transposed_b ? 0 : 1];
  bool is_bias = has_c && alpha == 1 && beta == 1 && site.shape(2) == Shape{columns};
  ValueId product;
  if (transposed_b) {
    product = site.emit("fully_connected", {a, b, is_bias ? site.input(2) : no_value});
  } else {
    product = site.emit("matmul", {a, b});
    is_bias = false;
  }
  product = scaled(site, product, alpha);
  if (has_c && !is_bias) {
    product = site.emit("add", {product, scaled(site, site.input(2), beta)});
  }
  site.set_output(0, product);
}

void einsum(const Site& site) {
  site.set_output(
      0, site.emit("einsum", site.all_inputs(), {{"equation", site.text("equation", "")}}));
}

Translation scan(const std::string& op) {
  return [op](const Site& site) {
    long axis = site.required(1, "its axis").integer();
    axis = static_cast<long>(site.axis(axis, site.shape(0).size()));
    site.set_output(0, site.emit(op, {site.input(0)},
                                 {{"axis", axis},
                                  {"exclusive", site.integer("exclusive", 0)},
                                  {"reverse", site.integer("reverse", 0)}}));
  };
}

void det(const Site& site) { site.set_output(0, site.emit("det", {site.input(0)})); }

/// The negative log-likelihood of labels: a pick of one element a sample, weighted and averaged.
ValueId picked_loss(const Site& site, ValueId log_probabilities, ValueId labels, ValueId weights) {
  const Shape shape = site.shape_of(log_probabilities);
  if (shape.size() < 2) site.wrong("its input has no classes");
  Element element = site.type_of(log_probabilities).element;
  auto constant = [&](double value, Element type) {
    std::vector<double> list{value};
    return site.constant_value(Array::of_reals(type, {}, list));
  };
  Element label_type = site.type_of(labels).element;
  ValueId ignored = no_value;
  ValueId safe = labels;
  if (site.has_attribute("ignore_index")) {
    ValueId index = constant(static_cast<double>(site.integer("ignore_index", 0)), label_type);
    ignored = site.emit("equal", {labels, index});
    safe = site.emit("where", {ignored, constant(0, label_type), labels});
  }
  Shape expanded = site.shape_of(safe);
  if (expanded.empty()) site.wrong("its labels have no batch");
  Shape flat = expanded;
  expanded.insert(expanded.begin() + 1, 1);
  ValueId indices = site.cast(site.reshaped(safe, expanded), Element::i64);
  ValueId picked = site.emit("gather_elements", {log_probabilities, indices}, {{"axis", 1L}});
  ValueId loss = site.emit("neg", {site.reshaped(picked, flat)});
  ValueId factor = no_value;
  if (weights != no_value) {
    factor = site.emit("gather", {weights, site.cast(safe, Element::i64)}, {{"axis", 0L}});
  }
  if (ignored != no_value) {
    ValueId one = factor != no_value ? factor : constant(1, element);
    factor = site.emit("where", {ignored, constant(0, element), one});
  }
  if (factor != no_value) loss = site.emit("mul", {loss, factor});
  std::string reduction = site.text("reduction", "mean");
  if (reduction == "none") return loss;
  Attributes over_all{{"axes", Shape{}}, {"keep", 0L}};
  ValueId sum = site.emit("reduce_sum", {loss}, over_all);
  if (reduction == "sum") return sum;
  if (factor == no_value) return site.emit("reduce_mean", {loss}, over_all);
  return site.emit("div", {sum, site.emit("reduce_sum", {factor}, over_all)});
}

void negative_log_likelihood(const Site& site) {
  site.set_output(0, picked_loss(site, site.input(0), site.input(1), site.optional_input(2)));
}

void softmax_cross_entropy(const Site& site) {
  ValueId log_probabilities = site.emit("log_softmax", {site.input(0)}, {{"axis", 1L}});
  site.set_output(0, picked_loss(site, log_probabilities, site.input(1), site.optional_input(2)));
  site.set_output(1, log_probabilities);
}

}  // namespace

Translations reduction_translations() {
  Translations list{{"MatMul", matmul},
                    {"Gemm", gemm},
                    {"Einsum", einsum},
                    {"Det", det},
                    {"CumSum", scan("cumsum")},
                    {"CumProd", scan("cumprod")},
                    {"ArgMax", arg_extreme("arg_max")},
                    {"ArgMin", arg_extreme("arg_min")},
                    {"NegativeLogLikelihoodLoss", negative_log_likelihood},
                    {"SoftmaxCrossEntropyLoss", softmax_cross_entropy}};
  for (const auto& [theirs, ours] :
       std::map<std::string, std::string>{{"ReduceSum", "reduce_sum"},
                                          {"ReduceMean", "reduce_mean"},
                                          {"ReduceMax", "reduce_max"},
                                          {"ReduceMin", "reduce_min"},
                                          {"ReduceProd", "reduce_prod"},
                                          {"ReduceL1", "reduce_l1"},
                                          {"ReduceL2", "reduce_l2"},
                                          {"ReduceSumSquare", "reduce_sum_square"},
                                          {"ReduceLogSum", "reduce_log_sum"},
                                          {"ReduceLogSumExp", "reduce_log_sum_exp"}}) {
    list.emplace(theirs, reduction(ours));
  }
  return list;
}

}  // namespace lathe
