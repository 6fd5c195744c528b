// regression.cpp: see regression.h.
#include "program/regression.h"

#include <algorithm>
#include <map>

#include "program/convolution.h"

namespace lathe {
namespace {

/// An access as one number: the place of the element, a linear function of the coordinates.
Linear place_of(const Nest& nest, const Statement& s, const Access& access) {
  const Tensor& tensor = nest.tensors()[access.tensor];
  std::vector<Linear> indices = linear_indices(nest, access);
  Linear place{Shape(s.dims.size(), 0), 0};
  for (size_t d = 0; d < indices.size(); ++d) {
    long extent = tensor.shape[d];
    place.constant = place.constant * extent + indices[d].constant + tensor.pad[d].before;
    for (size_t c = 0; c < place.coefficients.size(); ++c) {
      place.coefficients[c] = place.coefficients[c] * extent + indices[d].coefficients[c];
    }
  }
  return place;
}

/// A statement that adds weights to an output, each times an element of the input or times 1.
struct Term {
  size_t output, weight;
  std::optional<size_t> input;
  Shape sizes;  ///< of the coordinates
  Linear written, weighed, read;
};

std::optional<Term> term_of(const Nest& nest, const Statement& s) {
  auto role = [&](size_t read) { return nest.tensors()[s.reads[read].tensor].role; };
  Term term{s.write.tensor, 0, {}, extents(plain_order(s, {})), {}, {}, {}};
  if (nest.tensors()[s.write.tensor].role != Role::output) return std::nullopt;
  if (!poly::is_box(s.domain, term.sizes)) return std::nullopt;
  size_t weight = 0;
  if (s.value.op == Expr::Op::read && role(s.value.read) == Role::weight) {
    weight = s.value.read;
  } else {
    const std::vector<Expr>& factors = s.value.args;
    bool is_product = s.value.op == Expr::Op::mul && factors[0].op == Expr::Op::read &&
                      factors[1].op == Expr::Op::read && s.update == Update::add;
    if (!is_product) return std::nullopt;
    weight = factors[role(factors[0].read) == Role::weight ? 0 : 1].read;
    size_t input = factors[role(factors[0].read) == Role::weight ? 1 : 0].read;
    if (role(weight) != Role::weight || role(input) != Role::input) return std::nullopt;
    term.input = s.reads[input].tensor;
    term.read = place_of(nest, s, s.reads[input]);
  }
  term.weight = s.reads[weight].tensor;
  term.written = place_of(nest, s, s.write);
  term.weighed = place_of(nest, s, s.reads[weight]);
  return term;
}

/// What a coordinate of a term that reads an input is for.
enum class Part { position, filter, regressor, block, none };

Part part_of(const Term& term, size_t c) {
  bool written = term.written.coefficients[c] != 0, weighed = term.weighed.coefficients[c] != 0,
       read = term.read.coefficients[c] != 0;
  if (written && !weighed) return Part::position;
  if (written) return read ? Part::block : Part::filter;
  return weighed && read ? Part::regressor : Part::none;
}

/// Lists where the coordinates of one part lead, seen from where they are all 0.
Shape steps_of(const Term& term, const std::vector<Part>& parts, Part part, const Linear& place) {
  Shape steps{0};
  for (size_t c = 0; c < parts.size(); ++c) {
    if (parts[c] == part) steps = stepped(steps, place.coefficients[c], term.sizes[c]);
  }
  return steps;
}

Shape sums(const Shape& a, const Shape& b, long more) {
  Shape result;
  for (long x : a) {
    for (long y : b) result.push_back(x + y + more);
  }
  return result;
}

/// Returns the bias of each output, by the place of the output.
std::map<long, long> biases_of(const Term& term) {
  std::map<long, long> biases;
  Shape outputs{term.written.constant}, weights{term.weighed.constant};
  for (size_t c = 0; c < term.sizes.size(); ++c) {
    if (term.weighed.coefficients[c] == 0) continue;
    outputs = stepped(outputs, term.written.coefficients[c], term.sizes[c]);
    weights = stepped(weights, term.weighed.coefficients[c], term.sizes[c]);
  }
  for (size_t i = 0; i < outputs.size(); ++i) biases[outputs[i]] = weights[i];
  return biases;
}

}  // namespace

std::optional<Regression> regression_of(const Nest& nest) {
  std::optional<Term> product, alone;
  try {
    for (const Statement& s : nest.statements()) {
      std::optional<Term> term = term_of(nest, s);
      if (!term) return std::nullopt;
      std::optional<Term>& place = term->input ? product : alone;
      if (place) return std::nullopt;
      place = std::move(term);
    }
  } catch (const NoForm&) {
    return std::nullopt;
  }
  if (!product || (alone && alone->output != product->output)) return std::nullopt;
  const Term& term = *product;
  std::vector<Part> parts;
  for (size_t c = 0; c < term.sizes.size(); ++c) parts.push_back(part_of(term, c));
  if (std::find(parts.begin(), parts.end(), Part::none) != parts.end()) return std::nullopt;
  auto along = [&](Part part, const Linear& place) { return steps_of(term, parts, part, place); };

  Regression result{*term.input, term.weight, term.output, std::nullopt, {}, {}, {}};
  result.inputs_at = along(Part::position, term.read);
  result.outputs_at = along(Part::position, term.written);
  std::map<long, long> biases;
  if (alone) {
    result.bias = alone->weight;
    biases = biases_of(*alone);
  }
  Shape read = along(Part::block, term.read), written = along(Part::block, term.written),
        weighed = along(Part::block, term.weighed);
  for (size_t b = 0; b < read.size(); ++b) {
    RegressionBlock block;
    block.regressors = sums({term.read.constant + read[b]}, along(Part::regressor, term.read), 0);
    block.outputs =
        sums({term.written.constant + written[b]}, along(Part::filter, term.written), 0);
    block.weights = sums(along(Part::filter, term.weighed), along(Part::regressor, term.weighed),
                         term.weighed.constant + weighed[b]);
    for (long output : alone ? block.outputs : Shape{}) {
      auto found = biases.find(output);
      if (found == biases.end()) return std::nullopt;
      block.biases.push_back(found->second);
    }
    result.blocks.push_back(std::move(block));
  }
  return result;
}

}  // namespace lathe
