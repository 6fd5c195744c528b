/* Numbers in place of inputs and weights, where a network is only measured. */
#ifndef LATHE_RUNTIME_MADE_UP_H
#define LATHE_RUNTIME_MADE_UP_H

#include <stddef.h>
#include <stdint.h>

/* Numbers of both signs below "most", the same in every run. */
static inline void lathe_make_up(float* numbers, size_t count, float most) {
  uint32_t state = 1;
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    numbers[i] = ((float)(state >> 8) / (float)(1 << 23) - 1.0f) * most;
  }
}

#endif
