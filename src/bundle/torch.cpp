// torch.cpp: a Graph to the text of a PyTorch module, and its weights to a file. Interface:
// torch.h.
//
// 1. Each node becomes a module or not (torch_ops.cpp); weights that no module holds stand alone.
// 2. Modules and lone weights get their places in the tree of modules.
// 3. forward() is written node by node: one line for each.
#include "bundle/torch.h"

#include <fmt/ranges.h>

#include "base/error.h"
#include "bundle/torch_names.h"
#include "bundle/torch_site.h"
#include "data/file.h"
#include "data/npz.h"

namespace lathe {
namespace {

constexpr size_t columns = 100;

constexpr const char* opening = R"(from collections import OrderedDict
from pathlib import Path
import argparse

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Part(nn.Module):
    """A part of the network: holds layers by their names; part[0] is the layer "0"."""

    def __getitem__(self, number):
        return getattr(self, str(number))

    def place(self, path, item):
        """Puts a layer, a parameter or a buffer where a path like "layer1.0.conv1" leads to."""
        name, _, rest = path.partition(".")
        if rest:
            if not hasattr(self, name):
                self.add_module(name, Part())
            getattr(self, name).place(rest, item)
        elif isinstance(item, (nn.Module, nn.Parameter)):
            setattr(self, name, item)
        else:
            self.register_buffer(name, item)
)";

constexpr const char* take_class = R"(

class Take(nn.Module):
    """Picks what lies at some indices of a dimension."""

    def __init__(self, dimension, indices):
        super().__init__()
        self.dimension = dimension
        self.register_buffer("indices", torch.tensor(list(indices)), persistent=False)

    def forward(self, x):
        return x.index_select(self.dimension, self.indices)
)";

constexpr const char* mean_function = R"(

def mean_of_covered(pool, x, pads, kernel, stride):
    """The means of what windows cover, with padding that does not count."""
    ones = torch.ones_like(x[:1, :1])
    return pool(F.pad(x, pads), kernel, stride) / pool(F.pad(ones, pads), kernel, stride)
)";

constexpr const char* convolutions_property = R"(
    @property
    def convolutions(self):
        """The convolutions in the order in which they run, by their names in the network."""
        return OrderedDict((NAMES.get(path, path), self.get_submodule(path))
                           for path in CONVOLUTIONS)
)";

constexpr const char* load_function = R"(

def load(path=None):
    """Returns the network with the weights of a file, else of the .npz file beside this one."""
    model = Model()
    state = model.state_dict()
    with np.load(path or Path(__file__).with_suffix(".npz")) as stored:
        for key in state:
            if not key.endswith(".num_batches_tracked"):  # how long PyTorch has trained it
                state[key] = torch.from_numpy(stored[NAMES.get(key, key)])
    model.load_state_dict(state)
    return model.eval()
)";

constexpr const char* main_function = R"(
    arguments = parser.parse_args()
    inputs = [torch.from_numpy(np.load(path)) for path in arguments.inputs]
    with torch.no_grad():
        outputs = load()(*inputs)
    outputs = (outputs,) if torch.is_tensor(outputs) else outputs
    for output in outputs:
        print(tuple(output.shape), "from", output.min().item(), "to", output.max().item())
    for path, output in zip(arguments.output, outputs):
        np.save(path, output.numpy())


if __name__ == "__main__":
    main()
)";

/// Breaks a line where it is too long: at commas, which are always in brackets.
std::string wrapped(std::string line) {
  std::string result, indent(line.find_first_not_of(' ') + 4, ' ');
  while (line.size() > columns) {
    size_t at = line.rfind(", ", columns - 1);
    if (at == std::string::npos || at < indent.size()) break;
    result += line.substr(0, at + 1) + '\n';
    line = indent + line.substr(at + 2);
  }
  return result + line + '\n';
}

bool is_given(const Value& value) {
  return value.kind != Value::Kind::computed && value.kind != Value::Kind::input;
}

/// Fails where operators have no translation, and names all of them.
void check_operators(const Graph& graph) {
  std::string missing;
  for (const Node& node : graph.nodes) {
    if (!torch_forms().contains(node.op)) {
      missing += fmt::format("\n  {}, node '{}'", node.op, node.name);
    }
  }
  if (!missing.empty()) fail("PyTorch modules are not written with:{}", missing);
  for (const Value& value : graph.values) {
    if (value.type.dynamic) {
      fail(
          "'{}' has a shape that is known only when the network runs; a PyTorch module cannot be "
          "written of that",
          value.name);
    }
  }
}

class Module {
 public:
  explicit Module(const Graph& graph)
      : graph_(graph), users_(consumers(graph)), layers_(graph.nodes.size()) {
    check_operators(graph);
    for (size_t i = 0; i < graph.nodes.size(); ++i) find_layer(i);
    place_all();
    name_variables();
  }

  std::string text() const {
    std::string model = model_class();
    std::string result = description() + opening;
    // Helpers are written where they are called.
    if (model.find(" Take(") != std::string::npos) result += take_class;
    if (model.find(" mean_of_covered(") != std::string::npos) result += mean_function;
    return result + names() + model + load_function + main_text();
  }

 private:
  const Graph& graph_;
  std::vector<std::vector<size_t>> users_;
  std::vector<std::optional<TorchLayer>> layers_;
  std::vector<std::string> layer_paths_;  ///< of each node
  std::vector<std::string> value_paths_;  ///< of each given value: its key in the state dictionary
  std::vector<bool> in_layer_;            ///< is the value held by a module?
  std::vector<std::string> variables_;

  // 1. Modules.

  /// Calls the translation of a node, which may refuse: then the node's name is said.
  template <class Function>
  auto translated(const Node& node, Function function) const {
    try {
      Call call = call_of(graph_, node);
      TorchSite site(call, graph_.values[node.outputs[0]].type);
      for (ValueId id : node.inputs) {
        bool own = id != no_value && users_[id].size() == 1 &&
                   std::count(node.inputs.begin(), node.inputs.end(), id) == 1 &&
                   std::count(graph_.outputs.begin(), graph_.outputs.end(), id) == 0 &&
                   graph_.values[id].type.element == Element::f32;
        site.learnt.push_back(own && graph_.values[id].kind == Value::Kind::weight);
        site.kept.push_back(own && graph_.values[id].kind == Value::Kind::state);
      }
      return function(site);
    } catch (const UserError& error) {
      fail("node '{}': {}", node.name, error.what());
    }
  }

  void find_layer(size_t i) {
    const Node& node = graph_.nodes[i];
    for (size_t k = 1; k < node.outputs.size(); ++k) {
      if (!users_[node.outputs[k]].empty()) {
        fail("node '{}': PyTorch modules are not written with output {} of {}", node.name, k,
             node.op);
      }
    }
    const TorchForm& form = torch_forms().at(node.op);
    if (!form.layer) return;
    layers_[i] = translated(node, [&](const TorchSite& site) { return form.layer(site); });
  }

  // 2. Places.

  /// Returns the value that operand k of a node is, if the node's module holds it.
  std::optional<ValueId> held(size_t node, size_t k) const {
    const std::vector<ValueId>& inputs = graph_.nodes[node].inputs;
    bool there = k < layers_[node]->members.size() && k < inputs.size() && inputs[k] != no_value;
    if (!there || layers_[node]->members[k].empty()) return std::nullopt;
    return inputs[k];
  }

  void place_all() {
    layer_paths_.resize(graph_.nodes.size());
    value_paths_.resize(graph_.values.size());
    in_layer_.resize(graph_.values.size());
    std::vector<std::string> names;
    std::vector<std::string*> places;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!layers_[i]) continue;
      names.push_back(graph_.nodes[i].name);
      places.push_back(&layer_paths_[i]);
      for (size_t k = 0; k < graph_.nodes[i].inputs.size(); ++k) {
        if (auto id = held(i, k)) in_layer_[*id] = true;
      }
    }
    for (ValueId id = 0; id < graph_.values.size(); ++id) {
      if (!is_given(graph_.values[id]) || in_layer_[id]) continue;
      names.push_back(graph_.values[id].name);
      places.push_back(&value_paths_[id]);
    }
    std::vector<std::string> paths = module_paths(names);
    for (size_t i = 0; i < paths.size(); ++i) *places[i] = paths[i];
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (size_t k = 0; layers_[i] && k < graph_.nodes[i].inputs.size(); ++k) {
        auto id = held(i, k);
        if (id) value_paths_[*id] = layer_paths_[i] + '.' + layers_[i]->members[k];
      }
    }
  }

  // 3. Variables. What only the next node reads is called x, as one writes it by hand.

  void name_variables() {
    VariableNames names({"self", "torch", "nn", "F", "np", "Take", "mean_of_covered"});
    variables_.resize(graph_.values.size());
    for (ValueId id : graph_.inputs) variables_[id] = names.unique(graph_.values[id].name);
    std::string chain = names.unique("x");
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      ValueId id = graph_.nodes[i].outputs[0];
      bool is_output = std::count(graph_.outputs.begin(), graph_.outputs.end(), id) > 0;
      bool read_next = std::all_of(users_[id].begin(), users_[id].end(),
                                   [&](size_t user) { return user == i + 1; });
      bool chained = read_next && !is_output;
      variables_[id] = chained ? chain : names.unique(graph_.values[id].name);
    }
    for (ValueId id = 0; id < graph_.values.size(); ++id) {
      if (is_given(graph_.values[id])) variables_[id] = print_access(value_paths_[id]);
    }
  }

  // Text.

  std::string description() const {
    return fmt::format(R"("""{} as a PyTorch module, written by Lathe.

    import model
    network = model.load()    # a torch.nn.Module with the weights of the .npz file beside this one
    network.convolutions      # by name, to look at or to hook into

    python3 model.py{} [-o{}]

All weights are parameters: network.train() and an optimiser train them. Any number of samples goes
in at a time.
"""
)",
                       plain(graph_.name), repeated(" INPUT.npy", graph_.inputs.size()),
                       repeated(" OUTPUT.npy", graph_.outputs.size()));
  }

  static std::string repeated(const std::string& text, size_t count) {
    std::string result;
    for (size_t i = 0; i < count; ++i) result += text;
    return result;
  }

  /// Returns a name as it can stand in the description.
  static std::string plain(const std::string& name) {
    std::string quoted = print_python(name);
    return quoted.substr(1, quoted.size() - 2);
  }

  std::string names() const {
    std::string result =
        "\n\n# The names in the network of layers and weights that have others here.\nNAMES = {";
    std::string lines;
    auto add = [&](const std::string& path, const std::string& name) {
      if (path != name) {
        lines += fmt::format("\n    {}: {},", print_python(path), print_python(name));
      }
    };
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (layers_[i]) add(layer_paths_[i], graph_.nodes[i].name);
    }
    for (ValueId id = 0; id < graph_.values.size(); ++id) {
      if (is_given(graph_.values[id])) add(value_paths_[id], graph_.values[id].name);
    }
    result += lines + (lines.empty() ? "" : "\n") + "}\n\n# In the order in which they run.\n";
    result += "CONVOLUTIONS = [";
    std::string list;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (layers_[i] && layers_[i]->is_convolution) {
        list += fmt::format("\n    {},", print_python(layer_paths_[i]));
      }
    }
    result += list + (list.empty() ? "" : "\n") +
              "]\n\n# Of one call's inputs; any number of samples goes.\nINPUT_SHAPES = [";
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      const Shape& shape = graph_.values[graph_.inputs[i]].type.shape;
      result += fmt::format("{}({}{})", i == 0 ? "" : ", ", fmt::join(shape, ", "),
                            shape.size() == 1 ? "," : "");
    }
    return result + "]\n";
  }

  std::string model_class() const {
    std::string result =
        "\n\nclass Model(Part):\n    def __init__(self):\n        super().__init__()\n";
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (layers_[i]) result += placed(layer_paths_[i], layers_[i]->constructor);
    }
    for (ValueId id = 0; id < graph_.values.size(); ++id) {
      if (is_given(graph_.values[id]) && !in_layer_[id]) {
        result += placed(value_paths_[id], lone_value(graph_.values[id]));
      }
    }
    return result + forward() + convolutions_property;
  }

  static std::string placed(const std::string& path, const std::string& item) {
    return wrapped(fmt::format("        self.place({}, {})", print_python(path), item));
  }

  static std::string lone_value(const Value& value) {
    auto type = torch_type(value.type.element);
    if (!type) fail("'{}': PyTorch has no elements {}", value.name, name_of(value.type.element));
    std::string zeros = fmt::format("torch.zeros({}{})", print_tuple(value.type.shape),
                                    value.type.element == Element::f32 ? "" : ", dtype=" + *type);
    bool learnt = value.kind == Value::Kind::weight && is_float(value.type.element);
    return learnt ? fmt::format("nn.Parameter({})", zeros) : zeros;
  }

  std::string forward() const {
    std::vector<std::string> inputs{"self"}, outputs;
    for (ValueId id : graph_.inputs) inputs.push_back(variables_[id]);
    for (ValueId id : graph_.outputs) outputs.push_back(variables_[id]);
    std::string result =
        '\n' + wrapped(fmt::format("    def forward({}):", fmt::join(inputs, ", ")));
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const std::string& target = variables_[graph_.nodes[i].outputs[0]];
      std::string value = expression(i);
      if (value != target) result += wrapped(fmt::format("        {} = {}", target, value));
    }
    std::string list = fmt::format("{}", fmt::join(outputs, ", "));
    return result + wrapped(outputs.size() == 1 ? "        return " + list
                                                : "        return (" + list + ")");
  }

  std::string expression(size_t i) const {
    const Node& node = graph_.nodes[i];
    return translated(node, [&](TorchSite& site) {
      for (ValueId id : node.inputs) {
        site.inputs.push_back(id == no_value ? "" : variables_[id]);
      }
      site.samples = samples_for(node);
      if (layers_[i]) site.layer = print_access(layer_paths_[i]);
      return torch_forms().at(node.op).write(site);
    });
  }

  /// Constants know nothing of samples: what is made of them alone takes their number from the
  /// network's input.
  std::string samples_for(const Node& node) const {
    if (graph_.inputs.empty() || node.inputs.empty() || node.inputs[0] == no_value) return "";
    const Shape& input = graph_.values[graph_.inputs[0]].type.shape;
    const Shape& output = graph_.values[node.outputs[0]].type.shape;
    bool fits = is_given(graph_.values[node.inputs[0]]) && input.size() > 1 && !output.empty() &&
                input[0] == output[0];
    return fits ? variables_[graph_.inputs[0]] + ".shape[0]" : "";
  }

  std::string main_text() const {
    std::vector<std::string> shapes;
    for (ValueId id : graph_.inputs) {
      shapes.push_back(graph_.values[id].name + ", " + print_type(graph_.values[id].type));
    }
    return fmt::format(
               R"(

def main():
    parser = argparse.ArgumentParser(description="Runs the network on NumPy files.")
    parser.add_argument("inputs", nargs={}, metavar="INPUT.npy", help={})
    parser.add_argument("-o", "--output", nargs={}, default=[], metavar="OUTPUT.npy"))",
               graph_.inputs.size(), print_python(fmt::format("{}", fmt::join(shapes, "; "))),
               graph_.outputs.size()) +
           main_function;
  }
};

}  // namespace

std::string print_torch(const Graph& graph) {
  verify_types(graph);
  return Module(without_dead(graph)).text();
}

void write_torch(const Graph& graph, const std::string& path) {
  constexpr std::string_view ending = ".py";
  if (!path.ends_with(ending))
    fail("a PyTorch module is a Python file; call it FILE.py, not '{}'", path);
  std::string text = print_torch(graph);
  NamedArrays arrays;
  for (const Value& value : without_dead(graph).values) {
    if (!is_given(value)) continue;
    if (!value.data) {
      fail("weight '{}' has no data and no way to begin; give it one, as in \"= normal(0.1)\"",
           value.name);
    }
    arrays.emplace_back(value.name, *value.data);
  }
  write_npz(path.substr(0, path.size() - ending.size()) + ".npz", arrays);
  write_file(path, {std::as_bytes(std::span(text))});
}

}  // namespace lathe
