/* Networks on GPUs: what a driver can do, and models that it runs. cuda.c and opencl.c are drivers;
   they load the system's library when they are first asked, so that nothing needs it to be there.

   Functions return 0, or -1 with an error. */
#ifndef LATHE_RUNTIME_GPU_H
#define LATHE_RUNTIME_GPU_H

#include <stddef.h>

#include "runtime/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a device is. */
struct lathe_device {
  char model[128]; /* what it calls itself */
  int32_t version; /* of CUDA's instructions: 90 is sm_90; otherwise 0 */
  int32_t multiprocessors, most_threads;
  int64_t shared_bytes; /* of a block */
  /* A processor runs the threads of a block one after the other, and each may use vectors of so
     many bytes. 0: they run together, as on a GPU. */
  int32_t vector_bytes;
};

/* Where a tensor begins on a device. */
struct lathe_slot {
  uint64_t memory;
  int64_t offset;
};

/* One run of a kernel. */
struct lathe_call {
  void* kernel;
  int32_t blocks[3], threads[3];
  const struct lathe_slot* tensors;
  int32_t count; /* of tensors */
};

/* A device that was opened is a "gpu"; what that is, the driver knows. Calls of one gpu's functions
   take turns. What is launched runs in order; reading waits for it. */
struct lathe_driver {
  /* How many devices there are; -1 with an error if that cannot be told. */
  int (*count)(void);
  int (*describe)(int device, struct lathe_device* about);
  int (*open)(int device, void** gpu);
  void (*close)(void* gpu);

  int (*load)(void* gpu, const struct lathe_module* module);
  /* Whoever launches a kernel on other tensors in the same sequence finds it once more. */
  int (*find)(void* gpu, const char* symbol, void** kernel);

  /* Memory begins with zeros. */
  int (*allocate)(void* gpu, int64_t bytes, uint64_t* memory);
  void (*release)(void* gpu, uint64_t memory);
  int (*write)(void* gpu, struct lathe_slot to, const void* bytes, int64_t count);
  int (*read)(void* gpu, struct lathe_slot from, void* bytes, int64_t count);

  int (*launch)(void* gpu, const struct lathe_call* call);
  int (*wait)(void* gpu);
  /* The seconds that passed between the two calls, of which all that was launched had ended. */
  int (*start_clock)(void* gpu);
  int (*stop_clock)(void* gpu, double* seconds);

  /* A sequence of calls that is launched as one. Null where the driver has no such thing. */
  int (*record)(void* gpu, const struct lathe_call* calls, int32_t count, void** sequence);
  int (*replay)(void* gpu, void* sequence);
  void (*forget)(void* gpu, void* sequence);
};

/* What runs networks that are not for this processor: a model's functions, and their driver. */
struct lathe_machine {
  const struct lathe_driver* driver;
  int (*create)(const struct lathe_network* network, void** model);
  void (*destroy)(void* model);
  int (*prepare)(void* model);
  int (*run)(void* model, const void* const* inputs, void* const* outputs);
  int (*run_step)(void* model, int32_t step);
  /* Runs the whole network again on the inputs of the last run, "times" times; the seconds that all
     that took on the device. */
  int (*repeat)(void* model, int32_t times, double* seconds);
};

extern const struct lathe_machine lathe_cuda;
extern const struct lathe_machine lathe_opencl;

/* A function of a driver's library, and the pointer that it is called through. */
struct lathe_function {
  const char* name;
  void* to;
};

/* Sets the pointers of so many functions. "whose" is what lacks those that are not found. */
int lathe_find_functions(void* library, const char* whose, const struct lathe_function* functions,
                         size_t count);

/* Makes a model on a gpu of the network's driver that is open already, and has loaded kernels. */
int lathe_gpu_create_on(void* gpu, const struct lathe_network* network, void** model);

/* The functions of a model, for every driver. */
int lathe_gpu_create(const struct lathe_network* network, void** model);
void lathe_gpu_destroy(void* model);
int lathe_gpu_prepare(void* model);
int lathe_gpu_run(void* model, const void* const* inputs, void* const* outputs);
int lathe_gpu_run_step(void* model, int32_t step);
int lathe_gpu_repeat(void* model, int32_t times, double* seconds);

#define LATHE_GPU_MODEL                                                                      \
  lathe_gpu_create, lathe_gpu_destroy, lathe_gpu_prepare, lathe_gpu_run, lathe_gpu_run_step, \
      lathe_gpu_repeat

#ifdef __cplusplus
}
#endif
#endif
