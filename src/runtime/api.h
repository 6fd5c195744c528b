/* The functions of a compiled library, for any network. Each function NAME_x of a library is one
   call of lathe_api_x, with the network in front of the same arguments. model.h.in says what they
   do. */
#ifndef LATHE_RUNTIME_API_H
#define LATHE_RUNTIME_API_H

#include "runtime/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lathe_model* lathe_api_create(const struct lathe_network* network, int threads);
void lathe_api_destroy(const struct lathe_network* network, struct lathe_model* model);
int lathe_api_run(const struct lathe_network* network, struct lathe_model* model,
                  const void* const* inputs, void* const* outputs);
int lathe_api_repeat(const struct lathe_network* network, struct lathe_model* model, int times,
                     double* seconds);
int lathe_api_threads(const struct lathe_network* network, const struct lathe_model* model);
const char* lathe_api_error(const struct lathe_network* network);

int lathe_api_variant_count(const struct lathe_network* network);
int lathe_api_variant_for(const struct lathe_network* network, const int64_t* const* shapes);
struct lathe_model* lathe_api_create_variant(const struct lathe_network* network, int variant,
                                             int threads);
const int64_t* lathe_api_variant_input_shape(const struct lathe_network* network, int variant,
                                             int i);
int64_t lathe_api_variant_input_bytes(const struct lathe_network* network, int variant, int i);
const int64_t* lathe_api_variant_output_shape(const struct lathe_network* network, int variant,
                                              int i);
int64_t lathe_api_variant_output_bytes(const struct lathe_network* network, int variant, int i);

int lathe_api_input_count(const struct lathe_network* network);
const char* lathe_api_input_name(const struct lathe_network* network, int i);
const char* lathe_api_input_element(const struct lathe_network* network, int i);
int lathe_api_input_rank(const struct lathe_network* network, int i);
const int64_t* lathe_api_input_shape(const struct lathe_network* network, int i);
int64_t lathe_api_input_bytes(const struct lathe_network* network, int i);

int lathe_api_output_count(const struct lathe_network* network);
const char* lathe_api_output_name(const struct lathe_network* network, int i);
const char* lathe_api_output_element(const struct lathe_network* network, int i);
int lathe_api_output_rank(const struct lathe_network* network, int i);
const int64_t* lathe_api_output_shape(const struct lathe_network* network, int i);
int64_t lathe_api_output_bytes(const struct lathe_network* network, int i);

#ifdef __cplusplus
}
#endif
#endif
