// opencl_api.cpp: libOpenCL, loaded at run time. Interface: opencl_api.h.
#include "backends/opencl_api.h"

#include <dlfcn.h>

#include <cstdlib>

#include "base/error.h"

namespace lathe::opencl {
namespace {

/// Loads the library and finds its functions; null if one of them is missing.
const Api* load() {
  // PoCL 3.1 writes the code of small blocks out, thread by thread, and ends the process if it
  // cannot do so with the barriers of a kernel. Loops over threads it can always make.
  setenv("POCL_WORK_GROUP_METHOD", "loops", 0);
  void* library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) library = dlopen("libOpenCL.so", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  static Api api;
  bool all = true;
  auto find = [&](auto& function, const char* name) {
    void* symbol = dlsym(library, name);
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
    all = all && symbol != nullptr;
  };
  find(api.platforms, "clGetPlatformIDs");
  find(api.devices, "clGetDeviceIDs");
  find(api.device_info, "clGetDeviceInfo");
  find(api.create_context, "clCreateContext");
  find(api.release_context, "clReleaseContext");
  find(api.create_queue, "clCreateCommandQueue");
  find(api.release_queue, "clReleaseCommandQueue");
  find(api.create_buffer, "clCreateBuffer");
  find(api.release_buffer, "clReleaseMemObject");
  find(api.write, "clEnqueueWriteBuffer");
  find(api.read, "clEnqueueReadBuffer");
  find(api.fill, "clEnqueueFillBuffer");
  find(api.create_program, "clCreateProgramWithSource");
  find(api.build, "clBuildProgram");
  find(api.build_info, "clGetProgramBuildInfo");
  find(api.release_program, "clReleaseProgram");
  find(api.create_kernel, "clCreateKernel");
  find(api.release_kernel, "clReleaseKernel");
  find(api.set_argument, "clSetKernelArg");
  find(api.launch, "clEnqueueNDRangeKernel");
  find(api.finish, "clFinish");
  find(api.event_info, "clGetEventProfilingInfo");
  find(api.release_event, "clReleaseEvent");
  return all ? &api : nullptr;
}

std::string reason(int32_t code) {
  switch (code) {
    case out_of_memory:
    case out_of_host_memory:
      return "out of memory";
    case out_of_resources:
      return "out of resources: the kernel needs too much, or the device is lost";
    case wrong_group:
      return "the blocks are larger than the device allows for this kernel";
    default:
      return fmt::format("error {}", code);
  }
}

}  // namespace

const Api* api() {
  static const Api* loaded = load();
  return loaded;
}

const Api& needed_api() {
  const Api* loaded = api();
  if (loaded == nullptr) {
    fail("there is no OpenCL library (libOpenCL.so.1) on this computer; install a driver, or PoCL");
  }
  return *loaded;
}

void expect(int32_t code, const std::string& what) {
  if (code != success) fail("OpenCL: {}: {}", what, reason(code));
}

}  // namespace lathe::opencl
