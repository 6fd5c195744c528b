// worker_pool.cpp: the process that hands tasks on. Interface: worker_pool.h.
#include "search/worker_pool.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/error.h"

namespace lathe {
namespace {

using Json = nlohmann::json;

constexpr std::chrono::milliseconds look(100);  // between two looks at whether to stop

std::vector<std::string> words_of(const WorkerOptions& options) {
  std::vector<std::string> words{options.python, "-m", "lathe.workers", options.address};
  for (const auto& [name, value] : {std::pair("--kind", &options.kind),
                                    {"--tls-ca", &options.tls_ca},
                                    {"--tls-cert", &options.tls_cert},
                                    {"--tls-key", &options.tls_key}}) {
    if (!value->empty()) words.insert(words.end(), {name, *value});
  }
  if (options.insecure) words.emplace_back("--insecure");
  return words;
}

}  // namespace

WorkerPool::WorkerPool(const WorkerOptions& options, const Json& search, const Json& here,
                       std::function<void(const std::string&)> warn)
    : warn_(std::move(warn)) {
  if (options.python.empty()) {
    fail(
        "--workers needs Lathe's Python package: install the wheel (make wheel), with "
        "'lathe[machines]', and use the command 'lathe' that comes with it");
  }
  start(words_of(options));
  send({{"search", search}, {"here", here}});
}

WorkerPool::~WorkerPool() {
  if (stream_ >= 0) close(stream_);  // it ends then
  int status = 0;
  while (child_ > 0 && waitpid(child_, &status, 0) < 0 && errno == EINTR) continue;
}

void WorkerPool::start(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  // A socket: a pipe whose reader has died would kill this process, too.
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    fail("cannot make a socket: {}", std::strerror(errno));
  }
  stream_ = ends[0];
  child_ = fork();
  if (child_ == 0) {
    setpgid(0, 0);  // Ctrl-C is for this process, which asks it to end
    dup2(ends[1], STDIN_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    execvp(pointers[0], pointers.data());
    _exit(127);
  }
  close(ends[1]);
  if (child_ < 0) fail("cannot start a process: {}", std::strerror(errno));
}

void WorkerPool::send(const Json& message) {
  std::string text = message.dump() + "\n";
  for (size_t done = 0; done < text.size();) {
    ssize_t n = ::send(stream_, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // it has ended: next() says why
    done += static_cast<size_t>(n);
  }
}

long WorkerPool::ask(Json task) {
  long id = ++asked_;
  open_.insert(id);
  task["id"] = id;
  send(task);
  return id;
}

void WorkerPool::forget(const std::set<long>& ids) {
  if (ids.empty()) return;
  for (long id : ids) open_.erase(id);
  send({{"forget", ids}});
}

std::optional<std::string> WorkerPool::line(std::chrono::milliseconds patience) {
  while (true) {
    size_t end = text_.find('\n');
    if (end != std::string::npos) {
      std::string line = text_.substr(0, end);
      text_.erase(0, end + 1);
      return line;
    }
    pollfd wait{stream_, POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(patience.count())) <= 0) return std::nullopt;
    std::array<char, 1 << 16> buffer;
    ssize_t n = ::read(stream_, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      fail(
          "the process that gives work to other machines ended: the same command goes on where "
          "this one stopped");
    }
    text_.append(buffer.data(), static_cast<size_t>(n));
  }
}

std::optional<WorkerPool::Answer> WorkerPool::heard(const std::string& line) {
  Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) fail("the process that gives work to other machines says '{}'", line);
  if (json.contains("error")) fail("{}", json["error"].get<std::string>());
  if (json.contains("machine")) {
    machine_ = json["machine"];
    return std::nullopt;
  }
  if (json.contains("warning")) {
    if (warn_) warn_(json["warning"].get<std::string>());
    return std::nullopt;
  }
  Answer answer{json.at("id"), json.value("result", Json()), json.value("failed", "")};
  if (open_.erase(answer.id) == 0) return std::nullopt;  // it was forgotten
  return answer;
}

Json WorkerPool::machine(const std::function<bool()>& stop) {
  while (machine_.is_null() && !(stop && stop())) {
    if (auto text = line(look)) heard(*text);
  }
  return machine_;
}

std::optional<WorkerPool::Answer> WorkerPool::next(const std::function<bool()>& stop) {
  while (!(stop && stop())) {
    auto text = line(look);
    if (!text) continue;
    if (auto answer = heard(*text)) return answer;
  }
  return std::nullopt;
}

}  // namespace lathe
