"""PyTorch: the ONNX graph as a module, traced, frozen and optimised for inference."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper

from .task import Task

Tensor = torch.Tensor
Attributes = dict[str, Any]
Operator = Callable[..., Any]


def _pads(attributes: Attributes, x: Tensor, window: list[int], fill: float) -> tuple[Tensor, list]:
    """The padding of a window: symmetric padding is left to the operator, other is done here."""
    rank = len(window)
    automatic = attributes.get("auto_pad", b"NOTSET")
    if automatic in (b"SAME_UPPER", b"SAME_LOWER"):
        raise NotImplementedError(f"auto_pad {automatic.decode()}")
    pads = [0] * (2 * rank) if automatic == b"VALID" else attributes.get("pads", [0] * (2 * rank))
    begin, end = pads[:rank], pads[rank:]
    if begin == end:
        return x, begin
    flat = [p for pair in zip(begin[::-1], end[::-1], strict=True) for p in pair]
    return F.pad(x, flat, value=fill), [0] * rank


def _conv(a: Attributes, x: Tensor, w: Tensor, b: Tensor | None = None) -> Tensor:
    rank = w.dim() - 2
    x, pads = _pads(a, x, list(w.shape[2:]), 0.0)
    convolution = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}[rank]
    ones = [1] * rank
    return convolution(
        x, w, b, a.get("strides", ones), pads, a.get("dilations", ones), a.get("group", 1)
    )


def _max_pool(a: Attributes, x: Tensor) -> Tensor:
    window = a["kernel_shape"]
    x, pads = _pads(a, x, window, -float("inf"))
    ones = [1] * len(window)
    return F.max_pool2d(x, window, a.get("strides", ones), pads, a.get("dilations", ones),
                        bool(a.get("ceil_mode", 0)))


def _average_pool(a: Attributes, x: Tensor) -> Tensor:
    window = a["kernel_shape"]
    counted = bool(a.get("count_include_pad", 0))
    pads = a.get("pads", [0] * 4)
    if pads[:2] != pads[2:] and not counted:
        raise NotImplementedError("AveragePool with uneven padding that is not counted")
    x, pads = _pads(a, x, window, 0.0)
    return F.avg_pool2d(x, window, a.get("strides", [1, 1]), pads, bool(a.get("ceil_mode", 0)),
                        counted)


def _gemm(a: Attributes, x: Tensor, y: Tensor, c: Tensor | None = None) -> Tensor:
    x = x.t() if a.get("transA") else x
    alpha, beta = a.get("alpha", 1.0), a.get("beta", 1.0)
    if a.get("transB") and alpha == 1.0 and beta == 1.0 and (c is None or c.dim() == 1):
        return F.linear(x, y, c)
    result = alpha * (x @ (y.t() if a.get("transB") else y))
    return result if c is None else result + beta * c


def _reshape(a: Attributes, x: Tensor, shape: Tensor) -> Tensor:
    sizes = [int(s) for s in shape]
    if not a.get("allowzero"):
        sizes = [x.shape[i] if s == 0 else s for i, s in enumerate(sizes)]
    return x.reshape(sizes)


def _flatten(a: Attributes, x: Tensor) -> Tensor:
    axis = a.get("axis", 1) % (x.dim() + 1)
    return x.reshape(int(np.prod(x.shape[:axis], dtype=int)), -1)


def _clip(a: Attributes, x: Tensor, low: Tensor | None = None,
          high: Tensor | None = None) -> Tensor:
    minimum = a.get("min") if low is None else float(low)
    maximum = a.get("max") if high is None else float(high)
    if minimum == 0.0 and maximum == 6.0:
        return F.relu6(x)
    return torch.clamp(x, minimum, maximum)


def _batch_norm(a: Attributes, x: Tensor, scale: Tensor, shift: Tensor, mean: Tensor,
                variance: Tensor) -> Tensor:
    return F.batch_norm(x, mean, variance, scale, shift, eps=a.get("epsilon", 1e-5))


def _layer_norm(a: Attributes, x: Tensor, scale: Tensor, shift: Tensor | None = None) -> Tensor:
    axis = a.get("axis", -1) % x.dim()
    return F.layer_norm(x, x.shape[axis:], scale, shift, a.get("epsilon", 1e-5))


def _axes(a: Attributes, axes: Tensor | None) -> list[int]:
    return a["axes"] if axes is None else [int(i) for i in axes]


def _unsqueeze(a: Attributes, x: Tensor, axes: Tensor | None = None) -> Tensor:
    places = _axes(a, axes)
    for axis in sorted(i % (x.dim() + len(places)) for i in places):
        x = x.unsqueeze(axis)
    return x


def _squeeze(a: Attributes, x: Tensor, axes: Tensor | None = None) -> Tensor:
    return torch.squeeze(x, tuple(_axes(a, axes)))


def _reduce_mean(a: Attributes, x: Tensor, axes: Tensor | None = None) -> Tensor:
    return x.mean(_axes(a, axes), keepdim=bool(a.get("keepdims", 1)))


def _gather(a: Attributes, x: Tensor, indices: Tensor) -> Tensor:
    axis = a.get("axis", 0) % x.dim()
    if axis == 0 and x.dim() == 2 and indices.dim() > 0:
        return F.embedding(indices, x)
    flat = x.index_select(axis, indices.reshape(-1))
    return flat.reshape(*x.shape[:axis], *indices.shape, *x.shape[axis + 1:])


def _slice(a: Attributes, x: Tensor, starts: Tensor, ends: Tensor, axes: Tensor | None = None,
           steps: Tensor | None = None) -> Tensor:
    places = range(len(starts)) if axes is None else axes.tolist()
    strides = [1] * len(starts) if steps is None else steps.tolist()
    for axis, start, end, step in zip(places, starts.tolist(), ends.tolist(), strides, strict=True):
        if step < 0:  # the same elements, from the last to the first
            size = x.shape[axis]
            wanted = list(range(size))[max(start, -size - 1):max(end, -size - 1):step]
            x = x.index_select(axis, torch.tensor(wanted, dtype=torch.int64))
        else:
            limit = 2**63 - 1
            x = torch.ops.aten.slice(x, axis, max(start, -limit), min(end, limit), step)
    return x


def _pad(a: Attributes, x: Tensor, pads: Tensor, value: Tensor | None = None) -> Tensor:
    if a.get("mode", b"constant") != b"constant":
        raise NotImplementedError(f"Pad of mode {a['mode'].decode()}")
    sizes, rank = pads.tolist(), x.dim()
    flat = [sizes[i + half] for i in reversed(range(rank)) for half in (0, rank)]
    return F.pad(x, flat, value=0.0 if value is None else float(value))


def _constant_of_shape(a: Attributes, shape: Tensor) -> Tensor:
    value = _tensor(numpy_helper.to_array(a["value"])) if "value" in a else torch.zeros(1)
    return value.reshape(-1)[0].expand(shape.tolist()).clone()


def _cast(a: Attributes, x: Tensor) -> Tensor:
    kind = onnx.helper.tensor_dtype_to_np_dtype(a["to"])
    return x.to(torch.from_numpy(np.zeros(1, kind)).dtype)


# What the networks of Lathe need; arguments are the attributes, then the inputs.
OPERATORS: dict[str, Operator] = {
    "Add": lambda a, x, y: x + y,
    "AveragePool": _average_pool,
    "BatchNormalization": _batch_norm,
    "Cast": _cast,
    "Clip": _clip,
    "Concat": lambda a, *x: torch.cat(x, a["axis"]),
    "ConstantOfShape": _constant_of_shape,
    "Conv": _conv,
    "Div": lambda a, x, y: x / y,
    "Dropout": lambda a, x, *_: x,
    "Erf": lambda a, x: torch.erf(x),
    "Flatten": _flatten,
    "Gather": _gather,
    "Gelu": lambda a, x: F.gelu(x, approximate=a.get("approximate", b"none").decode()),
    "Gemm": _gemm,
    "GlobalAveragePool": lambda a, x: F.adaptive_avg_pool2d(x, 1),
    "Identity": lambda a, x: x,
    "LayerNormalization": _layer_norm,
    "MatMul": lambda a, x, y: x @ y,
    "MaxPool": _max_pool,
    "Mul": lambda a, x, y: x * y,
    "Pad": _pad,
    "Pow": lambda a, x, y: torch.pow(x, y),
    "ReduceMean": _reduce_mean,
    "Relu": lambda a, x: F.relu(x),
    "Reshape": _reshape,
    "Shape": lambda a, x: torch.tensor([int(size) for size in x.shape]),
    "Sigmoid": lambda a, x: torch.sigmoid(x),
    "Slice": _slice,
    "Softmax": lambda a, x: torch.softmax(x, a.get("axis", -1)),
    "Sqrt": lambda a, x: torch.sqrt(x),
    "Squeeze": _squeeze,
    "Sub": lambda a, x, y: x - y,
    "Tanh": lambda a, x: torch.tanh(x),
    "Transpose": lambda a, x: x.permute(*a["perm"]) if "perm" in a else x.t(),
    "Unsqueeze": _unsqueeze,
}


def _tensor(array: np.ndarray) -> Tensor:
    return torch.from_numpy(np.array(array))


class OnnxModule(torch.nn.Module):
    """The nodes of an ONNX graph, one after the other; weights are parameters."""

    def __init__(self, graph: onnx.GraphProto, inputs: list[str]) -> None:
        super().__init__()
        self._inputs = inputs
        self._results = [output.name for output in graph.output]
        self._nodes: list[tuple[Operator, Attributes, list[str], str]] = []
        self._integers: dict[str, Tensor] = {}
        self._weights: dict[str, str] = {}
        for initializer in graph.initializer:
            self._constant(initializer.name, _tensor(numpy_helper.to_array(initializer)))
        for node in graph.node:
            a = {item.name: onnx.helper.get_attribute_value(item) for item in node.attribute}
            if node.op_type == "Constant" and "value" in a:
                self._constant(node.output[0], _tensor(numpy_helper.to_array(a["value"])))
                continue
            if node.op_type not in OPERATORS or node.domain not in ("", "ai.onnx"):
                raise NotImplementedError(f"this interpreter has no operator {node.op_type}")
            operator = OPERATORS[node.op_type]
            self._nodes.append((operator, a, list(node.input), node.output[0]))

    def _constant(self, name: str, value: Tensor) -> None:
        if not value.is_floating_point() or value.dim() == 0:
            self._integers[name] = value  # shapes, axes and bounds: known while tracing
            return
        self._weights[name] = f"weight_{len(self._weights)}"
        self.register_parameter(
            self._weights[name], torch.nn.Parameter(value, requires_grad=False)
        )

    def forward(self, *arguments: Tensor) -> tuple[Tensor, ...]:
        """Interprets the graph; what tracing records has no trace of this loop."""
        values: dict[str, Tensor] = dict(zip(self._inputs, arguments, strict=True))
        values.update(self._integers)
        values.update((name, getattr(self, own)) for name, own in self._weights.items())
        for operator, attributes, inputs, output in self._nodes:
            values[output] = operator(attributes, *[values[i] if i else None for i in inputs])
        return tuple(values[name] for name in self._results)


class Torch:
    """The frozen module, called without gradients."""

    version = torch.__version__

    def __init__(self, task: Task) -> None:
        torch.set_num_threads(task.threads)
        torch.set_num_interop_threads(1)
        torch.set_grad_enabled(False)
        torch.set_float32_matmul_precision("highest")
        arrays = task.arrays()
        self._arguments = tuple(torch.from_numpy(array) for array in arrays.values())
        module = OnnxModule(onnx.load(task.model).graph, list(arrays)).eval()
        traced = torch.jit.trace(module, self._arguments, check_trace=False)
        self._module = torch.jit.optimize_for_inference(torch.jit.freeze(traced.eval()))

    def run(self) -> None:
        self._module(*self._arguments)

    def outputs(self) -> list[np.ndarray]:
        return [tensor.numpy() for tensor in self._module(*self._arguments)]


load = Torch
