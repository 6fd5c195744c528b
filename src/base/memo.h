// Keeps the results of a pure function, so that each is computed once.
//
//   static Memo<Known> memo;
//   std::shared_ptr<const Known> known = memo.of(print(call), [&] { return find_out(call); });
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace lathe {

/// Results by the text that decides them. Several threads may use it at once.
template <class Result>
class Memo {
 public:
  /// Returns the result for this text: the one that is kept, or what "make" returns, which is kept.
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
  /// More results than a search needs; when there are so many, all are forgotten.
  static constexpr size_t most = 1 << 14;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const Result>> known_;
};

}  // namespace lathe
