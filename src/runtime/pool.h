/* The workers of a model: worker 0 is the caller, the others are threads of the pool. A task is
   handed to all workers that have a part in it. The next task begins when the last part is done. If
   a worker is late, because other programs keep its processor busy, another one does its part. */
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
  int32_t workers; /* so many have a part: the first ones */
};

/* Deals out "count" iterations. */
void lathe_task_split(struct lathe_task* task, int64_t count, int threads);

struct lathe_pool;

/* Starts threads-1 threads. The tasks belong to the caller, who keeps them where they are. Returns
   null if it fails, with an error. */
struct lathe_pool* lathe_pool_create(int threads, int processors, const struct lathe_task* tasks,
                                     int32_t count, int64_t scratch_bytes);
void lathe_pool_destroy(struct lathe_pool* pool);

/* Wakes the workers up, because tasks follow. One thread at a time may call this and the next. */
void lathe_pool_begin(struct lathe_pool* pool);
/* Does a task, and returns when it is done. */
void lathe_pool_do(struct lathe_pool* pool, int32_t task);

#endif
