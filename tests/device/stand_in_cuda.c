/* A stand-in for NVIDIA's driver, libcuda.so.1, on computers without one: a device whose memory is
   this computer's, and whose kernels do nothing. tests/driver_errors.py lets programs load it, to
   see what they say of drivers and devices that fail. STAND_IN says how this one does:

     (not set)    it does not
     old          it is of CUDA 11.4, and knows no PTX as new as that of the kernels
     none         there is no device
     memory:N     the device has N bytes
     gone:N       after N calls that copy, launch or wait, the device is gone
     hangs        kernels never end

   Compiled with -DWITHOUT_GRAPHS it lacks a function, as drivers before CUDA 12 do. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  SUCCESS = 0,
  OUT_OF_MEMORY = 2,
  NO_DEVICE = 100,
  UNSUPPORTED_PTX = 222,
  NOT_FOUND = 500,
  UNKNOWN = 999,
  HIGHEST_ATTRIBUTE = 76,
};

static const char* mode(void) {
  const char* text = getenv("STAND_IN");
  return text ? text : "";
}

static int is(const char* name) { return strcmp(mode(), name) == 0; }

/* Returns N of "name:N"; -1 in other modes. */
static long number_of(const char* name) {
  size_t length = strlen(name);
  return strncmp(mode(), name, length) == 0 ? atol(mode() + length) : -1;
}

/* Counts a call that needs the device. */
static int touch(void) {
  static long calls;
  long most = number_of("gone:");
  return most >= 0 && ++calls > most ? UNKNOWN : SUCCESS;
}

int cuInit(unsigned flags) {
  (void)flags;
  return is("none") ? NO_DEVICE : SUCCESS;
}

int cuDriverGetVersion(int* version) {
  *version = is("old") ? 11040 : 13000;
  return SUCCESS;
}

int cuDeviceGetCount(int* count) {
  *count = 1;
  return SUCCESS;
}

int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return SUCCESS;
}

int cuDeviceGetName(char* name, int size, int device) {
  (void)device;
  snprintf(name, (size_t)size, "stand-in");
  return SUCCESS;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  /* threads of a block, its shared bytes, multiprocessors, sm_90 */
  static const int values[HIGHEST_ATTRIBUTE + 1] = {
      [1] = 1024, [8] = 49152, [16] = 132, [75] = 9, [76] = 0};
  (void)device;
  *value = attribute <= HIGHEST_ATTRIBUTE ? values[attribute] : 0;
  return SUCCESS;
}

static int handle;

int cuDevicePrimaryCtxRetain(void** made, int device) {
  (void)device;
  *made = &handle;
  return touch();
}

int cuDevicePrimaryCtxRelease_v2(int device) { return device ? NO_DEVICE : SUCCESS; }

int cuCtxSetCurrent(void* context) { return context ? SUCCESS : UNKNOWN; }

int cuModuleLoadDataEx(void** made, const void* code, unsigned count, int* options, void** values) {
  (void)code, (void)count, (void)options, (void)values;
  *made = &handle;
  return is("old") ? UNSUPPORTED_PTX : touch();
}

int cuModuleUnload(void* module) { return module ? SUCCESS : NOT_FOUND; }

int cuModuleGetFunction(void** found, void* module, const char* name) {
  (void)name;
  *found = module;
  return SUCCESS;
}

static long used;

int cuMemAlloc_v2(uint64_t* memory, size_t bytes) {
  long most = number_of("memory:");
  if (most >= 0 && used + (long)bytes > most) return OUT_OF_MEMORY;
  used += (long)bytes;
  void* made = calloc(1, bytes);
  *memory = (uint64_t)(uintptr_t)made;
  return made ? touch() : OUT_OF_MEMORY;
}

int cuMemFree_v2(uint64_t memory) {
  free((void*)(uintptr_t)memory);
  return SUCCESS;
}

int cuMemsetD8Async(uint64_t memory, unsigned char byte, size_t bytes, void* stream) {
  (void)stream;
  memset((void*)(uintptr_t)memory, byte, bytes);
  return touch();
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void* stream) {
  (void)stream;
  memcpy((void*)(uintptr_t)to, from, bytes);
  return touch();
}

int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void* stream) {
  (void)stream;
  memcpy(to, (const void*)(uintptr_t)from, bytes);
  return touch();
}

static int make(void** made) {
  *made = &handle;
  return SUCCESS;
}

static int wait_for_kernels(void) {
  while (is("hangs")) pause();
  return touch();
}

int cuStreamCreate(void** made, unsigned flags) { return flags ? make(made) : UNKNOWN; }
int cuStreamDestroy_v2(void* stream) { return stream ? SUCCESS : UNKNOWN; }
int cuStreamSynchronize(void* stream) { return stream ? wait_for_kernels() : UNKNOWN; }

int cuLaunchKernel(void* kernel, unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty,
                   unsigned tz, unsigned shared, void* stream, void** arguments, void** extra) {
  (void)bx, (void)by, (void)bz, (void)tx, (void)ty, (void)tz, (void)shared, (void)stream;
  (void)arguments, (void)extra;
  return kernel ? touch() : NOT_FOUND;
}

int cuEventCreate(void** made, unsigned flags) { return flags ? UNKNOWN : make(made); }
int cuEventDestroy_v2(void* event) { return event ? SUCCESS : UNKNOWN; }

int cuEventRecord(void* event, void* stream) { return event && stream ? touch() : UNKNOWN; }

int cuEventSynchronize(void* event) { return event ? wait_for_kernels() : UNKNOWN; }

int cuEventElapsedTime(float* milliseconds, void* from, void* to) {
  *milliseconds = 1;
  return from && to ? SUCCESS : UNKNOWN;
}

int cuStreamBeginCapture_v2(void* stream, int how) {
  (void)how;
  return stream ? SUCCESS : UNKNOWN;
}

int cuStreamEndCapture(void* stream, void** graph) { return stream ? make(graph) : UNKNOWN; }

#ifndef WITHOUT_GRAPHS
int cuGraphInstantiateWithFlags(void** made, void* graph, unsigned long long flags) {
  (void)flags;
  return graph ? make(made) : UNKNOWN;
}
#endif

int cuGraphDestroy(void* graph) { return graph ? SUCCESS : UNKNOWN; }
int cuGraphExecDestroy(void* executable) { return executable ? SUCCESS : UNKNOWN; }
int cuGraphLaunch(void* executable, void* stream) {
  return executable && stream ? touch() : UNKNOWN;
}

int cuGetErrorString(int code, const char** text) {
  *text = code == UNKNOWN ? "unknown error" : code == NO_DEVICE ? "no device" : "an error";
  return SUCCESS;
}
