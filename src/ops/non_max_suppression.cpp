// non_max_suppression.cpp: the boxes with the highest scores that overlap none chosen before.
//
// Boxes are [batch, box, 4], two opposite corners (y, x, y, x), or with centre=1 the centre and the
// extents (x, y, width, height); scores are [batch, class, box]. Each row of the output is a batch,
// a class and a box.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "ops/op_check.h"
#include "ops/op_data.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_non_max_suppression(const Call& call) {
  check_float(call, 0);
  check_float(call, 1);
  call.flag("centre");
  const Shape &boxes = call.shape(0), &scores = call.shape(1);
  bool fits = boxes.size() == 3 && scores.size() == 3 && boxes[2] == 4 && boxes[0] == scores[0] &&
              boxes[1] == scores[2];
  if (!fits) {
    call.refuse("boxes {} and scores {} do not go together", print_shape(boxes),
                print_shape(scores));
  }
  return {{Element::i64, {}, true}};
}

/// A box by its least and greatest coordinates.
struct Box {
  double top, left, bottom, right;
  double area() const { return (bottom - top) * (right - left); }
};

Box box_of(const double* values, bool centre) {
  if (centre) {
    double x = values[0], y = values[1], width = values[2] / 2, height = values[3] / 2;
    return {y - height, x - width, y + height, x + width};
  }
  return {std::min(values[0], values[2]), std::min(values[1], values[3]),
          std::max(values[0], values[2]), std::max(values[1], values[3])};
}

/// Returns the part of two boxes together that both cover.
double overlap(const Box& a, const Box& b) {
  double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (height <= 0 || width <= 0) return 0;
  double common = height * width;
  return common / (a.area() + b.area() - common);
}

/// Returns the boxes chosen for one class, whose scores are given, best first.
std::vector<long> chosen(const Call& call, const std::vector<Box>& boxes, const double* scores) {
  std::vector<long> order(boxes.size()), result;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](long a, long b) { return scores[a] > scores[b]; });
  for (long box : order) {
    if (static_cast<long>(result.size()) >= call.integer("per_class")) break;
    if (!(scores[box] > call.real("score"))) break;
    bool free = std::none_of(result.begin(), result.end(), [&](long before) {
      const Box &a = boxes[static_cast<size_t>(before)], &b = boxes[static_cast<size_t>(box)];
      return overlap(a, b) > call.real("iou");
    });
    if (free) result.push_back(box);
  }
  return result;
}

std::vector<Array> run_non_max_suppression(const Call& call, const std::vector<Array>& inputs) {
  const Shape& shape = inputs[1].shape();
  std::vector<double> corners = inputs[0].reals(), scores = inputs[1].reals();
  std::vector<long> rows;
  for (long batch = 0; batch < shape[0]; ++batch) {
    std::vector<Box> boxes;
    for (long i = 0; i < shape[2]; ++i) {
      boxes.push_back(box_of(corners.data() + (batch * shape[2] + i) * 4, call.flag("centre")));
    }
    for (long c = 0; c < shape[1]; ++c) {
      for (long box : chosen(call, boxes, scores.data() + (batch * shape[1] + c) * shape[2])) {
        rows.insert(rows.end(), {batch, c, box});
      }
    }
  }
  return {array_of(Element::i64, {static_cast<long>(rows.size()) / 3, 3}, rows)};
}

}  // namespace

Op non_max_suppression() {
  return {.name = "non_max_suppression",
          .summary = "boxes with the highest scores that overlap none chosen before",
          .examples = {"non_max_suppression(f32[1x6x4], f32[1x2x6], per_class=3, iou=0.5)",
                       "non_max_suppression(f32[2x3x4], f32[2x1x3], per_class=2, centre=1)"},
          .graph = {.least = 2,
                    .most = 2,
                    .settings = {{"per_class", 0L, "boxes to choose at most for each class"},
                                 {"iou", 0.0, "a box that overlaps more is left out"},
                                 {"score", -std::numeric_limits<double>::infinity(),
                                  "a box whose score is not greater is left out"},
                                 {"centre", 0L, "1: boxes are given by centre and extents"}},
                    .infer = types_of_non_max_suppression,
                    .run = run_non_max_suppression}};
}

}  // namespace lathe::ops
