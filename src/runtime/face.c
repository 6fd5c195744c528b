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

int lathe_api_repeat(const struct lathe_network* network, struct lathe_model* model, int times,
                     double* seconds) {
  (void)network;
  return lathe_model_repeat(model, times, seconds);
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

int lathe_api_variant_count(const struct lathe_network* network) {
  int count = 0;
  for (; network != NULL; network = network->next) ++count;
  return count;
}

static const struct lathe_network* variant_of(const struct lathe_network* network, int variant) {
  const struct lathe_network* at = variant < 0 ? NULL : network;
  for (int i = 0; i < variant && at != NULL; ++i) at = at->next;
  if (at == NULL) {
    lathe_fail("variant %d: the network has %d", variant, lathe_api_variant_count(network));
  }
  return at;
}

static int takes(const struct lathe_network* network, const int64_t* const* shapes) {
  for (int32_t i = 0; i < network->inputs; ++i) {
    for (int32_t d = 0; d < network->input[i].rank; ++d) {
      if (network->input[i].shape[d] != shapes[i][d]) return 0;
    }
  }
  return 1;
}

int lathe_api_variant_for(const struct lathe_network* network, const int64_t* const* shapes) {
  int variant = 0;
  for (const struct lathe_network* at = network; at != NULL; at = at->next, ++variant) {
    if (takes(at, shapes)) return variant;
  }
  lathe_fail("none of %d variants takes inputs of these shapes", variant);
  return -1;
}

struct lathe_model* lathe_api_create_variant(const struct lathe_network* network, int variant,
                                             int threads) {
  const struct lathe_network* of = variant_of(network, variant);
  return of == NULL ? NULL : lathe_model_create(of, threads);
}

static const struct lathe_face* variant_input(const struct lathe_network* network, int variant,
                                              int i) {
  const struct lathe_network* of = variant_of(network, variant);
  return of == NULL ? &nothing : input(of, i);
}

static const struct lathe_face* variant_output(const struct lathe_network* network, int variant,
                                               int i) {
  const struct lathe_network* of = variant_of(network, variant);
  return of == NULL ? &nothing : output(of, i);
}

const int64_t* lathe_api_variant_input_shape(const struct lathe_network* network, int variant,
                                             int i) {
  return variant_input(network, variant, i)->shape;
}

int64_t lathe_api_variant_input_bytes(const struct lathe_network* network, int variant, int i) {
  return variant_input(network, variant, i)->bytes;
}

const int64_t* lathe_api_variant_output_shape(const struct lathe_network* network, int variant,
                                              int i) {
  return variant_output(network, variant, i)->shape;
}

int64_t lathe_api_variant_output_bytes(const struct lathe_network* network, int variant, int i) {
  return variant_output(network, variant, i)->bytes;
}
