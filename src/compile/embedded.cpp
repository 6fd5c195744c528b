// embedded.cpp: what Lathe carries for libraries. Interface: embedded.h.
#include "compile/embedded.h"

#include "base/error.h"

// Each file begins at its symbol and ends before the second one.
#define LATHE_EMBEDDED(symbol) \
  extern "C" const char lathe_embedded_##symbol[], lathe_embedded_##symbol##_end[]

LATHE_EMBEDDED(face_aarch64_o);
LATHE_EMBEDDED(pool_aarch64_o);
LATHE_EMBEDDED(runtime_aarch64_o);
LATHE_EMBEDDED(face_x86_64_o);
LATHE_EMBEDDED(pool_x86_64_o);
LATHE_EMBEDDED(runtime_x86_64_o);
LATHE_EMBEDDED(model_h_in);
LATHE_EMBEDDED(example_c_in);
LATHE_EMBEDDED(train_py);

namespace lathe {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

}  // namespace

std::vector<RuntimeObject> runtime_objects(const Target& target) {
  if (target.architecture == Architecture::aarch64) {
    return {
        {"face.o", between(lathe_embedded_face_aarch64_o, lathe_embedded_face_aarch64_o_end)},
        {"pool.o", between(lathe_embedded_pool_aarch64_o, lathe_embedded_pool_aarch64_o_end)},
        {"runtime.o",
         between(lathe_embedded_runtime_aarch64_o, lathe_embedded_runtime_aarch64_o_end)},
    };
  }
  check(target.architecture == Architecture::x86_64, "there is a runtime for every target");
  return {
      {"face.o", between(lathe_embedded_face_x86_64_o, lathe_embedded_face_x86_64_o_end)},
      {"pool.o", between(lathe_embedded_pool_x86_64_o, lathe_embedded_pool_x86_64_o_end)},
      {"runtime.o", between(lathe_embedded_runtime_x86_64_o, lathe_embedded_runtime_x86_64_o_end)},
  };
}

std::string_view header_text() {
  return between(lathe_embedded_model_h_in, lathe_embedded_model_h_in_end);
}

std::string_view example_text() {
  return between(lathe_embedded_example_c_in, lathe_embedded_example_c_in_end);
}

std::string_view training_text() {
  return between(lathe_embedded_train_py, lathe_embedded_train_py_end);
}

std::string_view lathe_version() { return LATHE_VERSION; }

}  // namespace lathe
