/* Numbers in place of inputs and weights, where a network is only measured. */
#ifndef LATHE_RUNTIME_MADE_UP_H
#define LATHE_RUNTIME_MADE_UP_H

#include "runtime/numbers.h"

/* Numbers of both signs below "most", the same in every run that has the same seed. Each is "most"
   times a multiple of 1/128: if that is a power of two, all types of numbers have them. */
static inline void lathe_make_up_from(uint32_t seed, enum lathe_numbers type, void* numbers,
                                      int64_t count, float most) {
  uint32_t state = seed;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    lathe_set_number(type, numbers, i, ((float)(state >> 24) / 128.0f - 1.0f) * most);
  }
}

static inline void lathe_make_up(float* numbers, int64_t count, float most) {
  lathe_make_up_from(1, LATHE_F32, numbers, count, most);
}

/* What they are below in weights of a network: through many layers, values shall neither vanish nor
   overflow. */
#define LATHE_MOST_OF_WEIGHTS 0.0625f

#endif
