// verb_peers.cpp: what comparisons show. Interface: verb_peers.h.
#include "cli/verb_peers.h"

#include <fmt/format.h>

#include <filesystem>

namespace lathe::cli {

std::string own_path() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

void print_peers(const PeerReport& report, int threads, const std::string& precision) {
  for (const ResultPeer& other : report.times) {
    bool is_best = report.times.size() > 1 && &other == &report.times.front();
    fmt::print("{:.2f}x the speed of {}{}: {:.3f} ms against {:.3f} ms\n",
               other.ms / other.original_ms, other.name, is_best ? ", the fastest peer" : "",
               other.original_ms, other.ms);
  }
  for (const PeerLeftOut& peer : report.left_out) {
    fmt::print("left out: {}, {}\n", peer.name, peer.reason);
  }
  fmt::print("{} thread{}, {}, alternating runs on the same cores, medians, outputs compared\n",
             threads, threads == 1 ? "" : "s", precision == "f32" ? "fp32" : precision);
}

}  // namespace lathe::cli
