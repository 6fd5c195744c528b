// isolated.cpp: work in a child process. Interface: isolated.h.
//
// The child writes its answer into a pipe, a letter first: 'r' for a result, 'f' for a failure. An
// answer without its end, a newline, is none: the child died while it wrote.
#include "search/isolated.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>

#include "base/error.h"

namespace lathe {
namespace {

using Clock = std::chrono::steady_clock;

std::string answer_of(const std::function<std::string()>& work) {
  try {
    return "r" + work() + "\n";
  } catch (const std::exception& error) {
    return fmt::format("f{}\n", error.what());
  } catch (...) {
    return "fit failed\n";
  }
}

[[noreturn]] void run_child(const std::function<std::string()>& work, int to, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it died before this was said
  signal(SIGINT, SIG_IGN);
  for (int fatal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM}) signal(fatal, SIG_DFL);
  std::string answer = answer_of(work);
  for (size_t done = 0; done < answer.size();) {
    ssize_t n = write(to, answer.data() + done, answer.size() - done);
    if (n <= 0) _exit(1);
    done += static_cast<size_t>(n);
  }
  _exit(0);
}

/// Reads until the child closes the pipe; returns whether it did so in time.
bool read_all(int from, double seconds, std::string& text) {
  auto end = Clock::now() + std::chrono::duration<double>(seconds);
  char buffer[4096];
  while (true) {
    double left = std::chrono::duration<double>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd wait{from, POLLIN, 0};
    int ready = poll(&wait, 1, static_cast<int>(std::min(left, 1000.0) * 1000) + 1);
    if (ready <= 0) continue;
    ssize_t n = ::read(from, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    text.append(buffer, static_cast<size_t>(n));
  }
}

/// Waits for the end of the child; returns how it ended.
int status_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

}  // namespace

Outcome isolated(const std::function<std::string()>& work, double seconds) {
  int ends[2];
  if (pipe(ends) != 0) fail("cannot make a pipe: {}", std::strerror(errno));
  std::fflush(nullptr);  // or the child would print it again
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    close(ends[0]);
    run_child(work, ends[1], parent);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    fail("cannot start a process: {}", std::strerror(errno));
  }
  std::string text;
  bool in_time = read_all(ends[0], seconds, text);
  close(ends[0]);
  if (!in_time) kill(child, SIGKILL);
  int status = status_of(child);
  if (!in_time) return {"", fmt::format("it took longer than {:.0f} s", seconds)};
  bool whole = text.size() > 1 && text.back() == '\n';
  if (whole && text.front() == 'r') return {text.substr(1, text.size() - 2), ""};
  if (whole && text.front() == 'f') return {"", text.substr(1, text.size() - 2)};
  if (WIFSIGNALED(status)) return {"", fmt::format("it crashed: {}", strsignal(WTERMSIG(status)))};
  return {"", "it ended without an answer"};
}

}  // namespace lathe
