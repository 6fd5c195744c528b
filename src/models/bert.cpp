// bert.cpp: bidirectional transformers (Devlin et al., "BERT: Pre-training of Deep Bidirectional
// Transformers for Language Understanding", 2019), layers named as in Hugging Face's transformers.
// Between the attentions a batch of texts is one matrix, [texts * tokens, hidden].
#include <cmath>

#include "models/model_layers.h"

namespace lathe::models {
namespace {

struct Bert {
  const char* name;
  const char* summary;
  long layers, hidden, heads;
};

constexpr Bert networks[] = {
    {"bert_tiny", "BERT with 2 layers of 128 values (encoder and pooler)", 2, 128, 2},
    {"bert_base", "BERT with 12 layers of 768 values (encoder and pooler)", 12, 768, 12}};
constexpr long vocabulary = 30522, positions = 512, token_types = 2;
constexpr long default_tokens = 128;
constexpr long widening = 4;       // of the layers between two attentions
constexpr double masked = -10000;  // what a token that is not there adds to its scores
constexpr double norm_epsilon = 1e-12;
constexpr Initial normal = {Initial::Kind::normal, 0.02};

/// What every layer needs to know.
struct Encoder {
  Bert net;
  long batch, tokens;
  ValueId mask;   ///< [texts, 1, 1, tokens]
  ValueId scale;  ///< by which the scores are divided
};

ValueId add_number(GraphBuilder& g, const std::string& name, double value) {
  return g.constant(Array::of_reals(Element::f32, {}, {&value, 1}), name);
}

ValueId add_reshape(GraphBuilder& g, const std::string& name, ValueId x, Shape shape) {
  return g.call("reshape", {x}, {{"shape", std::move(shape)}}, name);
}

ValueId add_layer_norm(GraphBuilder& g, const std::string& name, ValueId x) {
  Shape shape = {g.shape(x).back()};
  ValueId scale = g.weight(name + ".weight", shape, {Initial::Kind::ones});
  ValueId shift = g.weight(name + ".bias", shape, {Initial::Kind::zeros});
  return g.call("layer_norm", {x, scale, shift}, {{"epsilon", norm_epsilon}}, name);
}

/// Adds the table of an embedding and looks up all tokens: [texts, tokens, hidden].
ValueId add_lookup(GraphBuilder& g, const std::string& name, long rows, long hidden, ValueId ids) {
  ValueId table = g.weight(name + ".weight", {rows, hidden}, normal);
  return g.call("gather", {table, ids}, {}, name);
}

ValueId add_embeddings(GraphBuilder& g, const Encoder& e, ValueId ids, ValueId types) {
  long hidden = e.net.hidden;
  ValueId x = add_lookup(g, "embeddings.word_embeddings", vocabulary, hidden, ids);
  ValueId type = add_lookup(g, "embeddings.token_type_embeddings", token_types, hidden, types);
  const std::string place = "embeddings.position_embeddings";
  ValueId at = g.weight(place + ".weight", {positions, hidden}, normal);
  if (e.tokens < positions) {
    Attributes first = {
        {"starts", Shape{0, 0}}, {"sizes", Shape{e.tokens, hidden}}, {"steps", Shape{1, 1}}};
    at = g.call("slice", {at}, first, place);
  }
  x = g.call("add", {x, type}, {}, "embeddings.add_types");
  x = g.call("add", {x, at}, {}, "embeddings.add_positions");
  x = add_reshape(g, "embeddings.reshape", x, {e.batch * e.tokens, hidden});
  return add_layer_norm(g, "embeddings.LayerNorm", x);
}

/// Adds a projection of the tokens and deals it out to the heads; "order" is that of the result's
/// dimensions among text, token, head and value.
ValueId add_projection(GraphBuilder& g, const Encoder& e, const std::string& name, ValueId x,
                       Shape order) {
  long heads = e.net.heads;
  x = add_linear(g, name, x, e.net.hidden, normal);
  x = add_reshape(g, name + ".reshape", x, {e.batch, e.tokens, heads, e.net.hidden / heads});
  return g.call("transpose", {x}, {{"perm", std::move(order)}}, name + ".transpose");
}

ValueId add_attention(GraphBuilder& g, const Encoder& e, const std::string& name, ValueId x) {
  ValueId query = add_projection(g, e, name + ".query", x, {0, 2, 1, 3});
  ValueId key = add_projection(g, e, name + ".key", x, {0, 2, 3, 1});
  ValueId value = add_projection(g, e, name + ".value", x, {0, 2, 1, 3});
  ValueId scores = g.call("matmul", {query, key}, {}, name + ".scores");
  scores = g.call("div", {scores, e.scale}, {}, name + ".scale");
  scores = g.call("add", {scores, e.mask}, {}, name + ".mask");
  scores = g.call("softmax", {scores}, {}, name + ".softmax");
  x = g.call("matmul", {scores, value}, {}, name + ".context");
  x = g.call("transpose", {x}, {{"perm", Shape{0, 2, 1, 3}}}, name + ".transpose");
  return add_reshape(g, name + ".reshape", x, {e.batch * e.tokens, e.net.hidden});
}

/// Adds the end of half a layer: a projection, the residual and the normalisation.
ValueId add_residual(GraphBuilder& g, const std::string& name, ValueId inside, ValueId x) {
  ValueId y = add_linear(g, name + ".dense", inside, g.shape(x)[1], normal);
  y = g.call("add", {y, x}, {}, name + ".add");
  return add_layer_norm(g, name + ".LayerNorm", y);
}

ValueId add_layer(GraphBuilder& g, const Encoder& e, const std::string& name, ValueId x) {
  ValueId y = add_attention(g, e, name + ".attention.self", x);
  x = add_residual(g, name + ".attention.output", y, x);
  y = add_linear(g, name + ".intermediate.dense", x, widening * e.net.hidden, normal);
  y = g.call("gelu", {y}, {}, name + ".intermediate.gelu");
  return add_residual(g, name + ".output", y, x);
}

/// Adds the pooler, which reads the first token of each text.
ValueId add_pooler(GraphBuilder& g, const Encoder& e, ValueId x) {
  Attributes first = {{"starts", Shape{0, 0, 0}},
                      {"sizes", Shape{e.batch, 1, e.net.hidden}},
                      {"steps", Shape{1, 1, 1}}};
  x = g.call("slice", {x}, first, "pooler.first");
  x = add_reshape(g, "pooler.reshape", x, {e.batch, e.net.hidden});
  x = add_linear(g, "pooler.dense", x, e.net.hidden, normal);
  return g.call("tanh", {x}, {}, "pooler.activation");
}

/// Adds the mask: a table turns 0 (no token) and 1 (a token) into what is added to the scores.
ValueId add_mask(GraphBuilder& g, ValueId mask) {
  const double added[] = {masked, 0};
  ValueId table = g.constant(Array::of_reals(Element::f32, {2}, added), "mask.table");
  const Shape shape = g.shape(mask);
  mask = g.call("gather", {table, mask}, {}, "mask");
  return add_reshape(g, "mask.reshape", mask, {shape[0], 1, 1, shape[1]});
}

std::string name_of(const Bert& net) { return net.name; }

Graph build_bert(const std::string& name, const ModelOptions& options) {
  Encoder e = {find_named(networks, name), options.batch, options.size.value_or(default_tokens),
               no_value, no_value};
  if (options.classes) fail("{}: it has no classes; leave out their number", name);
  if (e.tokens > positions) {
    fail("{}: a text has at most {} tokens, not {}", name, positions, e.tokens);
  }
  GraphBuilder g(name);
  const Type type = {Element::i64, {e.batch, e.tokens}};
  ValueId ids = g.input("input_ids", type);
  ValueId mask = g.input("attention_mask", type);
  ValueId types = g.input("token_type_ids", type);
  e.mask = add_mask(g, mask);
  e.scale = add_number(g, "scale", std::sqrt(static_cast<double>(e.net.hidden / e.net.heads)));
  ValueId x = add_embeddings(g, e, ids, types);
  for (long i = 0; i < e.net.layers; ++i) {
    x = add_layer(g, e, fmt::format("encoder.layer.{}", i), x);
  }
  x = add_reshape(g, "encoder.reshape", x, {e.batch, e.tokens, e.net.hidden});
  ValueId pooled = add_pooler(g, e, x);
  add_output(g, "last_hidden_state", x);
  add_output(g, "pooler_output", pooled);
  return g.build();
}

}  // namespace

Model bert() {
  Model model = {.name = "bert", .variants = {}, .build = build_bert};
  for (const Bert& net : networks) model.variants.push_back({net.name, net.summary});
  return model;
}

}  // namespace lathe::models
