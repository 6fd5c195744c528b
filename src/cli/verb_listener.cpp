// verb_listener.cpp: what a job tells, shown. Interface: verb_listener.h.
#include "cli/verb_listener.h"

#include <unistd.h>

#include "cli/verb_interruption.h"

namespace lathe::cli {
namespace {

void print_warning(const JobWarning& warning) {
  fmt::print(stderr, "lathe: warning: {}\n", warning.text);
}

}  // namespace

JobListener showing_warnings() {
  return {[](const JobEvent& event) {
    if (const auto* warning = std::get_if<JobWarning>(&event)) print_warning(*warning);
  }};
}

JobBar::JobBar(std::string what, Elsewhere elsewhere)
    : bar_(std::move(what)), elsewhere_(elsewhere) {}

JobListener JobBar::listener() {
  listen_to_interruptions();
  return {[this](const JobEvent& event) {
            if (const auto* work = std::get_if<WorkDone>(&event)) show(*work);
            if (const auto* warning = std::get_if<JobWarning>(&event)) show(*warning);
          },
          is_interrupted};
}

void JobBar::show(const WorkDone& work) {
  bar_.show(work.done, work.all);
  bool lines = elsewhere_ == Elsewhere::tenths && isatty(STDERR_FILENO) == 0;
  bool is_tenth = work.done > 0 && work.done * 10 / work.all != (work.done - 1) * 10 / work.all;
  if (lines && is_tenth) fmt::print(stderr, "{} of {} {}\n", work.done, work.all, work.what);
}

void JobBar::show(const JobWarning& warning) {
  bar_.clear();
  print_warning(warning);
}

}  // namespace lathe::cli
