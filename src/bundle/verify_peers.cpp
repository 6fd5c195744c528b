// verify_peers.cpp: networks run by other libraries. Interface: verify_peers.h.
#include "bundle/verify_peers.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "base/error.h"
#include "data/folder.h"
#include "data/npy.h"

namespace lathe {
namespace {

using Texts = std::vector<std::string>;

/// Seconds that a program may take.
constexpr unsigned patience = 300;

/// Takes path, inputs and outputs from the command line: MODEL COUNT INPUT.npy... OUTPUT.npy...
const char* const script_begin = R"(import sys
import numpy
path, count = sys.argv[1], int(sys.argv[2])
inputs = [numpy.load(file) for file in sys.argv[3:3 + count]]
)";
const char* const script_end = R"(
for file, output in zip(sys.argv[3 + count:], outputs):
    numpy.save(file, output)
)";

/// Runs a program; what it prints goes to a file. Returns its status.
int run_program(const Texts& arguments, const std::string& log) {
  std::vector<char*> pointers;
  for (const std::string& text : arguments) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  pid_t child = fork();
  if (child < 0) fail("cannot start {}", arguments.front());
  if (child == 0) {
    alarm(patience);
    int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || dup2(file, STDOUT_FILENO) < 0 || dup2(file, STDERR_FILENO) < 0) _exit(126);
    execvp(pointers[0], pointers.data());
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return 124;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

std::string last_line(const std::string& path) {
  std::ifstream file(path);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  }
  return last;
}

/// Returns the first of "pythons" that has a module; "" if none has.
std::string python_with(const Texts& pythons, const std::string& module, const std::string& log) {
  for (const std::string& python : pythons) {
    if (run_program({python, "-c", "import " + module}, log) == 0) return python;
  }
  return "";
}

/// One run: files of inputs and outputs in a folder that is gone when it ends.
class ProgramRun {
 public:
  ProgramRun(const Texts& pythons, const std::vector<Array>& inputs, size_t outputs)
      : pythons_(pythons) {
    for (const Array& input : inputs) {
      inputs_.push_back(folder_.file(fmt::format("in{}.npy", inputs_.size())));
      write_npy(inputs_.back(), input);
    }
    for (size_t i = 0; i < outputs; ++i) {
      outputs_.push_back(folder_.file(fmt::format("out{}.npy", i)));
    }
  }

  const Texts& inputs() const { return inputs_; }
  const Texts& outputs() const { return outputs_; }

  /// Runs Python with these arguments, where it has a module.
  PeerOutputs run(const std::string& module, Texts arguments) {
    std::string log = folder_.file("log"), python = python_with(pythons_, module, log);
    if (python.empty()) {
      return {
          {}, fmt::format("{} cannot be imported by {}", module, fmt::join(pythons_, ", ")), ""};
    }
    arguments.insert(arguments.begin(), python);
    int status = run_program(arguments, log);
    if (status == 124) return {{}, fmt::format("it took more than {} s", patience), ""};
    if (status != 0) return {{}, "", last_line(log)};
    PeerOutputs result;
    for (const std::string& output : outputs_) result.outputs.push_back(read_npy(output));
    return result;
  }

 private:
  const Texts& pythons_;
  TemporaryFolder folder_{"lathe-verify"};
  Texts inputs_, outputs_;
};

}  // namespace

const std::vector<OnnxPeer>& onnx_peers() {
  static const std::vector<OnnxPeer> peers = {
      {"ONNX Runtime", "onnxruntime",
       "import onnxruntime\n"
       "session = onnxruntime.InferenceSession(path, providers=['CPUExecutionProvider'])\n"
       "names = [each.name for each in session.get_inputs()]\n"
       "outputs = session.run(None, dict(zip(names, inputs)))\n"},
      {"ONNX reference", "onnx.reference",
       "import onnx.reference\n"
       "evaluator = onnx.reference.ReferenceEvaluator(path)\n"
       "outputs = evaluator.run(None, dict(zip(evaluator.input_names, inputs)))\n"}};
  return peers;
}

PeerOutputs run_onnx(const OnnxPeer& peer, const std::vector<std::string>& pythons,
                     const std::string& path, const std::vector<Array>& inputs, size_t outputs) {
  ProgramRun run(pythons, inputs, outputs);
  Texts arguments{"-c", script_begin + peer.script + script_end, path,
                  std::to_string(inputs.size())};
  arguments.insert(arguments.end(), run.inputs().begin(), run.inputs().end());
  arguments.insert(arguments.end(), run.outputs().begin(), run.outputs().end());
  return run.run(peer.module, arguments);
}

PeerOutputs run_torch(const std::vector<std::string>& pythons, const std::string& path,
                      const std::vector<Array>& inputs, size_t outputs) {
  ProgramRun run(pythons, inputs, outputs);
  Texts arguments{"-B", path};
  arguments.insert(arguments.end(), run.inputs().begin(), run.inputs().end());
  arguments.push_back("-o");
  arguments.insert(arguments.end(), run.outputs().begin(), run.outputs().end());
  return run.run("torch", arguments);
}

}  // namespace lathe
