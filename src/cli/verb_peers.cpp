// verb_peers.cpp: runs bench/peers and reads its report. Interface: verb_peers.h.
#include "cli/verb_peers.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>

#include "base/error.h"
#include "data/file.h"
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

/// Returns the file that all peers read: the user's own where it can be, for a file that Lathe
/// wrote anew might suit it better. Others are named after the network.
std::string onnx_file(const NetworkArguments& arguments, const FolderDraft& folder) {
  bool unchanged = arguments.shapes.empty() && arguments.recipes.empty();
  if (is_onnx_file(arguments.network) && unchanged) return arguments.network;
  Graph graph = initialised(load_network(arguments), arguments.seed);
  std::string bytes = export_onnx(graph), name = graph.name;
  std::replace(name.begin(), name.end(), '/', '_');
  std::string file = folder.file(name + ".onnx");
  write_file(file, {std::as_bytes(std::span(bytes))});
  return file;
}

struct PeerTime {
  std::string peer;
  double time;  ///< milliseconds
};

bool is_measured(const nlohmann::json& peer) { return peer.value("status", "") == "ok"; }

/// Returns the times of all but Lathe that were measured, the fastest first.
std::vector<PeerTime> fastest_first(const nlohmann::json& peers) {
  std::vector<PeerTime> times;
  for (const auto& [peer, measured] : peers.items()) {
    if (peer == "lathe" || !is_measured(measured)) continue;
    times.push_back({peer, 1e3 * measured.at("median_s").get<double>()});
  }
  std::sort(times.begin(), times.end(),
            [](const PeerTime& a, const PeerTime& b) { return a.time < b.time; });
  return times;
}

/// Returns a line for each that was not measured, with the reason.
std::string print_left_out(const nlohmann::json& peers) {
  std::string text;
  for (const auto& [peer, measured] : peers.items()) {
    if (is_measured(measured)) continue;
    std::string reason = measured.value("reason", "");
    text += fmt::format("left out: {}, {}{}{}\n", peer, measured.value("status", "failed"),
                        reason.empty() ? "" : ": ", reason);
  }
  return text;
}

void print_result(const nlohmann::json& result, const nlohmann::json& versions) {
  const nlohmann::json& peers = result.at("peers");
  std::vector<PeerTime> times = fastest_first(peers);
  std::string left_out = print_left_out(peers);
  if (!is_measured(peers.at("lathe")) || times.empty()) {
    fail("there is nothing to compare\n{}", left_out.substr(0, left_out.size() - 1));
  }
  double own = 1e3 * peers.at("lathe").at("median_s").get<double>();
  for (const PeerTime& other : times) {
    bool is_best = times.size() > 1 && &other == &times.front();
    fmt::print("{:.2f}x the speed of {} {}{}: {:.3f} ms against {:.3f} ms\n", other.time / own,
               other.peer, versions.value(other.peer, ""), is_best ? ", the fastest peer" : "", own,
               other.time);
  }
  int threads = result.at("threads");
  fmt::print("{}{} thread{}, fp32, alternating runs on the same cores, medians, outputs compared\n",
             left_out, threads, threads == 1 ? "" : "s");
}

/// Runs the program and returns its report; null if it has said what is wrong with the request.
nlohmann::json measured_peers(const Comparison& comparison) {
  // Never committed: it is gone when this ends.
  FolderDraft folder((fs::temp_directory_path() / "lathe-comparison").string());
  std::string report = folder.file("report.json");
  int status = run_program({find_peers().string(), onnx_file(comparison.network, folder), "--lathe",
                            own_path().string(), "--peers", comparison.peers, "--threads",
                            std::to_string(comparison.threads), "--seconds",
                            fmt::format("{}", comparison.seconds), "--json", report});
  if (status == 2) return nullptr;
  std::ifstream file(report);
  nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  if (status != 0 || json.is_discarded() || json.at("results").empty()) {
    fail("the comparison failed (status {})", status);
  }
  return json;
}

}  // namespace

std::vector<std::string> peer_names() {
  return {"best", "all", "onnxruntime", "openvino", "ncnn", "torch", "tvm"};
}

int compare(const Comparison& comparison) {
  nlohmann::json json = measured_peers(comparison);
  if (json.is_null()) return 2;  // it has said why
  if (comparison.json) {
    fmt::print("{}\n", json.dump());
    return 0;
  }
  for (const nlohmann::json& result : json.at("results")) print_result(result, json.at("versions"));
  return 0;
}

std::vector<ResultPeer> peer_times(const Comparison& comparison) {
  std::vector<ResultPeer> result;
  try {
    nlohmann::json json = measured_peers(comparison);
    if (json.is_null()) return {};
    const nlohmann::json& peers = json.at("results").front().at("peers");
    if (!is_measured(peers.at("lathe"))) fail("{}", print_left_out(peers));
    double own = 1e3 * peers.at("lathe").at("median_s").get<double>();
    for (const PeerTime& peer : fastest_first(peers)) {
      std::string version = json.at("versions").value(peer.peer, "");
      result.push_back({peer.peer + (version.empty() ? "" : " " + version), peer.time, own});
    }
  } catch (const UserError& error) {
    fmt::print(stderr, "lathe: warning: no comparison with others: {}\n", error.what());
  }
  return result;
}

}  // namespace lathe::cli
