"""The ONNX files to compare: networks made ready, and single convolutions."""
from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .networks import ModelError, last_line


@dataclass(frozen=True)
class Layer:
    """A square convolution, batch 1."""

    name: str
    inputs: int
    rows: int
    columns: int
    outputs: int
    kernel: int
    stride: int
    pad: int
    groups: int = 1

    def grouped(self, groups: int) -> Layer | None:
        """The layer in that many groups, if the channels can be shared out."""
        if groups == 1:
            return self
        if self.inputs % groups or self.outputs % groups:
            return None
        return Layer(f"{self.name}/g{groups}", self.inputs, self.rows, self.columns,
                     self.outputs, self.kernel, self.stride, self.pad, groups)


def prepare(file: Path, copy: Path) -> dict[str, np.ndarray]:
    """Copies a model with all shapes fixed at batch 1; returns random inputs by name."""
    import onnx

    try:
        model = onnx.load(str(file))
    except Exception as error:  # onnx raises what its parser raises
        raise ModelError(f"{file}: {last_line(str(error)) or 'not an ONNX file'}") from error
    rng = np.random.default_rng(0)
    weights = {initializer.name for initializer in model.graph.initializer}
    arrays: dict[str, np.ndarray] = {}
    for value in model.graph.input:
        if value.name in weights:
            continue
        tensor = value.type.tensor_type
        for i, dimension in enumerate(tensor.shape.dim):
            if dimension.dim_value > 0:
                continue
            if i > 0:
                raise ModelError(f"{file}: input '{value.name}' has no fixed shape; "
                                 "'lathe export --shape' makes a file with one")
            dimension.dim_value = 1
        shape = [dimension.dim_value for dimension in tensor.shape.dim]
        if tensor.elem_type == onnx.TensorProto.FLOAT:
            arrays[value.name] = rng.standard_normal(shape, np.float32)
        elif tensor.elem_type in (onnx.TensorProto.INT64, onnx.TensorProto.INT32):
            kind = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
            arrays[value.name] = rng.integers(0, 2, shape).astype(kind)  # good for any table
        else:
            raise ModelError(f"{file}: input '{value.name}' is neither fp32 nor integer")
    onnx.save(model, str(copy))
    return arrays


def read_layers(file: Path) -> list[Layer]:
    """The rows of a table of convolutions: name,N,C_in,H,W,C_out,K,stride,pad."""
    try:
        with file.open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        layers = [
            Layer(row["name"], *(int(row[key]) for key in
                                 ("C_in", "H", "W", "C_out", "K", "stride", "pad")))
            for row in rows
        ]
    except OSError as error:
        raise ModelError(f"{file}: {error.strerror}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{file}: not a table with the columns name,N,C_in,H,W,C_out,K,"
                         f"stride,pad ({error})") from error
    if not layers:
        raise ModelError(f"{file}: no layers")
    return layers


def depthwise_layers(file: Path) -> list[Layer]:
    """The distinct depthwise 3x3 convolutions of a network, in its order."""
    import onnx

    graph = onnx.shape_inference.infer_shapes(onnx.load(str(file))).graph
    shapes = {
        value.name: [d.dim_value for d in value.type.tensor_type.shape.dim]
        for value in [*graph.input, *graph.value_info]
    }
    weights = {initializer.name: list(initializer.dims) for initializer in graph.initializer}
    found: dict[tuple[int, ...], Layer] = {}
    for node in graph.node:
        if node.op_type != "Conv" or weights.get(node.input[1], [])[1:] != [1, 3, 3]:
            continue
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        channels = attributes.get("group", 1)
        shape = shapes.get(node.input[0])
        pads = set(attributes.get("pads", [0]))
        if channels == 1 or weights[node.input[1]][0] != channels or not shape or len(pads) != 1:
            continue
        stride = attributes.get("strides", [1])[0]
        key = (channels, *shape[2:], stride, *pads)
        name = f"dw{channels}x{shape[2]}" + (f"/{stride}" if stride > 1 else "")
        found.setdefault(key, Layer(name, channels, shape[2], shape[3], channels, 3, stride,
                                    pads.pop(), channels))
    if not found:
        raise ModelError(f"{file}: no depthwise 3x3 convolutions")
    return list(found.values())


def write_layer(layer: Layer, file: Path) -> None:
    """Writes a model of one convolution with bias; its weights are random normal numbers."""
    from onnx import TensorProto, checker, helper, numpy_helper, save

    rng = np.random.default_rng(1)
    depth = layer.inputs // layer.groups
    weights = rng.standard_normal((layer.outputs, depth, layer.kernel, layer.kernel), np.float32)
    weights *= (depth * layer.kernel**2) ** -0.5
    bias = rng.standard_normal(layer.outputs, np.float32)
    rows, columns = ((size + 2 * layer.pad - layer.kernel) // layer.stride + 1
                     for size in (layer.rows, layer.columns))
    node = helper.make_node(
        "Conv", ["input", "weight", "bias"], ["output"], name="conv", group=layer.groups,
        kernel_shape=[layer.kernel] * 2, strides=[layer.stride] * 2, pads=[layer.pad] * 4,
        dilations=[1, 1])
    graph = helper.make_graph(
        [node], "layer",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT,
                                       [1, layer.inputs, layer.rows, layer.columns])],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT,
                                       [1, layer.outputs, rows, columns])],
        [numpy_helper.from_array(weights, "weight"), numpy_helper.from_array(bias, "bias")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(model)
    save(model, str(file))
