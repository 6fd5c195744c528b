// call_search.cpp: options that searches have. Interface: call_search.h.
#include "calls/call_search.h"

#include "calls/call_network.h"

namespace lathe {

OptimizeOptions search_options(Options& options) {
  OptimizeOptions job;
  job.score = data_options(options, job.score);
  options.read("work_dir", job.folder);
  options.read("include", job.space.include);
  options.read("exclude", job.space.exclude);
  options.read("pointwise", job.space.pointwise);
  options.read("narrow", job.space.narrow);
  options.read("variants", job.space.most, {0});
  options.read("neural", job.space.variants.neural, {1, 3});
  FamilyChoice families;
  options.read("families", families.only);
  options.read("without", families.without);
  job.space = of_families(job.space, families);
  options.read("exact", job.exact, {1, 100000});
  options.read("tune", job.tune, {0, 1e6});
  options.read("threads", job.threads, {1, 256});
  options.read("against", job.against);
  options.read("lathe", job.lathe);
  options.read("command", job.command);
  return job;
}

}  // namespace lathe
