/* What a compiled network is while it runs: kernels in sequence over tensors in one arena, and the
   workers that share them. Plain C without dependencies beyond libc and pthread: the same source
   runs inside Lathe and is part of every library that Lathe compiles. */
#ifndef LATHE_RUNTIME_H
#define LATHE_RUNTIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows with every change of the structures below. */
#define LATHE_RUNTIME_VERSION 4

/* A compiled nest: runs the iterations from..to-1 of its outermost parallel loop on these tensors.
   "scratch" is memory of this worker alone, null if the network needs none. */
typedef void (*lathe_kernel)(void* const* tensors, void* scratch, int64_t from, int64_t to);

/* Where a tensor of a step begins: so many bytes into one of these. */
enum lathe_where {
  LATHE_ARENA,
  LATHE_WEIGHTS,
  LATHE_INPUT,
  LATHE_OUTPUT,
  LATHE_PREPARED /* what the first steps make of the weights */
};
struct lathe_place {
  int32_t where; /* enum lathe_where */
  int32_t index; /* of the input or output */
  int64_t offset;
};

/* One call of a kernel; workers share its iterations. */
struct lathe_step {
  lathe_kernel kernel; /* null on a GPU */
  int32_t first;       /* its tensors are places[first .. first+tensors-1] */
  int32_t tensors;
  int64_t count; /* iterations of the parallel loop; 1: one worker does it all */
};

/* A step of a GPU: the name of the kernel, and how many blocks run it of how many threads, along x,
   y and z. */
struct lathe_launch {
  const char* kernel;
  int32_t blocks[3];
  int32_t threads[3];
};

/* Kernels of a GPU, as its driver takes them. */
struct lathe_module {
  const char* code; /* a text: a zero follows */
  int64_t bytes;
};

/* What a caller sees of an input or output. */
struct lathe_face {
  const char* name;
  const char* element; /* "f32", "i64", ... */
  int32_t rank;
  const int64_t* shape;
  int64_t bytes;
};

struct lathe_network {
  int32_t version; /* LATHE_RUNTIME_VERSION */
  const char* name;
  /* What the processor must be able to do: "aarch64", "x86-64-v4", ..., and any of the extras
     "+f16", "+dot", "+i8mm" and "+bf16" behind. */
  const char* target;
  int32_t steps, places, inputs, outputs;
  const struct lathe_step* step;
  const struct lathe_place* place;
  const struct lathe_face* input;
  const struct lathe_face* output;
  const void* weights; /* aligned to 64 bytes; null on a GPU: made up, for measuring */
  int64_t arena_bytes;
  int64_t scratch_bytes; /* of one worker */
  int64_t prepared_bytes;
  int64_t first_step;               /* the steps before this one run once, when a model is made */
  const struct lathe_network* next; /* the same network for inputs of other shapes; null: none */
  const struct lathe_machine* machine; /* gpu.h; null: this processor, and the rest is empty */
  const struct lathe_launch* launch;   /* one for each step */
  const struct lathe_module* module;
  int64_t modules;
  int64_t weight_bytes;
};

struct lathe_model;

/* Makes a network ready to run with "threads" workers, the caller being one of them; 1: no other
   thread is started, 0: one for each processor that this process may use. A GPU needs none. Returns
   null on failure; lathe_last_error() says why. The network must outlive the model. After a fork(),
   the child has none of the workers: it must make models of its own. */
struct lathe_model* lathe_model_create(const struct lathe_network* network, int threads);
void lathe_model_destroy(struct lathe_model* model);

/* Runs the first steps again, after the weights of the network changed. Returns 0, or -1 with an
   error. */
int lathe_model_prepare(struct lathe_model* model);

/* Reads inputs[i], writes outputs[i], each dense and row-major. Returns 0, or -1 with an error. May
   be called from several threads: calls on one model take turns. Allocates nothing. */
int lathe_model_run(struct lathe_model* model, const void* const* inputs, void* const* outputs);

/* Runs one step alone, on the tensors of the last run. It is for measuring, and may be called any
   number of times. */
int lathe_model_run_step(struct lathe_model* model, int32_t step);

/* Runs the network "times" times more on the tensors of the last run, and says how many seconds
   that took: without copies between host and device. */
int lathe_model_repeat(struct lathe_model* model, int32_t times, double* seconds);

int lathe_model_threads(const struct lathe_model* model);

/* Says what went wrong last in this thread; "" if nothing did. */
const char* lathe_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
