// Results of a pure function, kept for when it is asked again.
//
//   static Memo<Known> memo;
//   std::shared_ptr<const Known> known = memo.of(print(call), [&] { return find_out(call); });
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace lathe {

/// Results by the text that decides them. Used by several threads.
template <class Result>
class Memo {
 public:
  /// Returns what "make" returned for this text before, or returns now; what it throws is not kept.
  template <class Make>
  std::shared_ptr<const Result> of(const std::string& text, const Make& make) {
    {
      std::lock_guard lock(mutex_);
      auto found = known_.find(text);
      if (found != known_.end()) return found->second;
    }
    // Outside the lock: it may take long, and two that make the same make equal results.
    auto made = std::make_shared<const Result>(make());
    std::lock_guard lock(mutex_);
    if (known_.size() >= most) known_.clear();
    return known_.try_emplace(text, std::move(made)).first->second;
  }

 private:
  /// More than the networks of a search have in common; beyond it, all are forgotten.
  static constexpr size_t most = 1 << 14;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const Result>> known_;
};

}  // namespace lathe
