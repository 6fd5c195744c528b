/* Workers that share tasks; see pool.h. There is one word that the caller writes, the job, and one
   that each worker writes, the last job it did; no atomic operation here is more than a load or a
   store. A worker that has no part in a job may overlook it: all it needs to know is in that word.
 */
#include "runtime/pool.h"

#include <stdatomic.h>

#include "runtime/error.h"
#include "runtime/libc.h"

/* Apart by so many bytes, two workers do not disturb each other: a line and its neighbour, which
   some processors fetch along. */
enum { apart = 128 };

/* How often a worker that waits looks again before it lets others have the processor; 512 looks
   take some 10 us. It has less patience after waiting in vain: it may wait for a worker on the same
   processor. */
enum { most_patience = 512, least_patience = 8 };

/* How long a worker looks for the next run before it sleeps, in nanoseconds. A run that must
   wake workers takes some 10 us longer. */
enum { vigil = 80000 };

/* A job is its number, 40 bits, and the index of its task, 24 bits. */
enum { task_bits = 24 };
static const uint64_t quit = UINT64_MAX;

struct worker {
  _Alignas(apart) _Atomic uint64_t done; /* the last job */
  _Atomic int asleep;                    /* or about to be: wants "wake" to be posted */
  sem_t wake;
  struct lathe_pool* pool;
  void* scratch;
  int index;
  int patience; /* of this worker now; 0 with more workers than processors */
  pthread_t thread;
};

struct lathe_pool {
  _Alignas(apart) _Atomic uint64_t job;
  _Atomic int running; /* between begin and end */
  _Alignas(apart) const struct lathe_task* tasks;
  int threads;
  int used; /* no task has more workers */
  struct worker workers[];
};

static void relax(void) {
#if defined(__x86_64__)
  __asm__ volatile("pause");
#elif defined(__aarch64__)
  __asm__ volatile("isb"); /* takes a while; "yield" does nothing on most processors */
#endif
}

/* Learns from a wait that needed so many looks. */
static void learn(struct worker* worker, int looks) {
  int patience = worker->patience;
  if (looks < patience && patience < most_patience) worker->patience = patience * 2;
  if (looks == patience && patience > least_patience) worker->patience = patience / 2;
}

static int64_t nanoseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void lathe_task_split(struct lathe_task* task, int64_t count, int threads) {
  task->each = count / threads;
  task->more = (int32_t)(count % threads);
  task->workers = task->each ? threads : task->more;
}

static void do_part(const struct lathe_task* task, struct worker* worker) {
  int64_t index = worker->index;
  int64_t from = index * task->each + (index < task->more ? index : task->more);
  int64_t to = from + task->each + (index < task->more);
  if (from < to) task->kernel(task->tensors, worker->scratch, from, to);
}

static void wake(struct worker* worker) {
  if (!atomic_load(&worker->asleep)) return;
  atomic_store(&worker->asleep, 0);
  sem_post(&worker->wake);
}

/* Sleeps until woken, unless there is a new job. The caller first sets the job and then looks
   who is asleep, a worker does it the other way round: one of them notices. A post too many makes
   the worker look once more, no harm done. */
static void sleep_until_woken(struct worker* worker, uint64_t seen) {
  atomic_store(&worker->asleep, 1);
  if (atomic_load(&worker->pool->job) == seen) {
    while (sem_wait(&worker->wake)) {
    } /* a signal came */
  }
  atomic_store(&worker->asleep, 0);
}

static uint64_t next_job(struct worker* worker, uint64_t seen) {
  struct lathe_pool* pool = worker->pool;
  int used = worker->index < pool->used;
  int64_t since = 0;
  for (int looks = 0;;) {
    uint64_t job = atomic_load_explicit(&pool->job, memory_order_acquire);
    if (job != seen) {
      learn(worker, looks);
      return job;
    }
    if (looks < worker->patience) {
      ++looks;
      relax();
    } else if (used && atomic_load_explicit(&pool->running, memory_order_relaxed)) {
      sched_yield();
      since = 0;
    } else {
      int64_t now = nanoseconds();
      if (since == 0) since = now;
      if (now - since > vigil) {
        sleep_until_woken(worker, seen);
        looks = 0;
        since = 0;
      } else if (worker->patience == 0) {
        sched_yield();
      }
    }
  }
}

static void* work(void* argument) {
  struct worker* worker = argument;
  uint64_t job = 0;
  while ((job = next_job(worker, job)) != quit) {
    do_part(&worker->pool->tasks[job & ((1u << task_bits) - 1)], worker);
    atomic_store_explicit(&worker->done, job, memory_order_release);
  }
  return NULL;
}

void lathe_pool_begin(struct lathe_pool* pool) {
  if (pool->threads == 1) return;
  atomic_store_explicit(&pool->running, 1, memory_order_relaxed);
  for (int i = 1; i < pool->used; ++i) wake(&pool->workers[i]);
}

void lathe_pool_end(struct lathe_pool* pool) {
  if (pool->threads > 1) atomic_store_explicit(&pool->running, 0, memory_order_relaxed);
}

void lathe_pool_do(struct lathe_pool* pool, int32_t index) {
  const struct lathe_task* task = &pool->tasks[index];
  struct worker* workers = pool->workers;
  if (task->workers <= 1) {
    do_part(task, workers);
    return;
  }
  uint64_t last = atomic_load_explicit(&pool->job, memory_order_relaxed);
  uint64_t job = ((last >> task_bits) + 1) << task_bits | (uint64_t)index;
  atomic_store(&pool->job, job);
  for (int i = 1; i < task->workers; ++i) wake(&workers[i]);
  do_part(task, workers);
  int looks = 0;
  for (int i = 1; i < task->workers; ++i) {
    while (atomic_load_explicit(&workers[i].done, memory_order_acquire) != job) {
      if (looks < workers->patience) {
        ++looks;
        relax();
      } else {
        sched_yield();
      }
    }
  }
  learn(workers, looks);
}

/* Ends the threads of workers 1..started-1 and frees everything. */
static void stop(struct lathe_pool* pool, int started) {
  atomic_store(&pool->job, quit);
  for (int i = 1; i < started; ++i) sem_post(&pool->workers[i].wake);
  for (int i = 1; i < started; ++i) pthread_join(pool->workers[i].thread, NULL);
  for (int i = 0; i < pool->threads; ++i) {
    sem_destroy(&pool->workers[i].wake);
    free(pool->workers[i].scratch);
  }
  free(pool);
}

struct lathe_pool* lathe_pool_create(int threads, int processors, const struct lathe_task* tasks,
                                     int32_t count, int64_t scratch_bytes) {
  size_t size = sizeof(struct lathe_pool) + (size_t)threads * sizeof(struct worker);
  struct lathe_pool* pool = aligned_alloc(apart, size);
  if (!pool) {
    lathe_fail("no memory for %d workers", threads);
    return NULL;
  }
  memset(pool, 0, size);
  pool->tasks = tasks;
  pool->threads = threads;
  for (int32_t i = 0; i < count; ++i)
    if (tasks[i].workers > pool->used) pool->used = tasks[i].workers;

  int enough = 1;
  for (int i = 0; i < threads; ++i) {
    struct worker* worker = &pool->workers[i];
    worker->pool = pool;
    worker->index = i;
    worker->patience = threads > processors ? 0 : most_patience;
    sem_init(&worker->wake, 0, 0);
    if (scratch_bytes == 0) continue;
    worker->scratch = aligned_alloc(apart, ((size_t)scratch_bytes + apart - 1) / apart * apart);
    if (!worker->scratch) enough = 0;
  }
  if (!enough) {
    lathe_fail("no memory for %d times %lld bytes of scratch", threads, (long long)scratch_bytes);
    stop(pool, 1);
    return NULL;
  }
  for (int i = 1; i < threads; ++i) {
    int error = pthread_create(&pool->workers[i].thread, NULL, work, &pool->workers[i]);
    if (error == 0) continue;
    lathe_fail("cannot start thread %d of %d: error %d", i, threads - 1, error);
    stop(pool, i);
    return NULL;
  }
  return pool;
}

void lathe_pool_destroy(struct lathe_pool* pool) { stop(pool, pool->threads); }
