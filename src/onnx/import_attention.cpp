// import_attention.cpp: ONNX's attention and what belongs to it, written out as products, masks and
// a softmax.
//
//   Y = softmax(scale * Q * K^T + bias) * V        Q, K, V: [batch, head, place, feature]
#include <algorithm>
#include <cmath>
#include <limits>

#include "onnx/heads.h"
#include "onnx/import_graph.h"

namespace lathe {
namespace {

struct Operands {
  ValueId query, key, value;
};

void check_operands(const Site& site, const Operands& o) {
  const Shape q = site.shape_of(o.query), k = site.shape_of(o.key), v = site.shape_of(o.value);
  bool fits = q.size() == 4 && k.size() == 4 && v.size() == 4 && q[0] == k[0] && q[0] == v[0] &&
              q[3] == k[3] && k[1] == v[1] && k[2] == v[2];
  if (!fits) {
    site.wrong(fmt::format("the query {}, key {} and value {} do not go together", print_shape(q),
                           print_shape(k), print_shape(v)));
  }
}

/// Returns scale * Q * K^T. Each factor gets the root of the scale: half precision overflows less.
ValueId scores_of(const Site& site, const Operands& o) {
  const Shape shape = site.shape_of(o.query);
  double scale = site.real("scale", 1 / std::sqrt(static_cast<double>(shape[3])));
  if (!(scale >= 0)) site.unsupported(fmt::format("a scale of {}", scale));
  ValueId root = site.number(site.type_of(o.query).element, std::sqrt(scale));
  ValueId key = site.transposed(repeated_heads(site, o.key, shape[1]), {0, 1, 3, 2});
  return site.emit("matmul", {site.emit("mul", {o.query, root}), site.emit("mul", {key, root})});
}

/// Softens scores beyond a bound.
ValueId capped(const Site& site, ValueId scores) {
  double cap = site.real("softcap", 0);
  if (cap <= 0) return scores;
  ValueId bound = site.number(site.type_of(scores).element, cap);
  return site.emit("mul", {site.emit("tanh", {site.emit("div", {scores, bound})}), bound});
}

/// Says which query sees which key: a truth value for each score, and numbers to add to scores.
struct Mask {
  ValueId allowed = no_value, bias = no_value;
  bool may_hide_all = false;  ///< may a query see no key?

  void restrict_to(const Site& site, ValueId condition) {
    allowed = allowed == no_value ? condition : site.emit("logical_and", {allowed, condition});
  }
};

/// Adds the mask that is an operand. Keys beyond its end are hidden.
void add_given_mask(const Site& site, long keys, Mask& mask) {
  if (!site.has(3)) return;
  ValueId given = site.input(3);
  const Shape shape = site.shape_of(given);
  if (shape.empty() || shape.back() > keys) site.wrong("its mask does not fit the keys");
  mask.may_hide_all = true;
  if (shape.back() < keys && shape.back() != 1) {
    Shape pads(2 * shape.size(), 0);
    pads.back() = keys - shape.back();
    given = site.emit("pad", {given}, {{"pads", pads}});
    ValueId end = site.number(Element::i64, static_cast<double>(shape.back()));
    mask.restrict_to(site, site.emit("less", {counted(site, {keys}), end}));
  }
  if (site.type_of(given).element == Element::boolean) {
    mask.restrict_to(site, given);
  } else {
    mask.bias = site.cast(given, site.element(0));
  }
}

/// Adds what follows from the places of queries and keys: a query sees no later keys if it is
/// causal, none outside of its window, and none beyond the end of its sequence.
void add_place_mask(const Site& site, long queries, long keys, Mask& mask) {
  long left = site.integer("left_window_size", -1), right = site.integer("right_window_size", -1);
  if (site.integer("is_causal", 0) != 0) right = right < 0 ? 0 : std::min(right, 0L);
  if (left < 0 && right < 0 && !site.has(6)) return;
  auto shifted = [&](ValueId place, long by) {
    return site.emit("add", {place, site.number(Element::i64, static_cast<double>(by))});
  };
  ValueId key = counted(site, {keys}), place = counted(site, {queries, 1});
  if (site.has(4)) place = shifted(place, site.shape(4)[2]);
  if (site.has(6)) {
    // The queries are the last of a sequence whose length is an operand.
    mask.may_hide_all = true;
    ValueId lengths =
        site.reshaped(site.cast(site.input(6), Element::i64), {count_of(site.shape(6)), 1, 1, 1});
    mask.restrict_to(site, site.emit("less", {key, lengths}));
    place = site.emit("add", {shifted(place, -queries), lengths});
  }
  if (right >= 0) {
    mask.restrict_to(site, site.emit("less_equal", {key, shifted(place, right)}));
  }
  if (left >= 0) {
    mask.restrict_to(site, site.emit("greater_equal", {key, shifted(place, -left)}));
  }
}

ValueId lowest(const Site& site, ValueId like) {
  return site.number(site.type_of(like).element, -std::numeric_limits<double>::infinity());
}

ValueId masked(const Site& site, ValueId scores, const Mask& mask) {
  if (mask.bias != no_value) scores = site.emit("add", {scores, mask.bias});
  if (mask.allowed == no_value) return scores;
  return site.emit("where", {mask.allowed, scores, lowest(site, scores)});
}

/// Returns the softmax of scores; a row of nothing but hidden keys becomes zeros.
ValueId probabilities(const Site& site, ValueId scores, const Mask& mask) {
  ValueId result = site.emit("softmax", {scores}, {{"axis", -1L}});
  if (!mask.may_hide_all) return result;
  ValueId highest = site.emit("reduce_max", {scores}, {{"axes", Shape{3}}});
  ValueId is_hidden = site.emit("equal", {highest, lowest(site, scores)});
  return site.emit("where", {is_hidden, site.number(site.type_of(scores).element, 0), result});
}

/// Returns the type to compute the softmax in.
Element softmax_type(const Site& site, Element otherwise) {
  long type = site.integer("softmax_precision", 0);
  return type == 0 ? otherwise : element_of_onnx(type, site.where());
}

/// Reads the query, key and value, in heads, behind those of earlier calls.
Operands read_operands(const Site& site) {
  Operands o{site.input(0), site.input(1), site.input(2)};
  if (site.shape(0).size() == 3) {
    long heads = site.integer("q_num_heads", 0), shared = site.integer("kv_num_heads", 0);
    o = {with_heads(site, o.query, heads), with_heads(site, o.key, shared),
         with_heads(site, o.value, shared)};
  }
  if (site.has(4) != site.has(5)) site.wrong("past_key and past_value belong together");
  if (site.has(4) && site.has(6)) site.wrong("past_key and nonpad_kv_seqlen exclude each other");
  if (site.has(4)) {
    if (site.shape(4).size() != 4) site.wrong("past_key must have 4 dimensions");
    o.key = site.joined({site.input(4), o.key}, 2);
    o.value = site.joined({site.input(5), o.value}, 2);
  }
  check_operands(site, o);
  return o;
}

void attention(const Site& site) {
  Operands o = read_operands(site);
  Element element = site.element(0);
  long queries = site.shape_of(o.query)[2], keys = site.shape_of(o.key)[2];
  Mask mask;
  add_given_mask(site, keys, mask);
  add_place_mask(site, queries, keys, mask);

  // The fourth output shows one of these stages.
  std::vector<ValueId> stages{scores_of(site, o)};
  stages.push_back(capped(site, stages.back()));
  stages.push_back(masked(site, stages.back(), mask));
  ValueId wide = site.cast(stages.back(), softmax_type(site, element));
  stages.push_back(site.cast(probabilities(site, wide, mask), element));

  ValueId values = repeated_heads(site, o.value, site.shape_of(o.query)[1]);
  ValueId result = site.emit("matmul", {stages.back(), site.cast(values, element)});
  site.set_output(0, site.shape(0).size() == 3 ? without_heads(site, result) : result);
  auto shown = [&](size_t i, ValueId value) {
    if (site.wants(i)) site.set_output(i, site.emit("identity", {value}));
  };
  shown(1, o.key);
  shown(2, o.value);
  long mode = site.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) site.wrong(fmt::format("qk_matmul_output_mode={} is unknown", mode));
  shown(3, stages[static_cast<size_t>(mode)]);
}

/// Applies a graph that is an attribute, if it is there, to scores or probabilities.
ValueId modified(const Site& site, const std::string& name, ValueId value) {
  if (!site.has_attribute(name)) return value;
  std::vector<TensorOrList> results = translate_body(site, site.subgraph(name), {value});
  const auto* result = results.size() == 1 ? std::get_if<ValueId>(&results.front()) : nullptr;
  if (result == nullptr || site.shape_of(*result) != site.shape_of(value)) {
    site.wrong(fmt::format("'{}' must compute one tensor of its input's shape", name));
  }
  return site.cast(*result, site.type_of(value).element);
}

/// Attention whose scores and probabilities are changed by graphs.
void flex_attention(const Site& site) {
  Operands o{site.input(0), site.input(1), site.input(2)};
  check_operands(site, o);
  bool is_half = site.element(0) == Element::f16 || site.element(0) == Element::bf16;
  Element wide = softmax_type(site, is_half ? Element::f32 : site.element(0));
  ValueId scores = modified(site, "score_mod", site.cast(scores_of(site, o), wide));
  ValueId shares = modified(site, "prob_mod", probabilities(site, scores, {}));
  ValueId values = repeated_heads(site, o.value, site.shape_of(o.query)[1]);
  ValueId result = site.emit("matmul", {shares, site.cast(values, wide)});
  site.set_output(0, site.cast(result, site.element(2)));
}

/// Cosines and sines of the angles that places turn by, in the shape of the heads.
ValueId angles(const Site& site, size_t i, const Shape& shape, size_t head_axis) {
  ValueId table = site.input(i);
  if (site.has(3)) table = site.emit("gather", {table, site.input(3)}, {{"axis", 0L}});
  Shape rows = site.shape_of(table);
  if (rows.size() != 3) site.wrong("its cosines and sines must have 3 dimensions");
  if (rows[2] != shape[3] / 2) site.wrong("its cosines and sines do not fit its features");
  rows.insert(rows.begin() + static_cast<long>(head_axis), 1);
  return site.reshaped(table, rows);
}

/// Turns pairs of features by angles: (x, y) to (x cos - y sin, x sin + y cos).
ValueId rotated(const Site& site, ValueId value, ValueId cosine, ValueId sine, bool interleaved) {
  const Shape shape = site.shape_of(value);
  ValueId x, y;
  if (interleaved) {
    ValueId pairs = site.reshaped(value, {shape[0], shape[1], shape[2], shape[3] / 2, 2});
    x = site.element_at(pairs, 4, 0);
    y = site.element_at(pairs, 4, 1);
  } else {
    x = site.sliced(value, 3, 0, shape[3] / 2);
    y = site.sliced(value, 3, shape[3] / 2, shape[3] / 2);
  }
  auto mul = [&](ValueId a, ValueId b) { return site.emit("mul", {a, b}); };
  ValueId real = site.emit("sub", {mul(x, cosine), mul(y, sine)});
  ValueId imaginary = site.emit("add", {mul(x, sine), mul(y, cosine)});
  if (!interleaved) return site.joined({real, imaginary}, 3);
  return site.reshaped(site.stacked({real, imaginary}, 4), shape);
}

void rotary_embedding(const Site& site) {
  const Shape shape = site.shape(0);
  ValueId value = site.input(0);
  bool is_flat = shape.size() == 3;
  if (is_flat) {
    long heads = site.integer("num_heads", 0);
    if (heads < 1 || shape[2] % heads != 0) site.wrong("num_heads does not fit its input");
    value = site.reshaped(value, {shape[0], shape[1], heads, shape[2] / heads});
  } else if (shape.size() != 4) {
    site.wrong("its input must have 3 or 4 dimensions");
  }
  long features = site.shape_of(value)[3], turned = site.integer("rotary_embedding_dim", 0);
  if (turned == 0) turned = features;
  if (turned < 0 || turned > features || turned % 2 != 0) {
    site.wrong(fmt::format("rotary_embedding_dim={} does not fit {} features", turned, features));
  }
  ValueId part = turned == features ? value : site.sliced(value, 3, 0, turned);
  size_t head_axis = is_flat ? 2 : 1;
  ValueId cosine = angles(site, 1, site.shape_of(part), head_axis);
  ValueId sine = angles(site, 2, site.shape_of(part), head_axis);
  ValueId result = rotated(site, part, cosine, sine, site.integer("interleaved", 0) != 0);
  if (turned < features) {
    result = site.joined({result, site.sliced(value, 3, turned, features - turned)}, 3);
  }
  site.set_output(0, site.reshaped(result, shape));
}

/// Writes new places of a cache over old ones, from an index on that each sample has.
void tensor_scatter(const Site& site) {
  const Shape cache = site.shape(0), update = site.shape(1);
  if (cache.empty() || cache.size() != update.size()) site.wrong("its update does not fit");
  size_t axis = site.axis(site.integer("axis", -2), cache.size());
  std::string mode = site.text("mode", "linear");
  if (mode != "linear" && mode != "circular") site.wrong(fmt::format("mode '{}'", mode));
  if (axis == 0) site.wrong("its axis counts the samples");
  Shape along(cache.size(), 1), samples(cache.size(), 1);
  along[axis] = update[axis];
  samples[0] = cache[0];
  ValueId place = counted(site, along);
  if (site.has(2)) {
    ValueId first = site.cast(site.input(2), Element::i64);
    place = site.emit("add", {place, site.reshaped(first, samples)});
  }
  if (mode == "circular") {
    ValueId extent = site.number(Element::i64, static_cast<double>(cache[axis]));
    place = site.emit("mod", {place, extent});
  }
  place = site.emit("expand", {place}, {{"shape", update}});
  site.set_output(0, site.emit("scatter_elements", {site.input(0), place, site.input(1)},
                               {{"axis", static_cast<long>(axis)}}));
}

void swiglu(const Site& site) {
  if (site.shape(0) != site.shape(1)) site.wrong("its operands differ in shape");
  ValueId gate = site.emit("swish", {site.input(0)}, {{"alpha", site.real("alpha", 1)}});
  site.set_output(0, site.emit("mul", {gate, site.input(1)}));
}

}  // namespace

Translations attention_translations() {
  return {{"Attention", attention},
          {"ai.onnx.preview:FlexAttention", flex_attention},
          {"RotaryEmbedding", rotary_embedding},
          {"TensorScatter", tensor_scatter},
          {"SwiGLU", swiglu}};
}

}  // namespace lathe
