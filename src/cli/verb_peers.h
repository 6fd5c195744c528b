// What the verbs that compare with other libraries share.
#pragma once

#include "jobs/peers.h"

namespace lathe::cli {

/// Returns the path of this program.
std::string own_path();

/// Prints how Lathe and its peers stand: the fastest peer first.
void print_peers(const PeerReport& report, int threads, const std::string& precision);

}  // namespace lathe::cli
