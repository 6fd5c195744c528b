// What the functions for C share: errors as statuses, listeners.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>

#include "calls/lathe.h"
#include "jobs/event.h"

namespace lathe {

/// Does the work. Turns what it throws into a status, and keeps the message for lathe_error().
lathe_status guarded(const std::function<void()>& work);

/// Keeps a listener of C: what it says, and whether it asked to stop.
class ForeignListener {
 public:
  /// "foreign" may be null. It must live as long as this.
  explicit ForeignListener(const lathe_listener* foreign) : foreign_(foreign) {}

  /// Returns who listens to a job: this, which must live as long.
  JobListener listener();
  /// Did it ask to stop?
  bool has_stopped() const { return has_stopped_; }

 private:
  const lathe_listener* foreign_;
  std::atomic<bool> has_stopped_ = false;
  std::mutex mutex_;

  void tell(const JobEvent& event);
  bool stop();
};

}  // namespace lathe
