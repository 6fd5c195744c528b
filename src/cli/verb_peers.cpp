// verb_peers.cpp: runs bench/peers and reads its report. Interface: verb_peers.h.
#include "cli/verb_peers.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "data/folder.h"

namespace lathe::cli {
namespace {

namespace fs = std::filesystem;

fs::path own_path() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error);
}

/// Finds the program: beside the sources that this one was built in, or where it is installed.
fs::path find_peers() {
  fs::path folder = own_path().parent_path();
  std::vector<fs::path> places = {folder / "../../bench/peers", folder / "../share/lathe/peers"};
  for (const fs::path& place : places) {
    std::error_code error;
    if (fs::exists(place, error)) return fs::canonical(place);
  }
  fail("the comparison needs the program 'peers', which is neither at {} nor at {}",
       places[0].lexically_normal().string(), places[1].lexically_normal().string());
}

/// Runs a program; its output goes nowhere, its messages to ours. Returns its status.
int run_program(const std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments)
    pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  pid_t child = fork();
  if (child < 0) fail("cannot start {}", arguments.front());
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stdout) == nullptr) _exit(126);
    execvp(pointers[0], pointers.data());
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

void print_result(const nlohmann::json& result, const nlohmann::json& versions) {
  const nlohmann::json& peers = result.at("peers");
  auto time = [&](const std::string& peer) { return 1e3 * peers.at(peer).value("median_s", 0.0); };
  auto is_measured = [&](const std::string& peer) {
    return peers.contains(peer) && peers.at(peer).value("status", "") == "ok";
  };
  if (!is_measured("lathe")) {
    fail("Lathe could not be measured: {}",
         peers.contains("lathe") ? peers.at("lathe").dump() : "");
  }
  double own = time("lathe");
  int threads = result.at("threads");
  for (const auto& [peer, measured] : peers.items()) {
    if (peer == "lathe") continue;
    if (!is_measured(peer)) {
      fmt::print("{:<12} {}\n", peer, measured.value("status", "failed"));
      continue;
    }
    fmt::print("{:.2f}x the speed of {} {}: {:.3f} ms against {:.3f} ms\n", time(peer) / own, peer,
               versions.value(peer, ""), own, time(peer));
  }
  fmt::print("{} thread{}, fp32, batch 1, alternating runs on the same cores, medians\n", threads,
             threads == 1 ? "" : "s");
}

}  // namespace

int compare(const Comparison& comparison) {
  // Never committed: it is gone when this ends.
  FolderDraft folder((fs::temp_directory_path() / "lathe-comparison").string());
  std::string report = folder.file("report.json");
  std::vector<std::string> arguments = {find_peers().string(),
                                        comparison.network,
                                        "--lathe",
                                        own_path().string(),
                                        "--threads",
                                        std::to_string(comparison.threads),
                                        "--seconds",
                                        fmt::format("{}", comparison.seconds),
                                        "--json",
                                        report};
  if (comparison.peer != "best") {
    arguments.insert(arguments.end(), {"--peers", comparison.peer});
  }
  int status = run_program(arguments);
  std::ifstream file(report);
  nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  if (status != 0 || json.is_discarded() || json.at("results").empty()) {
    fail("the comparison failed (status {}); scripts/setup-bench installs the peers", status);
  }
  if (comparison.json) {
    fmt::print("{}\n", json.dump());
    return 0;
  }
  for (const nlohmann::json& result : json.at("results")) print_result(result, json.at("versions"));
  return 0;
}

}  // namespace lathe::cli
