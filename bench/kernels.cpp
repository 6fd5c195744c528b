// From a nest to a function that can be called: the layers of ResNet-34, nothing kept from before.
#include <benchmark/benchmark.h>

#include "backends/backend.h"
#include "compile/node.h"
#include "ops/op.h"

namespace {

using namespace lathe;

const std::vector<std::string>& layers() {
  static const std::vector<std::string> all = {
      "conv(co=64, ci=3, oh=112, ow=112, k=7, stride=2, pad=3, bias=1)",
      "conv(co=64, ci=64, oh=56, ow=56, k=3, pad=1, bias=1)",
      "conv(co=128, ci=64, oh=28, ow=28, k=3, stride=2, pad=1, bias=1)",
      "conv(co=128, ci=64, oh=28, ow=28, k=1, stride=2, bias=1)",
      "conv(co=128, ci=128, oh=28, ow=28, k=3, pad=1, bias=1)",
      "conv(co=256, ci=128, oh=14, ow=14, k=3, stride=2, pad=1, bias=1)",
      "conv(co=256, ci=256, oh=14, ow=14, k=3, pad=1, bias=1)",
      "conv(co=512, ci=256, oh=7, ow=7, k=3, stride=2, pad=1, bias=1)",
      "conv(co=512, ci=512, oh=7, ow=7, k=3, pad=1, bias=1)",
  };
  return all;
}

/// Returns the layouts in which a convolution's channels lie together.
std::vector<Layout> layouts_of(const Nest& nest) {
  std::vector<Layout> layouts;
  for (const Tensor& tensor : nest.tensors()) {
    std::vector<long> shape = tensor.shape;
    bool image = tensor.role != Role::weight && shape.size() == 3;
    if (image) shape.insert(shape.begin(), 1);
    layouts.push_back(image ? blocked_layout(shape, shape[1] % 16 == 0 ? 16 : 1)
                            : row_major_layout(shape));
    if (image) layouts.back().axes.erase(layouts.back().axes.begin());
  }
  return layouts;
}

/// Makes functions of layers, one after the other.
class Maker {
 public:
  void make(const std::string& layer) {
    Context context;
    Nest nest = parse_op(context, layer);
    NodeCode code = lower_node(nest, layouts_of(nest), target_);
    std::vector<NamedCode> kernels;
    for (Code& kernel : code.kernels) {
      kernels.push_back({fmt::format("kernel_{}_{}", made_, kernels.size()), std::move(kernel)});
    }
    ++made_;
    device_->load(compiler_->object(kernels));
    benchmark::DoNotOptimize(device_->find(kernels.front().symbol));
  }

 private:
  Target target_ = native_target();
  std::unique_ptr<Compiler> compiler_ = make_compiler(target_);
  std::unique_ptr<Device> device_ = make_device(target_);
  int made_ = 0;
};

void nest_to_function(benchmark::State& state) {
  const std::string& layer = layers()[static_cast<size_t>(state.range(0))];
  state.SetLabel(layer);
  Maker maker;
  for (auto _ : state) maker.make(layer);
}

/// Each thread makes all layers in turn; no two are at the same one.
void layers_in_turn(benchmark::State& state) {
  Maker maker;
  size_t count = layers().size();
  size_t next = static_cast<size_t>(state.thread_index()) * count / 2;
  for (auto _ : state) maker.make(layers()[next++ % count]);
  state.SetItemsProcessed(state.iterations());
}

}  // namespace

BENCHMARK(nest_to_function)->DenseRange(0, 8)->Unit(benchmark::kMillisecond);
BENCHMARK(layers_in_turn)->Threads(1)->Threads(2)->UseRealTime()->Unit(benchmark::kMillisecond);
