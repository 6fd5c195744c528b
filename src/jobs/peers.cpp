// peers.cpp: runs bench/peers and reads its report. Interface: peers.h.
#include "jobs/peers.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>

#include "base/error.h"
#include "data/file.h"
#include "data/folder.h"
#include "onnx/onnx.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

/// Lets a descriptor of a child process lead to a file.
void write_to(const std::string& path, int descriptor) {
  int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || ::dup2(file, descriptor) < 0) _exit(126);
}

/// Runs a program; its output goes nowhere, its messages to a file, or to ours if that is "".
/// Returns its status.
int run_program(const std::vector<std::string>& arguments, const std::string& messages) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments)
    pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  pid_t child = fork();
  if (child < 0) fail("cannot start {}", arguments.front());
  if (child == 0) {
    write_to("/dev/null", STDOUT_FILENO);
    if (!messages.empty()) write_to(messages, STDERR_FILENO);
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
std::string onnx_file(const NetworkArguments& arguments, const TemporaryFolder& folder) {
  bool unchanged = arguments.shapes.empty() && arguments.recipes.empty();
  if (is_onnx_file(arguments.network) && unchanged) return arguments.network;
  Graph graph = initialised(load_network(arguments), arguments.seed);
  std::string bytes = export_onnx(graph), name = graph.name;
  std::replace(name.begin(), name.end(), '/', '_');
  std::string file = folder.file(name + ".onnx");
  write_file(file, {std::as_bytes(std::span(bytes))});
  return file;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool is_measured(const nlohmann::json& peer) { return peer.value("status", "") == "ok"; }

/// Reads what the program wrote about one network.
PeerReport report_of(const nlohmann::json& json) {
  PeerReport report;
  report.all = json.dump();
  const nlohmann::json& peers = json.at("results").front().at("peers");
  bool has_own = is_measured(peers.at("lathe"));
  double own = has_own ? 1e3 * peers.at("lathe").at("median_s").get<double>() : 0;
  for (const auto& [peer, measured] : peers.items()) {
    if (!is_measured(measured)) {
      std::string reason = measured.value("reason", ""),
                  status = measured.value("status", "failed");
      report.left_out.push_back({peer, status + (reason.empty() ? "" : ": " + reason)});
    } else if (peer != "lathe") {
      std::string version = json.at("versions").value(peer, "");
      report.times.push_back({peer + (version.empty() ? "" : " " + version),
                              1e3 * measured.at("median_s").get<double>(), own});
    }
  }
  std::sort(report.times.begin(), report.times.end(),
            [](const ResultPeer& a, const ResultPeer& b) { return a.ms < b.ms; });
  if (has_own && !report.times.empty()) return report;
  std::string text = "there is nothing to compare";
  for (const PeerLeftOut& peer : report.left_out) {
    text += fmt::format("\nleft out: {}, {}", peer.name, peer.reason);
  }
  fail("{}", text);
}

}  // namespace

std::vector<std::string> peer_names() {
  return {"best", "all", "onnxruntime", "openvino", "ncnn", "torch", "tvm"};
}

std::string find_peers(const std::string& lathe) {
  fs::path folder = fs::path(lathe).parent_path();
  std::vector<fs::path> places = {folder / "../../bench/peers", folder / "../share/lathe/peers"};
  for (const fs::path& place : places) {
    std::error_code error;
    if (fs::exists(place, error)) return fs::canonical(place).string();
  }
  fail("the comparison needs the program 'peers', which is neither at {} nor at {}",
       places[0].lexically_normal().string(), places[1].lexically_normal().string());
}

PeerReport measured_peers(const PeerOptions& options) {
  TemporaryFolder folder("lathe-comparison");
  std::string report = folder.file("report.json"), messages;
  if (options.messages == PeerOptions::Messages::kept) messages = folder.file("messages");
  int status = run_program(
      {find_peers(options.lathe), onnx_file(options.network, folder), "--lathe", options.lathe,
       "--peers", options.peers, "--threads", std::to_string(options.threads), "--seconds",
       fmt::format("{}", options.seconds), "--precision", options.precision, "--json", report},
      messages);
  std::ifstream file(report);
  nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  if (status != 0 || json.is_discarded() || json.at("results").empty()) {
    std::string said = messages.empty() ? "" : text_of(messages);
    while (said.ends_with('\n')) said.pop_back();
    fail("the comparison with others failed (status {}){}{}", status, said.empty() ? "" : ":\n",
         said);
  }
  return report_of(json);
}

}  // namespace lathe
