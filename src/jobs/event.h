// What a job tells while it works, and how it is asked to stop.
//
//   JobListener listener;
//   listener.tell = [](const JobEvent& event) { ... };       std::visit finds out which one it is
//   listener.stop = [&] { return is_interrupted; };
//
// A job prints nothing. Events come one at a time, but may come from any of its threads.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>

#include "search/journal.h"

namespace lathe {

/// So many of some alike things are done.
struct WorkDone {
  std::string what;  ///< "variants measured"
  size_t done = 0, all = 0;
};

/// A network was tried; it is the n-th.
struct NetworkTried {
  Trial trial;
  long number = 0;
  std::string strategy;  ///< that proposed it
};

/// A network is being tuned.
struct TuningGoesOn {
  std::string network;              ///< "the original"
  double elapsed = 0, seconds = 0;  ///< of so many
};

/// The user should know of this; the job goes on.
struct JobWarning {
  std::string text;
};

using JobEvent = std::variant<WorkDone, NetworkTried, TuningGoesOn, JobWarning>;

/// Converts an event to JSON: {"event": "progress", "what": ..., "done": ..., "of": ...}. Nothing
/// if programs need not know: of networks, they are told those that were judged exactly.
std::optional<nlohmann::json> to_json(const JobEvent& event);

/// Thrown where a job is asked to stop and has nothing to hand over yet. It is no failure, and no
/// candidate's fault: whoever tries candidates lets it pass.
struct JobStopped {};

/// Who listens to a job. Both functions may be left out.
struct JobListener {
  std::function<void(const JobEvent&)> tell = nullptr;
  std::function<bool()> stop = nullptr;

  /// Tells of an event, if anybody listens.
  void operator()(const JobEvent& event) const {
    if (tell) tell(event);
  }
  /// Is the job asked to stop?
  bool is_stopped() const { return stop && stop(); }
};

}  // namespace lathe
