/* OpenCL as gpu.h wants it. Kernels are OpenCL C, which the driver compiles for the device that is
   there: all that is new at once, when a kernel is first looked for, as each call of its compiler
   costs tens of milliseconds. */
#include "runtime/error.h"
#include "runtime/gpu.h"
#include "runtime/libc.h"
#include "runtime/timing.h"

/* The types and numbers of the standard's header that are used here, under names of our own. */
typedef void *platform, *device, *context, *queue, *buffer, *program, *kernel, *event;
enum {
  SUCCESS = 0,
  OUT_OF_MEMORY = -4,
  OUT_OF_RESOURCES = -5,
  OUT_OF_HOST_MEMORY = -6,
  BUILD_FAILED = -11,
  WRONG_GROUP = -54,
  DEVICE_KIND = 0x1000, /* what can be asked */
  COMPUTE_UNITS = 0x1002,
  MOST_THREADS = 0x1004,
  LOCAL_BYTES = 0x1023,
  DEVICE_NAME = 0x102B,
  LANES_OF_FLOAT = 0x103A,
  BUILD_LOG = 0x1183,
  READ_AND_WRITE = 1,
};
/* Kinds of devices, those first that are the fastest, most of the time: GPUs, accelerators, CPUs. */
enum { A_CPU = 2 };
static const uint64_t kinds_of_devices[] = {4, 8, A_CPU};

static struct {
  int (*platforms)(uint32_t most, platform* list, uint32_t* count);
  int (*devices)(platform of, uint64_t kind, uint32_t most, device* list, uint32_t* count);
  int (*device_info)(device of, uint32_t what, size_t size, void* value, size_t* needed);
  context (*context_create)(const void* properties, uint32_t count, const device* list, void* notify,
                            void* data, int* code);
  int (*context_release)(context which);
  queue (*queue_create)(context in, device on, uint64_t flags, int* code);
  int (*queue_release)(queue which);
  buffer (*buffer_create)(context in, uint64_t flags, size_t bytes, void* host, int* code);
  int (*buffer_release)(buffer which);
  int (*write)(queue on, buffer to, uint32_t wait, size_t offset, size_t bytes, const void* from,
               uint32_t count, const event* after, event* done);
  int (*read)(queue on, buffer from, uint32_t wait, size_t offset, size_t bytes, void* to,
              uint32_t count, const event* after, event* done);
  int (*fill)(queue on, buffer which, const void* pattern, size_t size, size_t offset, size_t bytes,
              uint32_t count, const event* after, event* done);
  program (*program_create)(context in, uint32_t count, const char** texts, const size_t* sizes,
                            int* code);
  int (*program_build)(program which, uint32_t count, const device* list, const char* options,
                       void* notify, void* data);
  int (*program_info)(program of, device on, uint32_t what, size_t size, void* value,
                      size_t* needed);
  int (*program_release)(program which);
  kernel (*kernel_create)(program in, const char* name, int* code);
  int (*kernel_release)(kernel which);
  int (*kernel_argument)(kernel of, uint32_t index, size_t size, const void* value);
  int (*launch)(queue on, kernel which, uint32_t rank, const size_t* from, const size_t* all,
                const size_t* block, uint32_t count, const event* after, event* done);
  int (*finish)(queue which);
} opencl;

static const struct lathe_function functions[] = {
    {"clGetPlatformIDs", &opencl.platforms},
    {"clGetDeviceIDs", &opencl.devices},
    {"clGetDeviceInfo", &opencl.device_info},
    {"clCreateContext", &opencl.context_create},
    {"clReleaseContext", &opencl.context_release},
    {"clCreateCommandQueue", &opencl.queue_create},
    {"clReleaseCommandQueue", &opencl.queue_release},
    {"clCreateBuffer", &opencl.buffer_create},
    {"clReleaseMemObject", &opencl.buffer_release},
    {"clEnqueueWriteBuffer", &opencl.write},
    {"clEnqueueReadBuffer", &opencl.read},
    {"clEnqueueFillBuffer", &opencl.fill},
    {"clCreateProgramWithSource", &opencl.program_create},
    {"clBuildProgram", &opencl.program_build},
    {"clGetProgramBuildInfo", &opencl.program_info},
    {"clReleaseProgram", &opencl.program_release},
    {"clCreateKernel", &opencl.kernel_create},
    {"clReleaseKernel", &opencl.kernel_release},
    {"clSetKernelArg", &opencl.kernel_argument},
    {"clEnqueueNDRangeKernel", &opencl.launch},
    {"clFinish", &opencl.finish},
};

enum { MOST_DEVICES = 16 };

/* Grows by doubling. */
struct list {
  void** items;
  size_t count, room;
};

struct gpu {
  device device;
  context context;
  queue queue;
  struct list waiting; /* texts that are not built yet: copies */
  struct list programs, kernels;
  double began; /* when the clock was started */
};

static int add(struct list* to, void* item) {
  if (to->count == to->room) {
    size_t room = to->room ? 2 * to->room : 16;
    void** items = calloc(room, sizeof *items);
    if (!items) return lathe_fail("no memory for a list of %zu", room);
    if (to->count) memcpy(items, to->items, to->count * sizeof *items);
    free(to->items);
    to->items = items;
    to->room = room;
  }
  to->items[to->count++] = item;
  return 0;
}

static int failed(const char* doing, int code) {
  switch (code) {
    case SUCCESS:
      return 0;
    case OUT_OF_MEMORY:
    case OUT_OF_HOST_MEMORY:
      return lathe_fail("OpenCL: %s: out of memory", doing);
    case OUT_OF_RESOURCES:
      return lathe_fail(
          "OpenCL: %s: out of resources: the kernel needs too much, or the device is lost", doing);
    case WRONG_GROUP:
      return lathe_fail(
          "OpenCL: %s: the blocks are larger than the device allows for this kernel", doing);
    default:
      return lathe_fail("OpenCL: %s: error %d", doing, code);
  }
}

/* Loads libOpenCL, once. Two threads may do it at a time: they find the same. */
static int find_driver(void) {
  static int ready;
  if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) return 0;
  /* PoCL 3.1 writes the code of small blocks out, thread by thread, and ends the process if it
     cannot do so with the barriers of a kernel. Loops over threads it can always make. */
  setenv("POCL_WORK_GROUP_METHOD", "loops", 0);
  void* library = dlopen("libOpenCL.so.1", RTLD_NOW);
  if (!library) library = dlopen("libOpenCL.so", RTLD_NOW);
  if (!library)
    return lathe_fail(
        "there is no OpenCL library (libOpenCL.so.1) on this computer; install a driver, or PoCL");
  if (lathe_find_functions(library, "the OpenCL library", functions,
                           sizeof functions / sizeof *functions))
    return -1;
  __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
  return 0;
}

/* Lists the devices of all platforms, so many at most. Returns how many there are, or -1. */
static int list_devices(device* list) {
  platform platforms[MOST_DEVICES];
  uint32_t count = 0, found = 0;
  int total = 0;
  if (find_driver()) return -1;
  if (opencl.platforms(MOST_DEVICES, platforms, &count) != SUCCESS) return 0;
  if (count > MOST_DEVICES) count = MOST_DEVICES;
  for (uint32_t i = 0; i < count * sizeof kinds_of_devices / sizeof *kinds_of_devices; ++i) {
    uint32_t most = (uint32_t)(MOST_DEVICES - total);
    uint64_t kind = kinds_of_devices[i / count];
    if (!most || opencl.devices(platforms[i % count], kind, most, list + total, &found) != SUCCESS)
      continue;
    total += (int)(found < most ? found : most);
  }
  return total;
}

static int count_devices(void) {
  device list[MOST_DEVICES];
  return list_devices(list);
}

static int find_device(int number, device* found) {
  device list[MOST_DEVICES];
  int count = list_devices(list);
  if (count < 0) return -1;
  if (count == 0) return lathe_fail("OpenCL finds no device on this computer");
  if (number >= count)
    return lathe_fail("OpenCL finds %d devices on this computer; there is no device %d", count,
                      number);
  *found = list[number];
  return 0;
}

static int describe(int number, struct lathe_device* about) {
  device device;
  uint32_t units = 0, lanes = 0;
  size_t threads = 0;
  uint64_t local = 0, kind = 0;
  if (find_device(number, &device)) return -1;
  opencl.device_info(device, DEVICE_KIND, sizeof kind, &kind, NULL);
  if (kind & A_CPU) opencl.device_info(device, LANES_OF_FLOAT, sizeof lanes, &lanes, NULL);
  opencl.device_info(device, COMPUTE_UNITS, sizeof units, &units, NULL);
  opencl.device_info(device, MOST_THREADS, sizeof threads, &threads, NULL);
  opencl.device_info(device, LOCAL_BYTES, sizeof local, &local, NULL);
  about->model[0] = 0;
  opencl.device_info(device, DEVICE_NAME, sizeof about->model - 1, about->model, NULL);
  about->model[sizeof about->model - 1] = 0;
  about->version = 0;
  about->multiprocessors = (int32_t)units;
  about->most_threads = (int32_t)threads;
  about->shared_bytes = (int64_t)local;
  about->vector_bytes = (int32_t)(lanes * sizeof(float));
  return 0;
}

static void close_gpu(void* made) {
  struct gpu* gpu = made;
  for (size_t i = 0; i < gpu->waiting.count; ++i) free(gpu->waiting.items[i]);
  for (size_t i = 0; i < gpu->kernels.count; ++i) opencl.kernel_release(gpu->kernels.items[i]);
  for (size_t i = 0; i < gpu->programs.count; ++i) opencl.program_release(gpu->programs.items[i]);
  free(gpu->waiting.items);
  free(gpu->kernels.items);
  free(gpu->programs.items);
  if (gpu->queue) opencl.queue_release(gpu->queue);
  if (gpu->context) opencl.context_release(gpu->context);
  free(gpu);
}

static int open_gpu(int number, void** made) {
  int code = SUCCESS;
  struct gpu* gpu = calloc(1, sizeof *gpu);
  if (!gpu) return lathe_fail("no memory for a device");
  if (find_device(number, &gpu->device) == 0) {
    gpu->context = opencl.context_create(NULL, 1, &gpu->device, NULL, NULL, &code);
    if (failed("connecting to the device", code) == 0) {
      gpu->queue = opencl.queue_create(gpu->context, gpu->device, 0, &code);
      if (failed("making a queue", code) == 0) {
        *made = gpu;
        return 0;
      }
    }
  }
  close_gpu(gpu);
  return -1;
}

static int load(void* made, const struct lathe_module* module) {
  struct gpu* gpu = made;
  char* text = calloc((size_t)module->bytes + 1, 1);
  if (!text) return lathe_fail("no memory for kernels");
  memcpy(text, module->code, (size_t)module->bytes);
  if (add(&gpu->waiting, text) == 0) return 0;
  free(text);
  return -1;
}

static int build_waiting(struct gpu* gpu) {
  int code = SUCCESS;
  if (gpu->waiting.count == 0) return 0;
  program program = opencl.program_create(gpu->context, (uint32_t)gpu->waiting.count,
                                          (const char**)gpu->waiting.items, NULL, &code);
  for (size_t i = 0; i < gpu->waiting.count; ++i) free(gpu->waiting.items[i]);
  gpu->waiting.count = 0;
  if (failed("taking kernels", code)) return -1;
  if (add(&gpu->programs, program)) {
    opencl.program_release(program);
    return -1;
  }
  code = opencl.program_build(program, 1, &gpu->device, "-cl-std=CL1.2", NULL, NULL);
  if (code == BUILD_FAILED) {
    char log[4096] = "";
    opencl.program_info(program, gpu->device, BUILD_LOG, sizeof log - 1, log, NULL);
    return lathe_fail("OpenCL: a kernel was not built: %.260s", log);
  }
  return failed("building kernels", code);
}

static int find(void* made, const char* symbol, void** found) {
  struct gpu* gpu = made;
  int code = SUCCESS;
  if (build_waiting(gpu)) return -1;
  for (size_t i = gpu->programs.count; i-- > 0;) {
    *found = opencl.kernel_create(gpu->programs.items[i], symbol, &code);
    if (code != SUCCESS) continue;
    if (add(&gpu->kernels, *found) == 0) return 0;
    opencl.kernel_release(*found);
    return -1;
  }
  return lathe_fail("OpenCL: no kernel \"%.160s\" was loaded", symbol);
}

static int allocate(void* made, int64_t bytes, uint64_t* memory) {
  struct gpu* gpu = made;
  const uint32_t zero = 0;
  size_t whole = bytes > 4 ? ((size_t)bytes + 3) / 4 * 4 : 4;
  int code = SUCCESS;
  buffer buffer = opencl.buffer_create(gpu->context, READ_AND_WRITE, whole, NULL, &code);
  char doing[64];
  snprintf(doing, sizeof doing, "allocating %lld bytes", (long long)bytes);
  if (failed(doing, code)) return -1;
  *memory = (uint64_t)(uintptr_t)buffer;
  code = opencl.fill(gpu->queue, buffer, &zero, sizeof zero, 0, whole, 0, NULL, NULL);
  if (code == SUCCESS) code = opencl.finish(gpu->queue);
  return failed(doing, code);
}

static buffer buffer_of(struct lathe_slot slot) { return (void*)(uintptr_t)slot.memory; }

static void release(void* made, uint64_t memory) {
  (void)made;
  opencl.buffer_release((void*)(uintptr_t)memory);
}

static int write_bytes(void* made, struct lathe_slot to, const void* bytes, int64_t count) {
  struct gpu* gpu = made;
  if (count == 0) return 0;
  return failed("copying to the device",
                opencl.write(gpu->queue, buffer_of(to), 1, (size_t)to.offset, (size_t)count, bytes,
                             0, NULL, NULL));
}

static int read_bytes(void* made, struct lathe_slot from, void* bytes, int64_t count) {
  struct gpu* gpu = made;
  if (count == 0) return 0;
  return failed("copying from the device",
                opencl.read(gpu->queue, buffer_of(from), 1, (size_t)from.offset, (size_t)count,
                            bytes, 0, NULL, NULL));
}

static int wait_for(void* made) {
  struct gpu* gpu = made;
  return failed("running kernels", opencl.finish(gpu->queue));
}

static int pass_tensors(const struct lathe_call* call) {
  for (int32_t i = 0; i < call->count; ++i) {
    buffer buffer = buffer_of(call->tensors[i]);
    const int64_t* offset = &call->tensors[i].offset;
    uint32_t at = 2 * (uint32_t)i;
    if (failed("passing a tensor",
               opencl.kernel_argument(call->kernel, at, sizeof buffer, &buffer)) ||
        failed("passing an offset",
               opencl.kernel_argument(call->kernel, at + 1, sizeof *offset, offset)))
      return -1;
  }
  return 0;
}

static int launch_again(struct gpu* gpu, const struct lathe_call* call) {
  size_t all[3], block[3];
  for (int d = 0; d < 3; ++d) {
    block[d] = (size_t)call->threads[d];
    all[d] = block[d] * (size_t)call->blocks[d];
  }
  return failed("launching a kernel", opencl.launch(gpu->queue, call->kernel, 3, NULL, all, block,
                                                    0, NULL, NULL));
}

static int launch(void* made, const struct lathe_call* call) {
  return pass_tensors(call) || launch_again(made, call) ? -1 : 0;
}

/* The computer's own clock: if a queue shall time kernels, NVIDIA's driver starts each of them only
   when the one before has ended. */
static int start_clock(void* made) {
  struct gpu* gpu = made;
  if (wait_for(gpu)) return -1;
  gpu->began = lathe_now();
  return 0;
}

static int stop_clock(void* made, double* seconds) {
  struct gpu* gpu = made;
  if (wait_for(gpu)) return -1;
  *seconds = lathe_now() - gpu->began;
  return 0;
}

/* A sequence is a copy of the calls, whose tensors the kernels keep: each was found for one call. */
struct sequence {
  int32_t count;
  struct lathe_call calls[];
};

static int record(void* made, const struct lathe_call* calls, int32_t count, void** recorded) {
  (void)made;
  struct sequence* sequence = calloc(1, sizeof *sequence + (size_t)count * sizeof *calls);
  if (!sequence) return lathe_fail("no memory for %d kernels", count);
  sequence->count = count;
  for (int32_t i = 0; i < count; ++i) {
    sequence->calls[i] = calls[i];
    if (pass_tensors(&calls[i]) == 0) continue;
    free(sequence);
    return -1;
  }
  *recorded = sequence;
  return 0;
}

static int replay(void* made, void* recorded) {
  const struct sequence* sequence = recorded;
  for (int32_t i = 0; i < sequence->count; ++i)
    if (launch_again(made, &sequence->calls[i])) return -1;
  return 0;
}

static void forget(void* made, void* recorded) {
  (void)made;
  free(recorded);
}

static const struct lathe_driver driver = {
    count_devices, describe, open_gpu,    close_gpu,  load,   find,     allocate,    release,
    write_bytes,   read_bytes, launch,    wait_for,   start_clock, stop_clock, record, replay,
    forget,
};

const struct lathe_machine lathe_opencl = {&driver, LATHE_GPU_MODEL};
