// A libFuzzer target: any bytes as what one of Lathe's readers reads. Built and run by
// scripts/fuzz.
//
//   LATHE_READER=nest build/fuzz/tests/fuzz_readers FOLDER...
//
// A reader takes the bytes or throws a UserError. What it takes is written and read once more: that
// must succeed, and the second text must be the first.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "bundle/bundle.h"
#include "bundle/making.h"
#include "capacity/gate.h"
#include "compile/manifest.h"
#include "data/npy.h"
#include "graph/graph.h"
#include "nest/text.h"
#include "ops/op.h"
#include "results/search_result.h"
#include "search/journal.h"
#include "transforms/transform_network.h"

namespace {

using lathe::check;
using nlohmann::json;

/// A folder of this process, in memory where the machine has such a place.
class Folder {
 public:
  Folder() {
    namespace fs = std::filesystem;
    fs::path parent = fs::is_directory("/dev/shm") ? "/dev/shm" : fs::temp_directory_path();
    std::string name = (parent / "lathe-fuzz-XXXXXX").string();
    check(::mkdtemp(name.data()) != nullptr, "a temporary directory can be made");
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }
  /// Writes a file and returns its path.
  std::string file(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ + "/" + name, std::ios::binary) << bytes;
    return path_ + "/" + name;
  }

 private:
  std::string path_;
};

void read_nest(const std::string& bytes, const Folder&) {
  lathe::Context ctx;
  std::string text = print(lathe::parse_nest(ctx, bytes));
  check(print(lathe::parse_nest(ctx, text)) == text, "a nest that was printed is read as it was");
}

void read_operator(const std::string& bytes, const Folder&) {
  lathe::Context ctx;
  print(lathe::parse_op(ctx, bytes));
}

void read_graph(const std::string& bytes, const Folder&) {
  lathe::Graph graph = lathe::parse_graph(bytes);
  std::string text = print(graph);
  check(print(lathe::parse_graph(text)) == text, "a graph that was printed is read as it was");
  lathe::verify_types(graph);
}

void read_recipe(const std::string& bytes, const Folder&) {
  lathe::NetworkRecipe recipe = lathe::parse_network_recipe(bytes);
  std::string text = print(recipe);
  check(print(lathe::parse_network_recipe(text)) == text, "a recipe is read as it was printed");
}

void read_recipe_file(const std::string& bytes, const Folder& folder) {
  std::string path = folder.file("any.recipe", bytes);
  lathe::NetworkRecipe recipe = lathe::read_network_recipe(path);
  check(to_json(lathe::network_recipe_from_json(to_json(recipe))) == to_json(recipe),
        "a recipe is read as it was written");
  lathe::read_making(path);
}

void read_rule(const std::string& bytes, const Folder&) {
  json content = json::parse(bytes, nullptr, false);
  if (content.is_discarded()) return;
  json again = to_json(lathe::rule_from_json(content));
  check(to_json(lathe::rule_from_json(again)) == again, "a rule is read as it was written");
}

void read_result(const std::string& bytes, const Folder& folder) {
  folder.file("result.json", bytes);
  lathe::read_search_result(folder.path());
}

void read_bundle(const std::string& bytes, const Folder& folder) {
  folder.file("bundle.json", bytes);
  lathe::read_bundle(folder.path());
}

void read_manifest(const std::string& bytes, const Folder& folder) {
  folder.file("manifest.json", bytes);
  lathe::read_manifest(folder.path());
}

void read_journal(const std::string& bytes, const Folder& folder) {
  folder.file("journal.db", bytes);
  lathe::read_journal(folder.path());
}

void read_npy(const std::string& bytes, const Folder& folder) {
  lathe::Array array = lathe::read_npy(folder.file("any.npy", bytes));
  std::string again = folder.path() + "/again.npy";
  lathe::write_npy(again, array);
  check(lathe::read_npy(again).bytes().size() == array.bytes().size(),
        "an array is read as it was written");
}

struct Reader {
  const char* name;
  void (*read)(const std::string& bytes, const Folder& folder);
};
constexpr Reader readers[] = {
    {"nest", read_nest},
    {"operator", read_operator},
    {"graph", read_graph},
    {"recipe", read_recipe},
    {"recipe_file", read_recipe_file},
    {"rule", read_rule},
    {"result", read_result},
    {"bundle", read_bundle},
    {"manifest", read_manifest},
    {"journal", read_journal},
    {"npy", read_npy},
};

const Reader& chosen_reader() {
  static const Reader& chosen = []() -> const Reader& {
    const char* name = std::getenv("LATHE_READER");
    for (const Reader& reader : readers) {
      if (name != nullptr && std::string_view(name) == reader.name) return reader;
    }
    std::cerr << "LATHE_READER must be one of:";
    for (const Reader& reader : readers) std::cerr << " " << reader.name;
    std::cerr << "\n";
    std::exit(2);
  }();
  return chosen;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  chosen_reader();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Folder folder;
  try {
    chosen_reader().read({reinterpret_cast<const char*>(data), size}, folder);
  } catch (const lathe::UserError&) {
    return 0;
  }
  return 0;
}
