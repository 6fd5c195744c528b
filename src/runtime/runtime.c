/* Models: a network whose tensors have addresses and whose steps have workers; see runtime.h. */
#include "runtime/runtime.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "runtime/error.h"
#include "runtime/gpu.h"
#include "runtime/libc.h"
#include "runtime/pool.h"

/* An address that every run sets anew: of an input or output, and so many bytes further. */
struct patch {
  void** slot;
  int32_t index;
  int64_t offset;
};

struct lathe_model {
  const struct lathe_network* network;
  int threads;
  int ready;            /* a run has set all addresses */
  sem_t turn;           /* 1 while nobody runs; glibc enters the kernel only to wait */
  char* arena;          /* null if empty */
  char* prepared;       /* null if empty */
  void** tensors;       /* the address of every place */
  struct patch* inputs; /* of places in inputs, then those in outputs */
  int32_t input_patches, output_patches;
  struct patch* outputs;
  struct lathe_task* tasks;
  struct lathe_pool* pool;
  void* elsewhere; /* the model of a machine that is not this processor; nothing above is used */
};

static _Thread_local char last_error[320];

int lathe_fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last_error, sizeof last_error, format, arguments);
  va_end(arguments);
  return -1;
}

const char* lathe_last_error(void) { return last_error; }

/* Arithmetic that not every processor of an architecture has. */
enum {
  EXTRA_F16 = 1,
  EXTRA_DOT = 2,
  EXTRA_I8MM = 4,
  EXTRA_BF16 = 8,
  EXTRA_BF16MM = 16,
  EXTRA_F16MM = 32
};

/* A target's name has parts: "aarch64+f16" has "aarch64" and "+f16". Returns the length of the
   first part of a name if it is this one, otherwise 0. */
static size_t first_part(const char* name, const char* part) {
  size_t length = 0;
  while (part[length] && part[length] == name[length]) ++length;
  return !part[length] && (!name[length] || name[length] == '+') ? length : 0;
}

#if defined(__x86_64__)
static const char architecture[] = "x86-64";

/* The highest x86-64-vN that processor and operating system are up to. */
static int level(void) {
  unsigned a, b, c, d, extended = 0, wide = 0, low, high;
  const unsigned v2 = bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT | bit_CMPXCHG16B;
  const unsigned v3 = bit_OSXSAVE | bit_AVX | bit_FMA | bit_F16C | bit_MOVBE;
  const unsigned v3_wide = bit_AVX2 | bit_BMI | bit_BMI2;
  const unsigned v4_wide = bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL;
  const unsigned v3_saved = 0x06, v4_saved = 0xe6; /* registers that a switch of threads keeps */
  unsigned basic = 0;
  if (__get_cpuid(1, &a, &b, &c, &d)) basic = c;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) wide = b;
  if (__get_cpuid(0x80000001, &a, &b, &c, &d)) extended = c;
  if ((basic & v2) != v2) return 1;
  if ((basic & v3) != v3 || (wide & v3_wide) != v3_wide || !(extended & bit_LZCNT)) return 2;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & v3_saved) != v3_saved) return 2;
  return (wide & v4_wide) == v4_wide && (low & v4_saved) == v4_saved ? 4 : 3;
}

/* Whether the kernel lets this process use the registers of AMX. It must be asked. */
static int may_use_panels(void) {
  const long arch_prctl = 158, ask_for_state = 0x1023, state_of_tiles = 18;
  return syscall(arch_prctl, ask_for_state, state_of_tiles) == 0;
}

/* The extras that the processor has. Those of AVX-512 need the registers of x86-64-v4. */
static unsigned extras(void) {
  unsigned a = 0, b, c = 0, d = 0, found = 0, narrow = 0;
  const unsigned vnni = 1u << 11, fp16 = 1u << 23, bf16 = 1u << 5;
  const unsigned panels = 1u << 24, of_bytes = 1u << 25, of_bf16 = 1u << 22, of_f16 = 1u << 21;
  if (level() < 4 || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
  const unsigned wide = d, has_panels = d & panels && may_use_panels();
  if (wide & fp16) found |= EXTRA_F16;
  if (c & vnni) found |= EXTRA_DOT;
  if (has_panels && wide & of_bytes) found |= EXTRA_I8MM;
  if (has_panels && wide & of_bf16) found |= EXTRA_BF16MM;
  if (a < 1 || !__get_cpuid_count(7, 1, &narrow, &b, &c, &d)) return found;
  if (narrow & bf16) found |= EXTRA_BF16;
  if (has_panels && narrow & of_f16) found |= EXTRA_F16MM;
  return found;
}
#elif defined(__aarch64__)
static const char architecture[] = "aarch64";
static int level(void) { return 1; }

/* The extras that the processor has, as the kernel tells. */
static unsigned extras(void) {
  const unsigned long asimdhp = 1 << 10, asimddp = 1 << 20, i8mm = 1 << 13, bf16 = 1 << 14;
  unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
  return (first & asimdhp ? EXTRA_F16 : 0) | (first & asimddp ? EXTRA_DOT : 0) |
         (second & i8mm ? EXTRA_I8MM : 0) | (second & bf16 ? EXTRA_BF16 : 0);
}
#else
#error "the runtime knows x86-64 and AArch64"
#endif

/* Whether the processor has the extras behind a target's name: "+f16+dot". */
static int check_extras(const char* target, const char* names) {
  static const struct {
    const char *name, *arithmetic;
    unsigned bit;
  } known[] = {
      {"+f16", "arithmetic on f16", EXTRA_F16},
      {"+dot", "products of 8-bit integers", EXTRA_DOT},
      {"+i8mm", "matrix products of 8-bit integers", EXTRA_I8MM},
      {"+bf16", "products of bf16", EXTRA_BF16},
      {"+bf16mm", "matrix products of bf16", EXTRA_BF16MM},
      {"+f16mm", "matrix products of f16", EXTRA_F16MM},
  };
  while (*names) {
    size_t i = 0, count = sizeof known / sizeof *known;
    while (i < count && !first_part(names, known[i].name)) ++i;
    if (i == count)
      return lathe_fail("compiled for \"%.64s\", which this runtime does not know", target);
    if (!(extras() & known[i].bit))
      return lathe_fail("compiled for %.64s, but this processor lacks %s: %s", target,
                        known[i].name + 1, known[i].arithmetic);
    names += first_part(names, known[i].name);
  }
  return 0;
}

static int check_target(const char* target) {
  static const struct {
    const char *name, *architecture;
    int level;
    const char* needs;
  } known[] = {
      {"aarch64", "aarch64", 1, ""},
      {"x86-64", "x86-64", 1, ""},
      {"x86-64-v2", "x86-64", 2, "SSE4.2"},
      {"x86-64-v3", "x86-64", 3, "AVX2, FMA, F16C, BMI2 and LZCNT"},
      {"x86-64-v4", "x86-64", 4, "AVX-512 F, BW, CD, DQ and VL"},
  };
  if (!target || !*target || !strcmp(target, "native")) return 0;
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    size_t length = first_part(target, known[i].name);
    if (!length) continue;
    if (strcmp(architecture, known[i].architecture))
      return lathe_fail("compiled for %s, but this is %s", target, architecture);
    if (level() < known[i].level)
      return lathe_fail("compiled for %s, but processor or operating system lack some of %s",
                        target, known[i].needs);
    return check_extras(target, target + length);
  }
  return lathe_fail("compiled for \"%.64s\", which this runtime does not know", target);
}

/* Whether a step needs what only a run gives. */
static int needs_run(const struct lathe_network* network, const struct lathe_step* step) {
  for (int32_t i = step->first; i < step->first + step->tensors; ++i) {
    int32_t where = network->place[i].where;
    if (where == LATHE_INPUT || where == LATHE_OUTPUT) return 1;
  }
  return 0;
}

/* Whether all steps and places are within what the network has. */
static int check_network(const struct lathe_network* network) {
  if (network->arena_bytes < 0 || network->scratch_bytes < 0 || network->steps < 0 ||
      network->steps > LATHE_MOST_TASKS || network->places < 0 || network->prepared_bytes < 0 ||
      network->first_step < 0 || network->first_step > network->steps)
    return lathe_fail("damaged network: sizes out of range");
  for (int32_t i = 0; i < network->steps; ++i) {
    const struct lathe_step* step = &network->step[i];
    if ((!step->kernel && !network->machine) || step->first < 0 || step->tensors < 0 || step->count < 0 ||
        step->tensors > network->places - step->first ||
        (i < network->first_step && needs_run(network, step)))
      return lathe_fail("damaged network: step %d", i);
  }
  for (int32_t i = 0; i < network->places; ++i) {
    const struct lathe_place* place = &network->place[i];
    int32_t among = place->where == LATHE_INPUT    ? network->inputs
                    : place->where == LATHE_OUTPUT ? network->outputs
                                                   : INT32_MAX;
    if (place->where < LATHE_ARENA || place->where > LATHE_PREPARED || place->offset < 0 ||
        place->index < 0 || place->index >= among ||
        (place->where == LATHE_ARENA && place->offset > network->arena_bytes) ||
        (place->where == LATHE_PREPARED && place->offset > network->prepared_bytes) ||
        (place->where == LATHE_WEIGHTS && !network->weights && !network->machine))
      return lathe_fail("damaged network: place %d", i);
  }
  return 0;
}

/* How many processors this process may use. */
static int processors(void) {
  unsigned char set[1024] = {0};
  int count = 0;
  if (sched_getaffinity(0, sizeof set, set) < 0) return 1;
  for (size_t i = 0; i < sizeof set; ++i)
    for (unsigned bits = set[i]; bits; bits &= bits - 1) ++count;
  return count > 0 ? count : 1;
}

/* Allocates memory that begins with zeros; none if no bytes are wanted. */
static int reserve(char** memory, int64_t bytes, const char* what) {
  if (bytes == 0) return 0;
  size_t size = ((size_t)bytes + 63) / 64 * 64;
  *memory = aligned_alloc(64, size);
  if (!*memory) return lathe_fail("no memory for %s of %lld bytes", what, (long long)bytes);
  memset(*memory, 0, size);
  return 0;
}

static int allocate(struct lathe_model* model) {
  const struct lathe_network* network = model->network;
  size_t places = (size_t)network->places, steps = (size_t)network->steps;
  model->tensors = calloc(places + 1, sizeof *model->tensors);
  model->inputs = calloc(places + 1, sizeof *model->inputs);
  model->outputs = calloc(places + 1, sizeof *model->outputs);
  model->tasks = calloc(steps + 1, sizeof *model->tasks);
  if (!model->tensors || !model->inputs || !model->outputs || !model->tasks)
    return lathe_fail("no memory for %d steps", network->steps);
  return reserve(&model->arena, network->arena_bytes, "an arena") ||
         reserve(&model->prepared, network->prepared_bytes, "prepared weights");
}

/* Sets the addresses that stay, notes the others, and deals out the iterations of each step. */
static void resolve(struct lathe_model* model) {
  const struct lathe_network* network = model->network;
  for (int32_t i = 0; i < network->places; ++i) {
    const struct lathe_place* place = &network->place[i];
    struct patch patch = {&model->tensors[i], place->index, place->offset};
    if (place->where == LATHE_INPUT)
      model->inputs[model->input_patches++] = patch;
    else if (place->where == LATHE_OUTPUT)
      model->outputs[model->output_patches++] = patch;
    else if (place->where == LATHE_WEIGHTS)
      model->tensors[i] = (char*)network->weights + place->offset;
    else if (place->where == LATHE_PREPARED)
      model->tensors[i] = model->prepared ? model->prepared + place->offset : NULL;
    else
      model->tensors[i] = model->arena ? model->arena + place->offset : NULL;
  }
  for (int32_t i = 0; i < network->steps; ++i) {
    const struct lathe_step* step = &network->step[i];
    model->tasks[i].kernel = step->kernel;
    model->tasks[i].tensors = model->tensors + step->first;
    lathe_task_split(&model->tasks[i], step->count, model->threads);
  }
}

static void run_steps(struct lathe_model* model, int32_t first, int32_t end) {
  lathe_pool_begin(model->pool);
  for (int32_t i = first; i < end; ++i) lathe_pool_do(model->pool, i);
}

struct lathe_model* lathe_model_create(const struct lathe_network* network, int threads) {
  if (!network) {
    lathe_fail("no network");
    return NULL;
  }
  if (network->version != LATHE_RUNTIME_VERSION) {
    lathe_fail("the network is of version %d, the runtime of version %d", network->version,
               LATHE_RUNTIME_VERSION);
    return NULL;
  }
  if ((!network->machine && check_target(network->target)) || check_network(network)) return NULL;
  int available = processors();
  if (threads == 0) threads = available < LATHE_MOST_THREADS ? available : LATHE_MOST_THREADS;
  if (threads < 0 || threads > LATHE_MOST_THREADS) {
    lathe_fail("%d threads: must be 0 to %d", threads, LATHE_MOST_THREADS);
    return NULL;
  }
  struct lathe_model* model = calloc(1, sizeof *model);
  if (!model) {
    lathe_fail("no memory for a model");
    return NULL;
  }
  model->network = network;
  model->threads = network->machine ? 1 : threads;
  sem_init(&model->turn, 0, 1);
  if (network->machine) {
    if (network->machine->create(network, &model->elsewhere) == 0) return model;
  } else if (allocate(model) == 0) {
    resolve(model);
    model->pool =
        lathe_pool_create(threads, available, model->tasks, network->steps, network->scratch_bytes);
  }
  if (model->pool) {
    run_steps(model, 0, (int32_t)network->first_step);
    return model;
  }
  lathe_model_destroy(model);
  return NULL;
}

void lathe_model_destroy(struct lathe_model* model) {
  if (!model) return;
  if (model->elsewhere) model->network->machine->destroy(model->elsewhere);
  if (model->pool) lathe_pool_destroy(model->pool);
  sem_destroy(&model->turn);
  free(model->arena);
  free(model->prepared);
  free(model->tensors);
  free(model->inputs);
  free(model->outputs);
  free(model->tasks);
  free(model);
}

/* Whether there is an address for each; an empty tensor needs none. */
static int check_addresses(const char* kind, const struct lathe_face* faces, int32_t count,
                           const void* const* addresses) {
  if (!addresses && count > 0) return lathe_fail("no %ss given", kind);
  for (int32_t i = 0; i < count; ++i)
    if (!addresses[i] && faces[i].bytes > 0)
      return lathe_fail("%s %d, \"%s\", is null", kind, i, faces[i].name ? faces[i].name : "");
  return 0;
}

static void take_turn(struct lathe_model* model) {
  while (sem_wait(&model->turn)) {
  } /* a signal came */
}

int lathe_model_prepare(struct lathe_model* model) {
  if (!model) return lathe_fail("no model");
  int broken = 0;
  take_turn(model);
  if (model->elsewhere)
    broken = model->network->machine->prepare(model->elsewhere);
  else
    run_steps(model, 0, (int32_t)model->network->first_step);
  sem_post(&model->turn);
  return broken;
}

/* Sets the addresses of inputs and outputs, and runs all steps on this processor. */
static void run_here(struct lathe_model* model, const void* const* inputs, void* const* outputs) {
  for (int32_t i = 0; i < model->input_patches; ++i) {
    const struct patch* patch = &model->inputs[i];
    *patch->slot = (char*)inputs[patch->index] + patch->offset;
  }
  for (int32_t i = 0; i < model->output_patches; ++i) {
    const struct patch* patch = &model->outputs[i];
    *patch->slot = (char*)outputs[patch->index] + patch->offset;
  }
  model->ready = 1;
  run_steps(model, (int32_t)model->network->first_step, model->network->steps);
}

int lathe_model_run(struct lathe_model* model, const void* const* inputs, void* const* outputs) {
  if (!model) return lathe_fail("no model");
  const struct lathe_network* network = model->network;
  if (check_addresses("input", network->input, network->inputs, inputs) ||
      check_addresses("output", network->output, network->outputs, (const void* const*)outputs))
    return -1;
  int broken = 0;
  take_turn(model);
  if (model->elsewhere)
    broken = network->machine->run(model->elsewhere, inputs, outputs);
  else
    run_here(model, inputs, outputs);
  sem_post(&model->turn);
  return broken;
}

int lathe_model_run_step(struct lathe_model* model, int32_t step) {
  if (!model) return lathe_fail("no model");
  if (step < 0 || step >= model->network->steps)
    return lathe_fail("step %d: the network has %d", step, model->network->steps);
  int broken = 0;
  take_turn(model);
  if (model->elsewhere)
    broken = model->network->machine->run_step(model->elsewhere, step);
  else if (model->ready || model->input_patches + model->output_patches == 0)
    run_steps(model, step, step + 1);
  else
    broken = lathe_fail("step %d: no run has set the inputs and outputs yet", step);
  sem_post(&model->turn);
  return broken;
}

int lathe_model_repeat(struct lathe_model* model, int32_t times, double* seconds) {
  if (!model) return lathe_fail("no model");
  int broken = 0;
  take_turn(model);
  if (model->elsewhere) {
    broken = model->network->machine->repeat(model->elsewhere, times, seconds);
  } else if (!model->ready) {
    broken = lathe_fail("no run has set the inputs and outputs yet");
  } else {
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int32_t i = 0; i < times; ++i)
      run_steps(model, (int32_t)model->network->first_step, model->network->steps);
    clock_gettime(CLOCK_MONOTONIC, &to);
    *seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
  }
  sem_post(&model->turn);
  return broken;
}

int lathe_model_threads(const struct lathe_model* model) { return model->threads; }
