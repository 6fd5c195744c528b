// call_search.cpp: options that searches have. Interface: call_search.h.
#include "calls/call_search.h"

#include "calls/call_network.h"

namespace lathe {

SpaceOptions space_options(Options& options, SpaceOptions usual) {
  options.read("include", usual.include);
  options.read("exclude", usual.exclude);
  options.read("pointwise", usual.pointwise);
  options.read("narrow", usual.narrow);
  options.read("neural", usual.variants.neural, {1, 3});
  FamilyChoice families;
  options.read("families", families.only);
  options.read("without", families.without);
  return of_families(usual, families);
}

OptimizeOptions search_options(Options& options) {
  OptimizeOptions job;
  job.score = data_options(options, job.score);
  options.read("work_dir", job.folder);
  job.space = space_options(options, job.space);
  options.read("variants", job.space.most, {0});
  options.read("exact", job.exact, {1, 100000});
  options.read("tune", job.tune, {0, 1e6});
  options.read("threads", job.threads, {1, 256});
  options.read("against", job.against);
  options.read("lathe", job.lathe);
  options.read("command", job.command);
  return job;
}

}  // namespace lathe
