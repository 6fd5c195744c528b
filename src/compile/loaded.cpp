// loaded.cpp: a library in this process, called through its C functions. Interface: library.h.
#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "compile/faces.h"
#include "compile/library.h"
#include "compile/manifest.h"
#include "data/file.h"

namespace lathe {
namespace {

/// Throws if the library of a folder is for another kind of processor, or for one with extras that
/// this one lacks.
void check_runs_here(const std::string& folder, const Target& target) {
  Target here = native_target();
  std::set<Extra> lacking;
  for (Extra extra : target.cpu.extras) {
    if (!here.has(extra)) lacking.insert(extra);
  }
  if (target.architecture == here.architecture && lacking.empty()) return;
  throw OtherMachine(fmt::format("'{}' is compiled for {}, but this machine is {}", folder,
                                 full_name(target), full_name(here)));
}

}  // namespace

struct LoadedLibrary::State {
  std::string path, name;
  void* library = nullptr;
  int threads = 1;
  std::map<int, void*> models;  // by variant
  std::vector<CompiledFace> inputs, outputs;

  ~State() {
    for (const auto& [variant, model] : models) function<void(void*)>("destroy")(model);
    if (library != nullptr) ::dlclose(library);
  }

  /// Finds the function NAME_x.
  template <class Signature>
  Signature* function(const std::string& x) const {
    void* address = ::dlsym(library, (name + "_" + x).c_str());
    if (address == nullptr) fail("'{}' has no function {}_{}", path, name, x);
    return reinterpret_cast<Signature*>(address);
  }

  [[noreturn]] void fail_as_library() const {
    fail("'{}': {}", path, function<const char*()>("error")());
  }

  /// Asks the library for its inputs or outputs: what it says holds, not the manifest.
  std::vector<CompiledFace> faces(const std::string& kind) const {
    std::vector<CompiledFace> result;
    int count = function<int()>(kind + "_count")();
    for (int i = 0; i < count; ++i) {
      std::string element_name = function<const char*(int)>(kind + "_element")(i);
      std::optional<Element> element = element_named(element_name);
      if (!element) fail("'{}': unknown element '{}'", path, element_name);
      int rank = function<int(int)>(kind + "_rank")(i);
      const int64_t* shape = function<const int64_t*(int)>(kind + "_shape")(i);
      result.push_back(
          {function<const char*(int)>(kind + "_name")(i), {*element, Shape(shape, shape + rank)}});
    }
    return result;
  }

  /// Returns the inputs or outputs of a variant.
  std::vector<CompiledFace> faces_of(int variant, const std::string& kind) const {
    std::vector<CompiledFace> result = kind == "input" ? inputs : outputs;
    auto* shape_of = function<const int64_t*(int, int)>("variant_" + kind + "_shape");
    for (size_t i = 0; i < result.size(); ++i) {
      Shape& shape = result[i].type.shape;
      const int64_t* extents = shape_of(variant, static_cast<int>(i));
      shape.assign(extents, extents + shape.size());
    }
    return result;
  }

  /// Returns the variant that takes these arrays; the first one where none does, which says what
  /// does not fit.
  int variant_for(const std::vector<Array>& arrays) const {
    bool fits = std::equal(arrays.begin(), arrays.end(), inputs.begin(), inputs.end(),
                           [](const Array& array, const CompiledFace& face) {
                             return array.rank() == face.type.shape.size();
                           });
    if (!fits) return 0;
    std::vector<std::vector<int64_t>> shapes;
    std::vector<const int64_t*> pointers;
    for (const Array& array : arrays) {
      shapes.emplace_back(array.shape().begin(), array.shape().end());
      pointers.push_back(shapes.back().data());
    }
    return std::max(0, function<int(const int64_t* const*)>("variant_for")(pointers.data()));
  }

  void* model_of(int variant) {
    auto [at, is_new] = models.try_emplace(variant, nullptr);
    if (is_new) at->second = function<void*(int, int)>("create_variant")(variant, threads);
    if (at->second != nullptr) return at->second;
    models.erase(at);
    fail_as_library();
  }
};

LoadedLibrary::LoadedLibrary(const std::string& folder, int threads)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  Manifest manifest = read_manifest(folder);
  s.path = (std::filesystem::path(folder) / shared_file).string();
  s.name = manifest.name;
  check_runs_here(folder, target_named(manifest.host));
  if (hash_of_file(s.path) != manifest.library_hash) {
    fail("'{}' is not the file that {} describes: compile the network again", s.path,
         manifest_file);
  }
  s.library = ::dlopen(std::filesystem::absolute(s.path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (s.library == nullptr) fail("cannot load a library: {}", ::dlerror());
  s.inputs = s.faces("input");
  s.outputs = s.faces("output");
  s.threads = threads;
  s.model_of(0);
}

LoadedLibrary::~LoadedLibrary() = default;

const std::vector<CompiledFace>& LoadedLibrary::inputs() const { return state_->inputs; }
const std::vector<CompiledFace>& LoadedLibrary::outputs() const { return state_->outputs; }

std::vector<Array> LoadedLibrary::run(const std::vector<Array>& inputs) {
  State& s = *state_;
  int variant = s.variant_for(inputs);
  void* model = s.model_of(variant);
  auto* run = s.function<int(void*, const void* const*, void* const*)>("run");
  return run_on_arrays(s.faces_of(variant, "input"), s.faces_of(variant, "output"), inputs,
                       [&](const void* const* from, void* const* to) {
                         if (run(model, from, to) != 0) s.fail_as_library();
                       });
}

}  // namespace lathe
