// Export: what is written is read back as the same graph, and computes the same.
#include <gtest/gtest.h>

#include <set>

#include "compile/executor.h"
#include "models/model.h"
#include "ops/op_graph.h"
#include "support/onnx_model.h"
#include "support/run_call.h"

namespace lathe::test {
namespace {

/// Returns calls of an operator: its examples with operands, or the first operands that it takes.
std::vector<std::string> calls_of(const Op& op) {
  std::vector<std::string> calls;
  auto is_call = [](const std::string& text) {
    return message_of([&] { infer(parse_call(text)); }).empty();
  };
  for (const std::string& example : op.examples) {
    if (is_call(example)) calls.push_back(example);
  }
  if (!calls.empty()) return calls;
  for (const char* operands :
       {"f32[2x3]", "f32[2x3], f32[2x3]", "i64[2x3]", "i64[2x3], i64[2x3]", "bool[2x3]",
        "bool[2x3], bool[2x3]", "bool[2x3], f32[2x3], f32[2x3]"}) {
    std::string text = fmt::format("{}({})", op.name, operands);
    if (calls.empty() && is_call(text)) calls.push_back(text);
  }
  EXPECT_FALSE(calls.empty()) << op.name;
  return calls;
}

/// A graph of one node; its weights have data.
Graph graph_of(const Call& call) {
  GraphBuilder g("one");
  std::vector<ValueId> operands;
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (!call.has(i)) {
      operands.push_back(no_value);
    } else if (call.operand(i).is_weight) {
      operands.push_back(g.weight(fmt::format("w{}", i), random_operand(call.type(i), 7)));
    } else {
      operands.push_back(g.input(fmt::format("x{}", i), call.type(i)));
    }
  }
  for (ValueId id : g.call_all(call.name(), operands, call.attributes(), "node")) g.output(id);
  return g.build();
}

std::vector<Array> inputs_of(const Graph& graph) {
  std::vector<Array> inputs;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    inputs.push_back(
        random_operand(graph.values[graph.inputs[i]].type, static_cast<unsigned>(i) + 1));
  }
  return inputs;
}

/// Names an operator; those that add up narrow numbers as wide ones are others.
std::string kind_of(const Call& call) {
  for (const Setting& setting : call.op().graph.settings) {
    bool can_widen = setting.name == "to" && setting.otherwise == Attribute(std::string());
    if (can_widen && call.attributes().contains("to")) return call.name() + "(to)";
  }
  return call.name();
}

TEST(OnnxRoundTrip, EveryOperator) {
  std::set<std::string> exported, refused, different;
  for (const Op& op : operators()) {
    if (op.graph.infer == nullptr) continue;
    for (const std::string& example : calls_of(op)) {
      SCOPED_TRACE(example);
      Graph graph = graph_of(parse_call(example));
      std::string bytes;
      std::string error = message_of([&] { bytes = export_onnx(graph); });
      if (!error.empty()) {
        refused.insert(op.name);
        EXPECT_EQ(error,
                  fmt::format("ONNX has no standard operator for:\n  {}, node 'node'", op.name));
        continue;
      }
      exported.insert(op.name);
      Graph read;
      std::string import_error = message_of([&] { read = parse_onnx(bytes, "m.onnx", "."); });
      ASSERT_EQ(import_error, "");
      if (structural_hash(read) != structural_hash(graph)) {
        different.insert(kind_of(parse_call(example)));
      }
      std::vector<Array> inputs = inputs_of(graph);
      std::string run_error;
      std::vector<Array> wanted, got;
      run_error = message_of([&] { wanted = Executor(graph).run(inputs); });
      std::string again = message_of([&] { got = Executor(read).run(inputs); });
      EXPECT_EQ(run_error.empty(), again.empty()) << run_error << " / " << again;
      ASSERT_EQ(got.size(), wanted.size());
      for (size_t i = 0; i < got.size(); ++i) {
        EXPECT_EQ(got[i].element(), wanted[i].element());
        EXPECT_EQ(got[i].shape(), wanted[i].shape());
        if (got[i].element() == Element::string) {
          EXPECT_EQ(got[i].strings(), wanted[i].strings());
        } else {
          expect_elements(got[i], wanted[i].reals(), 1e-5);
        }
      }
    }
  }
  // Every operator of a network, ONNX has in some operator set; "fused" is several, those for speed
  // are what a pass makes of others, and the rest is for training.
  EXPECT_EQ(fmt::format("{}", fmt::join(refused, " ")),
            "adjoint fast_erf fast_gelu fast_gelu_tanh fast_sigmoid fast_swish fast_tanh fused "
            "variance");
  // These come back in another form that computes the same: axes are written out, indices become
  // 64-bit, the settings of selu have more digits than ONNX stores, and narrow numbers are made
  // wide before they are added up.
  different.erase("gelu");  // it is written as the formula that it is
  EXPECT_EQ(
      fmt::format("{}", fmt::join(different, " ")),
      "conv(to) cumprod cumsum dequantize fully_connected(to) gather gather_elements one_hot "
      "quantize "
      "reduce_l1 reduce_l2 reduce_log_sum reduce_log_sum_exp reduce_max reduce_mean "
      "reduce_min reduce_prod reduce_sum reduce_sum(to) reduce_sum_square scatter_elements selu");
  EXPECT_GE(exported.size(), 100u);
}

TEST(OnnxRoundTrip, SmallNetworks) {
  int count = 0;
  for (const ModelEntry& entry : list_models()) {
    Graph graph = load_model(entry.example);
    // A gelu comes back as the operators that it is written with.
    if (weight_count(graph) > 12000000 || entry.example.starts_with("bert")) continue;
    SCOPED_TRACE(entry.example);
    graph = initialised(graph, 1);
    Graph read = parse_onnx(export_onnx(graph), "m.onnx", ".");
    EXPECT_EQ(structural_hash(read), structural_hash(graph));
    ++count;
  }
  EXPECT_GE(count, 10);
}

TEST(OnnxRoundTrip, WeightsNeedData) {
  Graph graph = load_model("resnet18-cifar");
  expect_failure([&] { export_onnx(graph); }, {"'conv1.weight' has no data"});
}

TEST(OnnxRoundTrip, KindsOfValuesStay) {
  GraphBuilder g("kinds");
  ValueId x = g.input("x", {Element::f32, {2, 2}});
  ValueId w = g.weight("w", Array(Element::f32, {2}));
  ValueId c = g.constant(Array(Element::f32, {2}), "c");
  g.output(g.call("add", {g.call("mul", {x, w}), c}, {}, "y"));
  Graph read = parse_onnx(export_onnx(g.build()), "m.onnx", ".");
  EXPECT_EQ(read.values[*find_value(read, "w")].kind, Value::Kind::weight);
  EXPECT_EQ(read.values[*find_value(read, "c")].kind, Value::Kind::constant);
}

}  // namespace
}  // namespace lathe::test
