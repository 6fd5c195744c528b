/* What measuring needs: a clock, and times in order. */
#ifndef LATHE_RUNTIME_TIMING_H
#define LATHE_RUNTIME_TIMING_H

#include "runtime/libc.h"

/* Seconds since some time or other. */
static inline double lathe_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static inline void lathe_sort(double* numbers, int count) {
  for (int i = 1; i < count; ++i)
    for (int k = i; k > 0 && numbers[k] < numbers[k - 1]; --k) {
      double other = numbers[k];
      numbers[k] = numbers[k - 1];
      numbers[k - 1] = other;
    }
}

#endif
