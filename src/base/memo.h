// Keeps the results of a pure function, so that each is computed once.
//
//   static Memo<Known> memo;
//   std::shared_ptr<const Known> known = memo.of(print(call), [&] { return find_out(call); });
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>

namespace lathe {

/// Something that keeps results, and can forget them.
class AnyMemo {
 public:
  AnyMemo(const AnyMemo&) = delete;
  AnyMemo& operator=(const AnyMemo&) = delete;

  /// Forgets what all memos of the program keep, as if it had just begun: for measuring what it
  /// takes then.
  static void forget_all() {
    std::lock_guard lock(list().mutex);
    for (AnyMemo* memo : list().memos) memo->forget();
  }

 protected:
  AnyMemo() {
    std::lock_guard lock(list().mutex);
    list().memos.insert(this);
  }
  ~AnyMemo() {
    std::lock_guard lock(list().mutex);
    list().memos.erase(this);
  }

 private:
  struct List {
    std::mutex mutex;
    std::set<AnyMemo*> memos;
  };
  static List& list() {
    static List all;
    return all;
  }
  virtual void forget() = 0;
};

/// Results by the text that decides them. Several threads may use it at once.
template <class Result>
class Memo final : AnyMemo {
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

  void forget() override {
    std::lock_guard lock(mutex_);
    known_.clear();
  }
};

}  // namespace lathe
