/* Workers that share tasks; see pool.h. The caller writes one word, the job. Each worker has a part
   in it, but may be late: other programs use the processors, too. So whoever begins a part says so
   first, and those who have nothing else to do begin the parts of those who are late. On a quiet
   machine nobody is, and a job costs one atomic operation that is more than a load or a store, on a
   word that no other worker looks at. A worker that has no part in a job may overlook it: all it
   needs to know is in that word.

   Who waits looks again and again for a while, then sleeps. It never yields: that gives away a
   whole slice of time, and the slices of other programs are a thousand times longer than a job.
 */
#include "runtime/pool.h"

#include <stdatomic.h>

#include "runtime/error.h"
#include "runtime/libc.h"

/* Apart by so many bytes, two workers do not disturb each other: a line and its neighbour, which
   some processors fetch along. */
enum { apart = 128 };

/* How often a worker that waits looks again before it reads the clock and thinks of others who may
   be late; 64 looks take some 1 us. */
enum { first_looks = 64 };

/* How long a worker looks before it sleeps, in nanoseconds. To be woken takes some 10 us; to look
   for longer keeps other programs, or other models, from getting done. */
enum { patience = 100000 };

/* A job is its number, 40 bits, and the index of its task, 24 bits. */
enum { task_bits = 24 };
static const uint64_t quit = UINT64_MAX;

struct worker {
  /* What others look at only when this worker is late. */
  _Alignas(apart) _Atomic uint64_t begun; /* the last job whose part of this worker was begun */
  struct lathe_pool* pool;
  void* scratch;
  int index;
  pthread_t thread;
  /* What others look at all the time. */
  _Alignas(apart) _Atomic uint64_t done; /* the last job whose part of this worker was done */
  _Atomic(_Atomic uint64_t*) awaits;     /* asleep, or about to be, until this word changes */
  sem_t wake;
};

struct lathe_pool {
  _Alignas(apart) _Atomic uint64_t job;
  _Alignas(apart) const struct lathe_task* tasks;
  int threads;
  int used;    /* no task has more workers */
  int crowded; /* more workers than processors: who looks keeps others from working */
  struct worker workers[];
};

static void relax(void) {
#if defined(__x86_64__)
  __asm__ volatile("pause");
#elif defined(__aarch64__)
  __asm__ volatile("isb"); /* takes a while; "yield" does nothing on most processors */
#endif
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

/* Wakes a worker if it sleeps until this word changes, which it just did. */
static void wake(struct worker* worker, _Atomic uint64_t* word) {
  if (atomic_load(&worker->awaits) != word) return;
  atomic_store(&worker->awaits, NULL);
  sem_post(&worker->wake);
}

/* Sleeps until woken, unless the word has changed. Who changes the word does so first and then
   looks who awaits it, who sleeps does it the other way round: one of them notices. A post too many
   makes the worker look once more, no harm done. */
static void sleep_until_woken(struct worker* worker, _Atomic uint64_t* word, uint64_t seen) {
  atomic_store(&worker->awaits, word);
  if (atomic_load(word) == seen) {
    while (sem_wait(&worker->wake)) {
    } /* a signal came */
  }
  atomic_store(&worker->awaits, NULL);
}

static const struct lathe_task* task_of(const struct lathe_pool* pool, uint64_t job) {
  return &pool->tasks[job & ((1u << task_bits) - 1)];
}

static void do_part(const struct lathe_task* task, int64_t index, void* scratch) {
  int64_t from = index * task->each + (index < task->more ? index : task->more);
  int64_t to = from + task->each + (index < task->more);
  task->kernel(task->tensors, scratch, from, to);
}

/* Does the part of worker "whose", unless somebody has begun it. A job is not over while a part of
   it is not begun, so this never meddles with a later one. Who gets here has acquired the job, and
   the caller acquires "done": "begun" orders nothing. */
static void offer(struct worker* worker, struct worker* whose, uint64_t job) {
  uint64_t begun = atomic_load_explicit(&whose->begun, memory_order_relaxed);
  if (begun >= job || !atomic_compare_exchange_strong_explicit(
                          &whose->begun, &begun, job, memory_order_relaxed, memory_order_relaxed))
    return;
  do_part(task_of(worker->pool, job), whose->index, worker->scratch);
  atomic_store(&whose->done, job);
  wake(worker->pool->workers, &whose->done);
}

/* Does the parts of those who are late. */
static void help(struct worker* worker, uint64_t job) {
  struct worker* workers = worker->pool->workers;
  int count = task_of(worker->pool, job)->workers;
  for (int i = 1; i < count; ++i) offer(worker, &workers[i], job);
}

/* Returns when the word is no more what it was. Helps with the job before it waits for long. */
static uint64_t await(struct worker* worker, _Atomic uint64_t* word, uint64_t seen, uint64_t job) {
  struct lathe_pool* pool = worker->pool;
  int64_t since = 0;
  for (int looks = 0;; ++looks) {
    uint64_t now = atomic_load_explicit(word, memory_order_acquire);
    if (now != seen) return now;
    if (looks < first_looks && !pool->crowded) {
      relax();
    } else if (since == 0) {
      help(worker, job);
      since = nanoseconds();
    } else if (pool->crowded || nanoseconds() - since > patience) {
      sleep_until_woken(worker, word, seen);
      looks = 0;
      since = 0;
    }
  }
}

static void* work(void* argument) {
  struct worker* worker = argument;
  struct lathe_pool* pool = worker->pool;
  uint64_t job = 0;
  while ((job = await(worker, &pool->job, job, job)) != quit)
    if (worker->index < task_of(pool, job)->workers) offer(worker, worker, job);
  return NULL;
}

void lathe_pool_begin(struct lathe_pool* pool) {
  for (int i = 1; i < pool->used; ++i) wake(&pool->workers[i], &pool->job);
}

void lathe_pool_do(struct lathe_pool* pool, int32_t index) {
  const struct lathe_task* task = &pool->tasks[index];
  struct worker* workers = pool->workers;
  if (task->workers <= 1) {
    if (task->workers == 1) do_part(task, 0, workers->scratch);
    return;
  }
  uint64_t last = atomic_load_explicit(&pool->job, memory_order_relaxed);
  uint64_t job = ((last >> task_bits) + 1) << task_bits | (uint64_t)index;
  atomic_store(&pool->job, job);
  for (int i = 1; i < task->workers; ++i) wake(&workers[i], &pool->job);
  do_part(task, 0, workers->scratch);
  for (int i = 1; i < task->workers; ++i) {
    uint64_t done;
    while ((done = atomic_load_explicit(&workers[i].done, memory_order_acquire)) != job)
      await(workers, &workers[i].done, done, job);
  }
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
  pool->crowded = threads > processors;
  for (int32_t i = 0; i < count; ++i)
    if (tasks[i].workers > pool->used) pool->used = tasks[i].workers;

  int enough = 1;
  for (int i = 0; i < threads; ++i) {
    struct worker* worker = &pool->workers[i];
    worker->pool = pool;
    worker->index = i;
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
