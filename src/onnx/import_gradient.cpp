// import_gradient.cpp: ONNX's operator Gradient, for values that element-wise arithmetic computes.
//
// Going back from the value, every node hands the gradient of its output on to its operands.
#include "onnx/site.h"

namespace lathe {
namespace {

class Gradient {
 public:
  explicit Gradient(const Site& site) : site_(site) {}

  void run(ValueId of) {
    Array one = Array::of_reals(site_.type_of(of).element, {}, std::vector<double>{1});
    gradients_[of] =
        site_.emit("expand", {site_.constant_value(one)}, {{"shape", site_.shape_of(of)}});
    // Nodes that are added below are no part of what is derived.
    std::vector<Node> nodes = site_.state().graph.nodes();
    for (size_t n = nodes.size(); n-- > 0;) {
      auto found = gradients_.find(nodes[n].outputs.front());
      if (found != gradients_.end()) hand_on(nodes[n], found->second);
    }
  }

  /// Returns the gradient with respect to a value; zeros if it does not matter.
  ValueId with_respect_to(ValueId id) const {
    auto found = gradients_.find(id);
    if (found != gradients_.end()) return found->second;
    site_.storable(site_.shape_of(id));
    return site_.constant_value(Array(site_.type_of(id).element, site_.shape_of(id)));
  }

 private:
  const Site& site_;
  std::map<ValueId, ValueId> gradients_;

  void hand_on(const Node& node, ValueId g) {
    auto a = [&] { return node.inputs.at(0); };
    auto b = [&] { return node.inputs.at(1); };
    if (node.op == "identity" || node.op == "reshape") {
      add(a(), site_.reshaped(g, site_.shape_of(a())));
    } else if (node.op == "neg") {
      add(a(), site_.emit("neg", {g}));
    } else if (node.op == "add" || node.op == "sub") {
      add(a(), g);
      add(b(), node.op == "add" ? g : site_.emit("neg", {g}));
    } else if (node.op == "mul") {
      add(a(), site_.emit("mul", {g, b()}));
      add(b(), site_.emit("mul", {g, a()}));
    } else if (node.op == "div") {
      ValueId quotient = site_.emit("div", {g, b()});
      add(a(), quotient);
      add(b(), site_.emit("neg", {site_.emit("mul", {quotient, node.outputs.front()})}));
    } else {
      site_.unsupported(fmt::format("the gradient of '{}'", node.op));
    }
  }

  /// Adds to the gradient of a value; where the value was broadcast, its copies are summed.
  void add(ValueId id, ValueId g) {
    const Shape from = site_.shape_of(g), to = site_.shape_of(id);
    Shape axes;
    size_t skipped = from.size() - to.size();
    for (size_t i = 0; i < from.size(); ++i) {
      if (i < skipped || to[i - skipped] != from[i]) axes.push_back(static_cast<long>(i));
    }
    if (!axes.empty()) g = site_.emit("reduce_sum", {g}, {{"axes", axes}});
    g = site_.reshaped(g, to);
    auto [found, is_first] = gradients_.emplace(id, g);
    if (!is_first) found->second = site_.emit("add", {found->second, g});
  }
};

void gradient(const Site& site) {
  auto value = [&](const std::string& name) {
    auto found = site.state().values.find(name);
    if (found == site.state().values.end()) site.wrong(fmt::format("there is no '{}'", name));
    return found->second;
  };
  Gradient gradient(site);
  gradient.run(value(site.text("y", "")));
  std::vector<std::string> xs = site.texts("xs");
  for (size_t i = 0; i < xs.size(); ++i) {
    site.set_output(i, site.emit("identity", {gradient.with_respect_to(value(xs[i]))}));
  }
}

}  // namespace

Translations gradient_translations() { return {{"ai.onnx.preview.training:Gradient", gradient}}; }

}  // namespace lathe
