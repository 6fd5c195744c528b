// What a job tells, shown: a bar on a terminal that makes way for warnings.
//
//   JobBar bar("scoring");
//   GateVerdict verdict = judge_network(options, bar.listener());
#pragma once

#include "cli/verb_network.h"
#include "jobs/event.h"

namespace lathe::cli {

/// Returns who listens to a job that is soon done: warnings are shown, and Ctrl-C ends the program.
JobListener showing_warnings();

class JobBar {
 public:
  /// What is shown where there is no terminal: nothing, or a line for each tenth of the work.
  enum class Elsewhere { nothing, tenths };

  explicit JobBar(std::string what, Elsewhere elsewhere = Elsewhere::nothing);

  /// Returns who listens: this, which must live as long as the job. Ctrl-C stops the job.
  JobListener listener();

 private:
  ProgressBar bar_;
  Elsewhere elsewhere_;

  void show(const WorkDone& work);
  void show(const JobWarning& warning);
};

}  // namespace lathe::cli
