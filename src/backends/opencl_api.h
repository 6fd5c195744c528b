// The functions of OpenCL that Lathe calls. The library is loaded when it is first asked for, so
// that neither building nor running Lathe needs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace lathe::opencl {

// As the standard's header has them, under names of our own.
using Platform = struct PlatformObject*;
using DeviceId = struct DeviceObject*;
using Context = struct ContextObject*;
using Queue = struct QueueObject*;
using Buffer = struct BufferObject*;
using Program = struct ProgramObject*;
using KernelId = struct KernelObject*;
using Event = struct EventObject*;
using Flags = uint64_t;

constexpr int32_t success = 0, out_of_memory = -4, out_of_resources = -5, out_of_host_memory = -6,
                  build_failed = -11, not_a_device = -1, wrong_group = -54;
constexpr Flags any_device = 0xFFFFFFFF, read_and_write = 1 << 0, profiled = 1 << 1;

/// What can be asked of devices, programs and events.
enum class Info : uint32_t {
  compute_units = 0x1002,
  most_threads = 0x1004,
  global_bytes = 0x101F,
  local_bytes = 0x1023,
  device_name = 0x102B,
  device_version = 0x102F,
  build_log = 0x1183,
  began = 0x1282,
  ended = 0x1283,
};

/// The entry points.
struct Api {
  int32_t (*platforms)(uint32_t, Platform*, uint32_t*);
  int32_t (*devices)(Platform, Flags, uint32_t, DeviceId*, uint32_t*);
  int32_t (*device_info)(DeviceId, Info, size_t, void*, size_t*);
  Context (*create_context)(const intptr_t*, uint32_t, const DeviceId*, void*, void*, int32_t*);
  int32_t (*release_context)(Context);
  Queue (*create_queue)(Context, DeviceId, Flags, int32_t*);
  int32_t (*release_queue)(Queue);
  Buffer (*create_buffer)(Context, Flags, size_t, void*, int32_t*);
  int32_t (*release_buffer)(Buffer);
  int32_t (*write)(Queue, Buffer, uint32_t, size_t, size_t, const void*, uint32_t, const Event*,
                   Event*);
  int32_t (*read)(Queue, Buffer, uint32_t, size_t, size_t, void*, uint32_t, const Event*, Event*);
  int32_t (*fill)(Queue, Buffer, const void*, size_t, size_t, size_t, uint32_t, const Event*,
                  Event*);
  Program (*create_program)(Context, uint32_t, const char**, const size_t*, int32_t*);
  int32_t (*build)(Program, uint32_t, const DeviceId*, const char*, void*, void*);
  int32_t (*build_info)(Program, DeviceId, Info, size_t, void*, size_t*);
  int32_t (*release_program)(Program);
  KernelId (*create_kernel)(Program, const char*, int32_t*);
  int32_t (*release_kernel)(KernelId);
  int32_t (*set_argument)(KernelId, uint32_t, size_t, const void*);
  int32_t (*launch)(Queue, KernelId, uint32_t, const size_t*, const size_t*, const size_t*,
                    uint32_t, const Event*, Event*);
  int32_t (*finish)(Queue);
  int32_t (*event_info)(Event, Info, size_t, void*, size_t*);
  int32_t (*release_event)(Event);
};

/// Returns the entry points, or null if there is no OpenCL library.
const Api* api();

/// Returns the entry points. Fails if there is no OpenCL library.
const Api& needed_api();

/// Fails if a call did not succeed; "what" says what it was to do.
void expect(int32_t code, const std::string& what);

}  // namespace lathe::opencl
