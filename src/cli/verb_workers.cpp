// verb_workers.cpp: --workers. Interface: verb_workers.h.
#include "cli/verb_workers.h"

#include <cstdlib>

namespace lathe::cli {

void add_encryption_arguments(Command& app, WorkerOptions& workers) {
  app.add_option("--tls-ca FILE", workers.tls_ca, "who signs the certificates of machines");
  app.add_option("--tls-cert FILE", workers.tls_cert, "the certificate of this one");
  app.add_option("--tls-key FILE", workers.tls_key, "its key");
  app.add_flag("--insecure", workers.insecure,
               "use an address beyond this machine without certificates");
}

void add_workers_arguments(Command& app, WorkerOptions& workers) {
  app.add_option("--workers ADDRESS", workers.address,
                 "score and measure on other machines: tcp://HOST:PORT, tls://HOST:PORT, "
                 "ssh:FILE of hosts, slurm:JOBS, local:PROCESSES")
      ->suggests({"local:2"});
  app.add_option("--machine KIND", workers.kind,
                 "measure on machines of this name, as their 'lathe worker --kind' says; old,new: "
                 "find a network for each")
      ->otherwise("machines like this one");
  add_encryption_arguments(app, workers);
}

std::string workers_python() {
  const char* python = std::getenv("LATHE_PYTHON");
  return python == nullptr ? "" : python;
}

}  // namespace lathe::cli
