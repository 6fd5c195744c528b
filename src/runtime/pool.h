/* The workers of a model: worker 0 is the caller, the others are threads of the pool. A task is
   handed to all workers that have a part in it and is over when the last part is done, so tasks
   follow each other as if by a barrier. Another worker does the part of one that is late, because
   other programs keep the processors busy. */
#ifndef LATHE_RUNTIME_POOL_H
#define LATHE_RUNTIME_POOL_H

#include "runtime/runtime.h"

#define LATHE_MOST_THREADS 256
#define LATHE_MOST_TASKS ((1 << 24) - 1)

/* A step whose iterations are dealt out: "each" to every worker, one more to the first "more". */
struct lathe_task {
  lathe_kernel kernel;
  void** tensors;
  int64_t each;
  int32_t more;
  int32_t workers; /* that have a part; the first ones */
};

/* Deals out "count" iterations. */
void lathe_task_split(struct lathe_task* task, int64_t count, int threads);

struct lathe_pool;

/* Starts threads-1 threads. The tasks stay where they are and belong to the caller. Returns null
   with an error. */
struct lathe_pool* lathe_pool_create(int threads, int processors, const struct lathe_task* tasks,
                                     int32_t count, int64_t scratch_bytes);
void lathe_pool_destroy(struct lathe_pool* pool);

/* Says that tasks follow, so that workers wake up. One thread at a time may call these two. */
void lathe_pool_begin(struct lathe_pool* pool);
void lathe_pool_do(struct lathe_pool* pool, int32_t task);

#endif
