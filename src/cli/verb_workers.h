// Machines that work for a search, as options of verbs.
#pragma once

#include "cli/verb_command.h"
#include "search/worker_pool.h"

namespace lathe::cli {

/// Adds --tls-ca, --tls-cert, --tls-key and --insecure.
void add_encryption_arguments(Command& app, WorkerOptions& workers);

/// Adds --workers and the same.
void add_workers_arguments(Command& app, WorkerOptions& workers);

/// Returns the Python that has the package: the command "lathe" of the wheel says so in
/// $LATHE_PYTHON. "" elsewhere.
std::string workers_python();

}  // namespace lathe::cli
