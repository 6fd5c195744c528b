// op_reduce.cpp: reductions. Interface: op_reduce.h.
#include "ops/op_reduce.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "nest/partial_sums.h"
#include "ops/op_check.h"
#include "ops/op_dims.h"

namespace lathe::ops {

Shape Reduction::kept() const {
  Shape shape = input;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (over[i]) shape[i] = 1;
  }
  return shape;
}

Shape Reduction::output() const {
  Shape shape;
  for (size_t i = 0; i < input.size(); ++i) {
    if (!over[i]) shape.push_back(input[i]);
    if (over[i] && keep) shape.push_back(1);
  }
  return shape;
}

long Reduction::count() const {
  Shape shape;
  for (size_t i = 0; i < input.size(); ++i) {
    if (over[i]) shape.push_back(input[i]);
  }
  return count_of(shape);
}

Reduction reduction(const Call& call) {
  const Shape &shape = call.shape(0), &axes = call.integers("axes");
  auto rank = static_cast<long>(shape.size());
  Reduction r{shape, std::vector<bool>(shape.size(), axes.empty()), call.flag("keep")};
  for (long axis : axes) {
    if (axis < -rank || axis >= rank) {
      call.refuse("axes={}: {} is no axis of a tensor with {} dimensions", print_attribute(axes),
                  axis, rank);
    }
    auto i = static_cast<size_t>(axis < 0 ? axis + rank : axis);
    if (r.over[i]) call.refuse("axes={}: {} is given twice", print_attribute(axes), axis);
    r.over[i] = true;
  }
  return r;
}

Reduction reduction(const Call& call, size_t first, size_t end) {
  Reduction r{call.shape(0), std::vector<bool>(call.shape(0).size(), false)};
  for (size_t i = first; i < end; ++i) r.over[i] = true;
  return r;
}

std::vector<Index> kept_at(const StatementBuilder& s, const Reduction& r) {
  std::vector<Index> result = at(s, loops_over(r.input));
  for (size_t i = 0; i < result.size(); ++i) {
    if (r.over[i]) result[i] = s.at(0);
  }
  return result;
}

std::vector<Index> output_at(const StatementBuilder& s, const Reduction& r) {
  std::vector<Index> kept = kept_at(s, r), result;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (!r.over[i] || r.keep) result.push_back(kept[i]);
  }
  return result;
}

Element sum_element(Element element) {
  switch (element) {
    case Element::f16:
    case Element::bf16:
    case Element::tf32:
      return Element::f32;
    case Element::boolean:
    case Element::i8:
    case Element::u8:
    case Element::i16:
    case Element::u16:
    case Element::i32:
    case Element::u32:
      return Element::i64;
    default:
      return element;
  }
}

Element real_element(Element element) {
  return is_float(element) ? sum_element(element) : Element::f64;
}

size_t largest(NestBuilder& b, const Reduction& r, size_t I, Element element) {
  size_t M = b.tensor("M", Role::local, r.kept(), element);
  auto& s = b.statement("largest", loops_over(r.input));
  Expr x = s.read(I, at(s, loops_over(r.input)));
  s.maximum(M, kept_at(s, r), x);
  return M;
}

Expr less_kept(StatementBuilder& s, const Reduction& r, size_t I, size_t M) {
  Expr x = s.read(I, at(s, loops_over(r.input)));
  Expr most = s.read(M, kept_at(s, r));
  return x - most;
}

std::vector<Type> reduced_types(const Call& call) {
  const std::vector<Setting>& settings = call.op().graph.settings;
  bool can_widen = std::any_of(settings.begin(), settings.end(), [](const Setting& setting) {
    return setting.name == sums_setting().name;
  });
  Element element = can_widen ? sums_element(call, 1) : call.element(0);
  return {{element, reduction(call).output()}};
}

Array filled(const Type& type, double value) {
  auto count = static_cast<size_t>(count_of(type.shape));
  if (is_float(type.element)) {
    return Array::of_reals(type.element, type.shape, std::vector<double>(count, value));
  }
  long integer = !std::isinf(value) ? static_cast<long>(value)
                 : value < 0        ? lowest_of(type.element)
                                    : highest_of(type.element);
  return Array::of_integers(type.element, type.shape, std::vector<long>(count, integer));
}

std::vector<Setting> reduce_settings() {
  return {{"axes", Shape{}, "dimensions to reduce; none: all of them"},
          {"keep", 1L, "1: the output keeps these dimensions, with extent 1"}};
}

Signature reduce_signature(std::function<Nest(isl::ctx, const Call&)> nest, double of_none) {
  return {.settings = reduce_settings(),
          .infer =
              [of_none](const Call& call) {
                bool nothing = reduction(call).count() == 0;
                if (nothing && std::isnan(of_none) && !is_float(call.element(0))) {
                  call.refuse("{} has no elements to reduce", print_shape(call.shape(0)));
                }
                return reduced_types(call);
              },
          .nest = std::move(nest),
          .of_nothing =
              [of_none](const Call& call) {
                return std::vector<Array>{filled(reduced_types(call).front(), of_none)};
              }};
}

namespace {

Nest nest_of_reduce(isl::ctx ctx, const Call& call, const Fold& fold) {
  Reduction r = reduction(call);
  Element element = call.element(0);
  NestBuilder b(ctx, fold.name);
  size_t I = declare(b, call, 0, "I"), O = declare_output(b, reduced_types(call).front());
  StatementBuilder::Extents loops = loops_over(r.input);
  auto& s = b.statement(fold.leave ? "fold" : fold.name, loops);
  Expr x = s.read(I, at(s, loops));
  if (fold.enter) x = fold.enter(x, element);
  size_t S = O;
  if (fold.leave) {
    S = b.tensor("S", Role::local, r.kept(), fold.between ? fold.between(element) : element);
  }
  std::vector<Index> to = fold.leave ? kept_at(s, r) : output_at(s, r);
  if (fold.update == Update::maximum) {
    s.maximum(S, to, x);
  } else {
    s.add(S, to, x);
  }
  if (!fold.leave) return with_partial_sums(b.build());
  auto& last = b.statement("finish", loops_over(r.kept()));
  Expr folded = last.read(S, kept_at(last, r));
  last.assign(O, output_at(last, r), fold.leave(folded, element, r.count()));
  return with_partial_sums(b.build());
}

}  // namespace

std::vector<std::string> reduce_examples(const std::string& name) {
  return {name + "(f32[2x3x4])", name + "(f32[2x3x4], axes=[1])",
          name + "(f32[2x3x4x2], axes=[-1, 0], keep=0)", name + "(i32[3x2], axes=[0])"};
}

Op reduce(const Fold& fold) {
  auto nest = [fold](isl::ctx ctx, const Call& call) { return nest_of_reduce(ctx, call, fold); };
  return {.name = fold.name,
          .summary = fold.summary,
          .examples = reduce_examples(fold.name),
          .graph = reduce_signature(nest, fold.of_none)};
}

Expr mirrored(Expr x, Element element) {
  if (is_float(element)) return call(Expr::Op::neg, {std::move(x)});
  bool is_narrow = size_of(element) < 8 && lowest_of(element) == 0;
  return number(is_narrow ? static_cast<double>(highest_of(element)) : -1) - std::move(x);
}

}  // namespace lathe::ops
