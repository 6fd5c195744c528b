// export_.cpp: the call "export": write a network as an ONNX file, a PyTorch module, or text.
#include "bundle/torch.h"
#include "calls/call.h"
#include "calls/call_network.h"
#include "data/file.h"
#include "onnx/onnx.h"

namespace lathe::calls {
namespace {

void write_text(const std::string& file, const std::string& text) {
  write_file(file, {std::as_bytes(std::span(text))});
}

nlohmann::json run_export(Options& options, const JobListener& /*listener*/) {
  NetworkArguments arguments = network_options(options);
  std::string output = options.required("output"), format = "onnx";
  options.read("format", format);
  options.check_all_read();
  Graph network = initialised(load_network(arguments), arguments.seed);
  if (format == "torch") {
    write_torch(network, output);
  } else if (format == "onnx") {
    write_onnx(network, output);
  } else if (format == "text") {
    write_text(output, print(network));
  } else {
    fail("format is '{}': there are onnx, torch and text", format);
  }
  return {{"output", output}};
}

}  // namespace

ForeignCall export_() {
  return {"export", "write a network as an ONNX file, a PyTorch module, or text", run_export};
}

}  // namespace lathe::calls
