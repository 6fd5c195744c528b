/* Numbers in place of inputs and weights, where a network is only measured. */
#ifndef LATHE_RUNTIME_MADE_UP_H
#define LATHE_RUNTIME_MADE_UP_H

#include <stddef.h>
#include <stdint.h>

/* Numbers of both signs below "most", the same in every run that has the same seed. */
static inline void lathe_make_up_from(uint32_t seed, float* numbers, size_t count, float most) {
  uint32_t state = seed;
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    numbers[i] = ((float)(state >> 8) / (float)(1 << 23) - 1.0f) * most;
  }
}

static inline void lathe_make_up(float* numbers, size_t count, float most) {
  lathe_make_up_from(1, numbers, count, most);
}

#endif
