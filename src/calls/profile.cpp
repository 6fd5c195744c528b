// profile.cpp: the call "profile": say what a search could choose from.
#include "jobs/profile.h"
#include "calls/call.h"
#include "calls/call_network.h"
#include "calls/call_search.h"

namespace lathe::calls {
namespace {

nlohmann::json run_profile(Options& options, const JobListener& /*listener*/) {
  ProfileOptions job;
  job.network = network_options(options);
  job.space = space_options(options);
  options.read("variants", job.most, {0});
  options.check_all_read();
  return to_json(profile_network(job));
}

}  // namespace

ForeignCall profile() {
  return {"profile", "say what a search could choose from, by meaning", run_profile};
}

}  // namespace lathe::calls
