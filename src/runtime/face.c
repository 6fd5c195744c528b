/* The functions behind a compiled library; see api.h. */
#include <stddef.h>

#include "runtime/api.h"
#include "runtime/error.h"

struct lathe_model* lathe_api_create(const struct lathe_network* network, int threads) {
  return lathe_model_create(network, threads);
}

void lathe_api_destroy(const struct lathe_network* network, struct lathe_model* model) {
  (void)network;
  lathe_model_destroy(model);
}

int lathe_api_run(const struct lathe_network* network, struct lathe_model* model,
                  const void* const* inputs, void* const* outputs) {
  (void)network;
  return lathe_model_run(model, inputs, outputs);
}

int lathe_api_threads(const struct lathe_network* network, const struct lathe_model* model) {
  (void)network;
  return lathe_model_threads(model);
}

const char* lathe_api_error(const struct lathe_network* network) {
  (void)network;
  return lathe_last_error();
}

/* What a caller sees of an input or output that is not there. */
static const struct lathe_face nothing = {NULL, NULL, -1, NULL, -1};

static const struct lathe_face* find(const char* kind, const struct lathe_face* faces,
                                     int32_t count, int i) {
  if (i >= 0 && i < count) return &faces[i];
  lathe_fail("%s %d: the network has %d", kind, i, count);
  return &nothing;
}

static const struct lathe_face* input(const struct lathe_network* network, int i) {
  return find("input", network->input, network->inputs, i);
}

static const struct lathe_face* output(const struct lathe_network* network, int i) {
  return find("output", network->output, network->outputs, i);
}

int lathe_api_input_count(const struct lathe_network* network) { return network->inputs; }

const char* lathe_api_input_name(const struct lathe_network* network, int i) {
  return input(network, i)->name;
}

const char* lathe_api_input_element(const struct lathe_network* network, int i) {
  return input(network, i)->element;
}

int lathe_api_input_rank(const struct lathe_network* network, int i) {
  return input(network, i)->rank;
}

const int64_t* lathe_api_input_shape(const struct lathe_network* network, int i) {
  return input(network, i)->shape;
}

int64_t lathe_api_input_bytes(const struct lathe_network* network, int i) {
  return input(network, i)->bytes;
}

int lathe_api_output_count(const struct lathe_network* network) { return network->outputs; }

const char* lathe_api_output_name(const struct lathe_network* network, int i) {
  return output(network, i)->name;
}

const char* lathe_api_output_element(const struct lathe_network* network, int i) {
  return output(network, i)->element;
}

int lathe_api_output_rank(const struct lathe_network* network, int i) {
  return output(network, i)->rank;
}

const int64_t* lathe_api_output_shape(const struct lathe_network* network, int i) {
  return output(network, i)->shape;
}

int64_t lathe_api_output_bytes(const struct lathe_network* network, int i) {
  return output(network, i)->bytes;
}
