// Work shared by several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace lathe {

/// Returns how many threads this machine runs at a time; 1 if it does not say.
inline int processors() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

/// Calls work(0) to work(count - 1), each once, in "workers" threads. After a failure no further
/// call begins; the first failure is thrown once all threads have ended.
inline void for_each_index(size_t count, int workers, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  auto run = [&] {
    for (size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < workers; ++i) threads.emplace_back(run);
  run();
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace lathe
