"""Models of ncnn on 8-bit integers, made of those on floats.

ncnn reads such a model from the same two files: a layer says that it has scales, and these follow
its weights, which ncnn rounds as it loads them. Scales are 127 / the greatest magnitude: of each
filter's weights, and of what a layer reads, as ncnn itself computes it on some images. Where only
layers of integers read what a layer writes, it writes integers.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

LARGEST = 127.0
INTEGER_RESULTS = 100  # is added to the kind of scales where a layer writes integers, too


@dataclass
class Layer:
    """One line of a .param file, and what the .bin file holds for it."""

    kind: str
    name: str
    reads: list[str]
    writes: list[str]
    settings: dict[int, str]
    data: bytes = b""
    weights: np.ndarray = field(default_factory=lambda: np.empty(0, np.float32))

    def number(self, key: int, default: int = 0) -> int:
        """A setting that is an integer."""
        return int(self.settings.get(key, default))

    def line(self) -> str:
        """The line as ncnn reads it."""
        settings = (f"{key}={value}" for key, value in self.settings.items())
        return " ".join([self.kind, self.name, str(len(self.reads)), str(len(self.writes)),
                         *self.reads, *self.writes, *settings])


# Where settings say how many weights a layer has, whether it has a bias, and how many filters or
# groups of them, each of which has a scale; and the kind of scales that layer has.
WEIGHTED = {"Convolution": (6, 5, 0, 2), "ConvolutionDepthWise": (6, 5, 7, 1),
            "InnerProduct": (2, 1, 0, 2)}
SCALES = 8  # the setting that tells the kind of scales


def _raw_numbers(layer: Layer) -> int:
    """How many numbers without a flag a layer has that is no product; 0 if it has none."""
    count = layer.number(0)
    if layer.kind == "BatchNorm":
        return 4 * count
    if layer.kind == "PReLU":
        return count
    if layer.kind == "MemoryData":
        return int(np.prod([max(1, layer.number(key)) for key in (0, 1, 11, 2)]))
    if layer.kind == "Scale" and count != -233:
        return count * (1 + layer.number(1))
    return 0


def parse(param: str, data: bytes) -> list[Layer]:
    """Reads both files. All data must belong to some layer: what is left would be misread."""
    layers = []
    at = 0
    for line in param.splitlines()[2:]:
        words = line.split()
        if not words:
            continue
        reads, writes = int(words[2]), int(words[3])
        names, settings = words[4:4 + reads + writes], words[4 + reads + writes:]
        layer = Layer(words[0], words[1], names[:reads], names[reads:],
                      {int(key): value for key, value in (s.split("=", 1) for s in settings)})
        begin = at
        if layer.kind in WEIGHTED:
            count, bias, _, _ = WEIGHTED[layer.kind]
            size, filters = layer.number(count), layer.number(0)
            if data[at:at + 4] != bytes(4):
                raise NotImplementedError(f"the weights of {layer.name} are no fp32")
            layer.weights = np.frombuffer(data, np.float32, size, at + 4)
            at += 4 + 4 * size + 4 * filters * layer.number(bias)
        else:
            at += 4 * _raw_numbers(layer)
        layer.data = data[begin:at]
        layers.append(layer)
    if at != len(data):
        kinds = sorted({layer.kind for layer in layers} - set(WEIGHTED))
        raise NotImplementedError(f"{len(data) - at} bytes belong to no layer; one of these has "
                                  f"weights: {', '.join(kinds)}")
    return layers


def _scale(magnitude: float) -> float:
    return LARGEST / magnitude if magnitude > 0 else 1.0


def _readers(layers: list[Layer], blob: str) -> Iterable[Layer]:
    """The layers that read a blob, or a copy of it."""
    for layer in layers:
        if blob not in layer.reads:
            continue
        if layer.kind == "Split":
            for copy in layer.writes:
                yield from _readers(layers, copy)
        else:
            yield layer


def _result_scale(layers: list[Layer], layer: Layer, of_data: dict[str, float]) -> float | None:
    """The scale of a layer's result, where only convolutions read it."""
    if not layer.kind.startswith("Convolution"):
        return None
    readers = list(_readers(layers, layer.writes[0]))
    if not readers or any(reader.name not in of_data or not reader.kind.startswith("Convolution")
                          for reader in readers):
        return None
    scales = {of_data[reader.name] for reader in readers}
    return scales.pop() if len(scales) == 1 else None


def quantised(param: str, data: bytes,
              magnitudes: Callable[[list[str]], dict[str, float]]) -> tuple[str, bytes]:
    """Both files with scales; "magnitudes" tells how large the numbers of some blobs become."""
    layers = parse(param, data)
    products = [layer for layer in layers if layer.kind in WEIGHTED]
    seen = magnitudes([layer.reads[0] for layer in products])
    of_data = {layer.name: _scale(seen[layer.reads[0]]) for layer in products}
    for layer in products:
        _, _, filters, kind = WEIGHTED[layer.kind]
        rows = np.abs(layer.weights.reshape(layer.number(filters, 1), -1)).max(axis=1)
        scales = [_scale(row) for row in rows.tolist()] + [of_data[layer.name]]
        result = _result_scale(layers, layer, of_data)
        if result is not None:
            kind += INTEGER_RESULTS
            scales.append(result)
        layer.settings[SCALES] = str(kind)
        layer.data += np.array(scales, np.float32).tobytes()
    head = param.splitlines()[:2]
    return ("\n".join(head + [layer.line() for layer in layers]) + "\n",
            b"".join(layer.data for layer in layers))


def convert(files: tuple[Path, Path], to: tuple[Path, Path],
            extract: Callable[[list[str], np.ndarray], list[np.ndarray]],
            images: np.ndarray) -> None:
    """Writes the model of integers. "extract" computes blobs of the one on floats."""

    def magnitudes(blobs: list[str]) -> dict[str, float]:
        most = dict.fromkeys(blobs, 0.0)
        names = list(most)
        for image in images:
            for name, array in zip(names, extract(names, image), strict=True):
                most[name] = max(most[name], float(np.abs(array).max()))
        return most

    param, data = quantised(files[0].read_text(), files[1].read_bytes(), magnitudes)
    to[0].write_text(param)
    to[1].write_bytes(data)
