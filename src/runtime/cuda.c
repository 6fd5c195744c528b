/* CUDA's driver as gpu.h wants it. libcuda comes with NVIDIA's driver; no toolkit is needed. Kernels
   are PTX, which the driver compiles for the device that is there. */
#include "runtime/error.h"
#include "runtime/gpu.h"
#include "runtime/libc.h"

/* The types and numbers of cuda.h that are used here, under names of our own. */
typedef int result;
typedef void *context, *module, *function, *stream, *event, *graph, *executable;
enum {
  SUCCESS = 0,
  OUT_OF_MEMORY = 2,
  UNAVAILABLE = 46,
  NO_DEVICE = 100,
  INVALID_PTX = 218,
  UNSUPPORTED_PTX = 222,
  NOT_FOUND = 500,
  UNKNOWN = 999,
  MOST_THREADS = 1, /* attributes of a device */
  SHARED_BYTES = 8,
  MULTIPROCESSORS = 16,
  MAJOR = 75,
  MINOR = 76,
  ERROR_LOG = 5, /* options of the compiler */
  ERROR_LOG_BYTES = 6,
  RELAXED = 2, /* of what other threads do while a stream is captured */
};

static struct {
  result (*init)(unsigned flags);
  result (*driver_version)(int* version);
  result (*device_count)(int* count);
  result (*device_get)(int* device, int ordinal);
  result (*device_name)(char* name, int size, int device);
  result (*device_attribute)(int* value, int attribute, int device);
  result (*context_retain)(context* made, int device);
  result (*context_release)(int device);
  result (*context_set)(context current);
  result (*module_load)(module* made, const void* code, unsigned count, int* options,
                        void** values);
  result (*module_unload)(module which);
  result (*module_function)(function* found, module in, const char* name);
  result (*memory_allocate)(uint64_t* memory, size_t bytes);
  result (*memory_free)(uint64_t memory);
  result (*memory_set)(uint64_t memory, unsigned char byte, size_t bytes, stream on);
  result (*copy_in)(uint64_t to, const void* from, size_t bytes, stream on);
  result (*copy_out)(void* to, uint64_t from, size_t bytes, stream on);
  result (*stream_create)(stream* made, unsigned flags);
  result (*stream_destroy)(stream which);
  result (*stream_wait)(stream which);
  result (*launch)(function kernel, unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty,
                   unsigned tz, unsigned shared, stream on, void** arguments, void** extra);
  result (*event_create)(event* made, unsigned flags);
  result (*event_destroy)(event which);
  result (*event_record)(event which, stream on);
  result (*event_wait)(event which);
  result (*event_elapsed)(float* milliseconds, event from, event to);
  result (*capture_begin)(stream on, int mode);
  result (*capture_end)(stream on, graph* made);
  result (*graph_instantiate)(executable* made, graph of, unsigned long long flags);
  result (*graph_destroy)(graph which);
  result (*executable_destroy)(executable which);
  result (*graph_launch)(executable which, stream on);
  result (*error_text)(result code, const char** text);
} cuda;

static const struct lathe_function functions[] = {
    {"cuInit", &cuda.init},
    {"cuDriverGetVersion", &cuda.driver_version},
    {"cuDeviceGetCount", &cuda.device_count},
    {"cuDeviceGet", &cuda.device_get},
    {"cuDeviceGetName", &cuda.device_name},
    {"cuDeviceGetAttribute", &cuda.device_attribute},
    {"cuDevicePrimaryCtxRetain", &cuda.context_retain},
    {"cuDevicePrimaryCtxRelease_v2", &cuda.context_release},
    {"cuCtxSetCurrent", &cuda.context_set},
    {"cuModuleLoadDataEx", &cuda.module_load},
    {"cuModuleUnload", &cuda.module_unload},
    {"cuModuleGetFunction", &cuda.module_function},
    {"cuMemAlloc_v2", &cuda.memory_allocate},
    {"cuMemFree_v2", &cuda.memory_free},
    {"cuMemsetD8Async", &cuda.memory_set},
    {"cuMemcpyHtoDAsync_v2", &cuda.copy_in},
    {"cuMemcpyDtoHAsync_v2", &cuda.copy_out},
    {"cuStreamCreate", &cuda.stream_create},
    {"cuStreamDestroy_v2", &cuda.stream_destroy},
    {"cuStreamSynchronize", &cuda.stream_wait},
    {"cuLaunchKernel", &cuda.launch},
    {"cuEventCreate", &cuda.event_create},
    {"cuEventDestroy_v2", &cuda.event_destroy},
    {"cuEventRecord", &cuda.event_record},
    {"cuEventSynchronize", &cuda.event_wait},
    {"cuEventElapsedTime", &cuda.event_elapsed},
    {"cuStreamBeginCapture_v2", &cuda.capture_begin},
    {"cuStreamEndCapture", &cuda.capture_end},
    {"cuGraphInstantiateWithFlags", &cuda.graph_instantiate},
    {"cuGraphDestroy", &cuda.graph_destroy},
    {"cuGraphExecDestroy", &cuda.executable_destroy},
    {"cuGraphLaunch", &cuda.graph_launch},
    {"cuGetErrorString", &cuda.error_text},
};

enum { MOST_MODULES = 4096, MOST_TENSORS = 64 };

struct gpu {
  int device;
  context context;
  stream stream;
  event began, ended;
  module* modules;
  int32_t count;
};

static int failed(const char* doing, result code) {
  const char* text = NULL;
  if (code == SUCCESS) return 0;
  if (code == OUT_OF_MEMORY) return lathe_fail("CUDA: %s: the device is out of memory", doing);
  if (cuda.error_text(code, &text) != SUCCESS || !text) text = "unknown error";
  if (code == UNAVAILABLE || code == NO_DEVICE || code == UNKNOWN)
    return lathe_fail("CUDA: %s: the device does not answer (%s, error %d); see whether nvidia-smi "
                      "finds it, and start again",
                      doing, text, code);
  return lathe_fail("CUDA: %s: %s (error %d)", doing, text, code);
}

/* Loads libcuda, once. Two threads may do it at a time: they find the same. */
static int find_driver(void) {
  static int ready;
  if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) return 0;
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library)
    return lathe_fail("there is no CUDA driver (libcuda.so.1) on this computer; install NVIDIA's");
  if (lathe_find_functions(library, "the CUDA driver", functions,
                           sizeof functions / sizeof *functions))
    return -1;
  result code = cuda.init(0);
  if (code == NO_DEVICE) return lathe_fail("CUDA finds no device on this computer");
  if (failed("starting", code)) return -1;
  __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
  return 0;
}

static int count_devices(void) {
  int count = 0;
  return find_driver() || failed("counting devices", cuda.device_count(&count)) ? -1 : count;
}

static int attribute(int device, int which) {
  int value = 0;
  return cuda.device_attribute(&value, which, device) == SUCCESS ? value : 0;
}

static int describe(int ordinal, struct lathe_device* about) {
  int device;
  if (find_driver() || failed("finding the device", cuda.device_get(&device, ordinal)) ||
      failed("naming the device", cuda.device_name(about->model, sizeof about->model, device)))
    return -1;
  about->version = 10 * attribute(device, MAJOR) + attribute(device, MINOR);
  about->multiprocessors = attribute(device, MULTIPROCESSORS);
  about->most_threads = attribute(device, MOST_THREADS);
  about->shared_bytes = attribute(device, SHARED_BYTES);
  about->vector_bytes = 0;
  return 0;
}

static void close_gpu(void* made) {
  struct gpu* gpu = made;
  if (gpu->context && cuda.context_set(gpu->context) == SUCCESS) {
    for (int32_t i = 0; i < gpu->count; ++i) cuda.module_unload(gpu->modules[i]);
    if (gpu->began) cuda.event_destroy(gpu->began);
    if (gpu->ended) cuda.event_destroy(gpu->ended);
    if (gpu->stream) cuda.stream_destroy(gpu->stream);
    cuda.context_release(gpu->device);
  }
  free(gpu->modules);
  free(gpu);
}

static int open_gpu(int ordinal, void** made) {
  const unsigned apart = 1; /* from the stream that all others wait for */
  if (find_driver()) return -1;
  struct gpu* gpu = calloc(1, sizeof *gpu);
  if (gpu) gpu->modules = calloc(MOST_MODULES, sizeof *gpu->modules);
  if (!gpu || !gpu->modules) {
    free(gpu);
    return lathe_fail("no memory for a device");
  }
  if (failed("finding the device", cuda.device_get(&gpu->device, ordinal)) ||
      failed("opening the device", cuda.context_retain(&gpu->context, gpu->device)) ||
      failed("opening the device", cuda.context_set(gpu->context)) ||
      failed("making a stream", cuda.stream_create(&gpu->stream, apart)) ||
      failed("making a clock", cuda.event_create(&gpu->began, 0)) ||
      failed("making a clock", cuda.event_create(&gpu->ended, 0))) {
    close_gpu(gpu);
    return -1;
  }
  *made = gpu;
  return 0;
}

/* The driver knows one device for each thread. */
static int use(struct gpu* gpu) { return failed("using the device", cuda.context_set(gpu->context)); }

static int load(void* made, const struct lathe_module* code) {
  struct gpu* gpu = made;
  char log[2048] = "";
  int options[] = {ERROR_LOG, ERROR_LOG_BYTES};
  void* values[] = {log, (void*)sizeof log};
  int version = 0;
  if (use(gpu)) return -1;
  if (gpu->count == MOST_MODULES) return lathe_fail("CUDA: more than %d modules", MOST_MODULES);
  result loaded = cuda.module_load(&gpu->modules[gpu->count], code->code, 2, options, values);
  if (loaded == UNSUPPORTED_PTX) {
    cuda.driver_version(&version);
    return lathe_fail("the CUDA driver is of version %d.%d, too old for these kernels; install a "
                      "newer one",
                      version / 1000, version % 1000 / 10);
  }
  if (loaded == INVALID_PTX && log[0]) return lathe_fail("CUDA: compiling kernels: %.240s", log);
  if (failed("loading kernels", loaded)) return -1;
  ++gpu->count;
  return 0;
}

static int find(void* made, const char* symbol, void** kernel) {
  struct gpu* gpu = made;
  if (use(gpu)) return -1;
  for (int32_t i = gpu->count; i-- > 0;) {
    result code = cuda.module_function(kernel, gpu->modules[i], symbol);
    if (code != NOT_FOUND) return failed("finding a kernel", code);
  }
  return lathe_fail("CUDA: no kernel \"%.160s\" was loaded", symbol);
}

static int allocate(void* made, int64_t bytes, uint64_t* memory) {
  struct gpu* gpu = made;
  size_t size = bytes > 0 ? (size_t)bytes : 1;
  if (use(gpu)) return -1;
  result code = cuda.memory_allocate(memory, size);
  if (code == OUT_OF_MEMORY)
    return lathe_fail("CUDA: the device has no memory for %lld more bytes", (long long)bytes);
  return failed("allocating memory", code) ||
                 failed("allocating memory", cuda.memory_set(*memory, 0, size, gpu->stream))
             ? -1
             : 0;
}

static void release(void* made, uint64_t memory) {
  struct gpu* gpu = made;
  if (cuda.context_set(gpu->context) == SUCCESS) cuda.memory_free(memory);
}

static int wait_for(void* made) {
  struct gpu* gpu = made;
  return use(gpu) || failed("running kernels", cuda.stream_wait(gpu->stream)) ? -1 : 0;
}

static int write_bytes(void* made, struct lathe_slot to, const void* bytes, int64_t count) {
  struct gpu* gpu = made;
  if (count == 0) return 0;
  uint64_t address = to.memory + (uint64_t)to.offset;
  return use(gpu) || failed("copying to the device",
                            cuda.copy_in(address, bytes, (size_t)count, gpu->stream))
             ? -1
             : 0;
}

static int read_bytes(void* made, struct lathe_slot from, void* bytes, int64_t count) {
  struct gpu* gpu = made;
  if (count == 0) return 0;
  uint64_t address = from.memory + (uint64_t)from.offset;
  if (use(gpu) || failed("copying from the device",
                         cuda.copy_out(bytes, address, (size_t)count, gpu->stream)))
    return -1;
  return wait_for(gpu);
}

static int launch_one(struct gpu* gpu, const struct lathe_call* call) {
  uint64_t addresses[MOST_TENSORS];
  void* arguments[MOST_TENSORS];
  if (call->count > MOST_TENSORS)
    return lathe_fail("CUDA: a kernel has %d tensors; %d are possible", call->count, MOST_TENSORS);
  for (int32_t i = 0; i < call->count; ++i) {
    addresses[i] = call->tensors[i].memory + (uint64_t)call->tensors[i].offset;
    arguments[i] = &addresses[i];
  }
  const int32_t *b = call->blocks, *t = call->threads;
  return failed("launching a kernel",
                cuda.launch(call->kernel, (unsigned)b[0], (unsigned)b[1], (unsigned)b[2],
                            (unsigned)t[0], (unsigned)t[1], (unsigned)t[2], 0, gpu->stream,
                            arguments, NULL));
}

static int launch(void* made, const struct lathe_call* call) {
  return use(made) || launch_one(made, call) ? -1 : 0;
}

static int start_clock(void* made) {
  struct gpu* gpu = made;
  return use(gpu) || failed("timing", cuda.event_record(gpu->began, gpu->stream)) ? -1 : 0;
}

static int stop_clock(void* made, double* seconds) {
  struct gpu* gpu = made;
  float milliseconds = 0;
  if (use(gpu) || failed("timing", cuda.event_record(gpu->ended, gpu->stream)) ||
      failed("running kernels", cuda.event_wait(gpu->ended)) ||
      failed("timing", cuda.event_elapsed(&milliseconds, gpu->began, gpu->ended)))
    return -1;
  *seconds = milliseconds * 1e-3;
  return 0;
}

/* A graph: the device starts its kernels one after the other without the host. */
static int record(void* made, const struct lathe_call* calls, int32_t count, void** sequence) {
  struct gpu* gpu = made;
  graph captured = NULL;
  if (use(gpu) || failed("recording kernels", cuda.capture_begin(gpu->stream, RELAXED))) return -1;
  int broken = 0;
  for (int32_t i = 0; i < count && !broken; ++i) broken = launch_one(gpu, &calls[i]);
  result ended = cuda.capture_end(gpu->stream, &captured);
  if (!broken) broken = failed("recording kernels", ended);
  if (!broken)
    broken = failed("recording kernels", cuda.graph_instantiate(sequence, captured, 0));
  if (captured) cuda.graph_destroy(captured);
  return broken ? -1 : 0;
}

static int replay(void* made, void* sequence) {
  struct gpu* gpu = made;
  return use(gpu) || failed("launching kernels", cuda.graph_launch(sequence, gpu->stream)) ? -1 : 0;
}

static void forget(void* made, void* sequence) {
  struct gpu* gpu = made;
  if (cuda.context_set(gpu->context) == SUCCESS) cuda.executable_destroy(sequence);
}

static const struct lathe_driver driver = {
    count_devices, describe,   open_gpu, close_gpu, load,        find,       allocate, release,
    write_bytes,   read_bytes, launch,   wait_for,  start_clock, stop_clock, record,   replay,
    forget,
};

const struct lathe_machine lathe_cuda = {&driver, LATHE_GPU_MODEL};
