// embedded.cpp: what Lathe carries for libraries. Interface: embedded.h.
#include "compile/embedded.h"

#include "base/error.h"

// Each file begins at its symbol and ends before the second one.
#define LATHE_EMBEDDED(symbol) \
  extern "C" const char lathe_embedded_##symbol[], lathe_embedded_##symbol##_end[]

#define LATHE_EMBEDDED_RUNTIME(file) \
  LATHE_EMBEDDED(file##_aarch64_o);  \
  LATHE_EMBEDDED(file##_x86_64_o)

LATHE_EMBEDDED_RUNTIME(cuda);
LATHE_EMBEDDED_RUNTIME(face);
LATHE_EMBEDDED_RUNTIME(gpu);
LATHE_EMBEDDED_RUNTIME(job);
LATHE_EMBEDDED_RUNTIME(measure);
LATHE_EMBEDDED_RUNTIME(opencl);
LATHE_EMBEDDED_RUNTIME(pool);
LATHE_EMBEDDED_RUNTIME(runtime);
LATHE_EMBEDDED(model_h_in);
LATHE_EMBEDDED(example_c_in);
LATHE_EMBEDDED(train_py);

namespace lathe {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

RuntimeObject object_for(const Target& host, const char* name, std::string_view aarch64,
                         std::string_view x86_64) {
  return {name, host.architecture == Architecture::aarch64 ? aarch64 : x86_64};
}

}  // namespace

#define LATHE_BYTES(symbol) between(lathe_embedded_##symbol, lathe_embedded_##symbol##_end)
// One file of the runtime, for the architecture of "host".
#define LATHE_RUNTIME_OBJECT(file) \
  object_for(host, #file ".o", LATHE_BYTES(file##_aarch64_o), LATHE_BYTES(file##_x86_64_o))

std::vector<RuntimeObject> runtime_objects(const Target& host, const Target& target) {
  check(!host.is_gpu(), "programs run on CPUs");
  std::vector<RuntimeObject> objects = {LATHE_RUNTIME_OBJECT(face), LATHE_RUNTIME_OBJECT(pool),
                                        LATHE_RUNTIME_OBJECT(runtime)};
  if (!target.is_gpu()) return objects;
  objects.push_back(LATHE_RUNTIME_OBJECT(gpu));
  objects.push_back(target.architecture == Architecture::opencl ? LATHE_RUNTIME_OBJECT(opencl)
                                                                : LATHE_RUNTIME_OBJECT(cuda));
  return objects;
}

std::vector<RuntimeObject> measuring_objects(const Target& host) {
  return {LATHE_RUNTIME_OBJECT(measure), LATHE_RUNTIME_OBJECT(job),
          LATHE_RUNTIME_OBJECT(gpu),     LATHE_RUNTIME_OBJECT(cuda),
          LATHE_RUNTIME_OBJECT(opencl),  LATHE_RUNTIME_OBJECT(runtime),
          LATHE_RUNTIME_OBJECT(pool)};
}

std::string_view header_text() { return LATHE_BYTES(model_h_in); }

std::string_view example_text() { return LATHE_BYTES(example_c_in); }

std::string_view training_text() { return LATHE_BYTES(train_py); }

std::string_view lathe_version() { return LATHE_VERSION; }

}  // namespace lathe
