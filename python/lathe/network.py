"""A network: what it is made of, and running it."""
import functools
import os

from lathe import _library, _work
from lathe.arrays import as_they_came, to_numpy
from lathe.runner import Runner
from lathe.tables import as_html, as_text, short, table


class Network:
    """A network, built in or from a file. ``lathe.load``, ``lathe.model`` and ``lathe.from_torch``
    return one; call it to run it.

    A network does not change: ``apply`` returns another one. It is loaded when something is asked
    of it, and compiled when it first runs.

    >>> import lathe, numpy
    >>> net = lathe.model("resnet20-cifar")
    >>> net.inputs
    [{'name': 'input', 'element': 'f32', 'shape': [1, 3, 32, 32]}]
    >>> net(numpy.zeros((1, 3, 32, 32), numpy.float32)).shape
    (1, 10)
    """

    def __init__(self, **options):
        self._options = {name: value for name, value in options.items() if value}
        self._runners = {}

    @property
    def options(self) -> dict:
        """Which network it is, as Lathe's calls take it: network, apply, batch ..."""
        return dict(self._options)

    @property
    def source(self) -> str:
        """The name that it was loaded by."""
        return self._options["network"]

    @functools.cached_property
    def _about(self):
        return _library.call("describe", self._options)

    @property
    def name(self) -> str:
        """The name of the network itself."""
        return self._about["name"]

    @property
    def macs(self) -> int:
        """How many products it computes."""
        return self._about["macs"]

    @property
    def weights(self) -> int:
        """How many weights it has."""
        return self._about["weights"]

    @property
    def is_trained(self) -> bool:
        """Did it come with all its weights?"""
        return self._about["trained"]

    @property
    def inputs(self) -> list[dict]:
        """What goes in: name, element and shape."""
        return [_face(face) for face in self._about["inputs"]]

    @property
    def outputs(self) -> list[dict]:
        """What comes out: name, element and shape."""
        return [_face(face) for face in self._about["outputs"]]

    @property
    def channel_sets(self) -> list[dict]:
        """Channels that can only change together, with the values that have them."""
        return self._about["channel_sets"]

    @property
    def layers(self):
        """All layers with their costs: a data frame, or a list without pandas."""
        return table([{"layer": layer["name"], "operator": layer["description"],
                       "output": layer["outputs"][0]["type"], "macs": layer["macs"],
                       "weights": layer["weights"]} for layer in self._about["layers"]])

    def apply(self, *recipes) -> "Network":
        """Returns the network with changed layers: ``"layer3.*: group(4)"``, or a ``.recipe`` file.

        >>> import lathe
        >>> lathe.model("resnet20-cifar").apply("layer3.?.conv?: bottleneck(2, repeat)").name
        'resnet20-cifar'
        """
        all_recipes = [*self._options.get("apply", []), *map(os.fspath, recipes)]
        return Network(**{**self._options, "apply": all_recipes})

    def __call__(self, *inputs, threads=1, target=None):
        """Runs the network on NumPy arrays or torch tensors; outputs are of the same kind.

        Inputs may be of another number of samples than the network has: it is compiled for theirs.
        """
        arrays = [to_numpy(each, face) for each, face in zip(inputs, self.inputs)]
        if len(inputs) != len(self.inputs):
            raise _library.Error(f"{len(inputs)} inputs were given; the network has "
                                 f"{len(self.inputs)}: "
                                 f"{', '.join(face['name'] for face in self.inputs)}")
        runner = self._runner(_samples(arrays, self.inputs), threads, target)
        outputs = [as_they_came(each, inputs) for each in runner(*arrays)]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _runner(self, samples, threads, target):
        key = (samples, threads, target)
        if key not in self._runners:
            self._runners[key] = Runner({**self._options, "samples": samples, "threads": threads,
                                         "target": target})
        return self._runners[key]

    def compile(self, output, *, progress=True, **options) -> str:
        """Writes the network as a library for C and for ``lathe_runtime``; returns the folder.

        Options are those of ``lathe compile``: target, threads, precision, recipe, also, data ...
        """
        found = _work.call("compile", {**self._options, "output": os.fspath(output), **options},
                           "compiling", progress)
        return found["folder"]

    def export(self, output, format="onnx") -> str:
        """Writes the network as a file: ``onnx``, ``torch`` (a ``.py`` with its ``.npz``) or
        ``text``."""
        return _library.call("export", {**self._options, "output": os.fspath(output),
                                        "format": format})["output"]

    def to_torch(self):
        """Returns the network as a ``torch.nn.Module`` with its weights, in evaluation mode."""
        from lathe.to_torch import exported
        return exported(self)

    def evaluate(self, data, *, progress=True, **options) -> dict:
        """Counts how often the network is right on labelled samples: top1, top5, loss ...

        ``data`` is as ``lathe.dataset`` takes it; options are those of ``lathe evaluate``.
        """
        from lathe.data import dataset
        return _work.call("evaluate", {**self._options, "data": dataset(data), **options},
                          "running", progress)

    def _table(self):
        heavy = [layer for layer in self._about["layers"] if layer["macs"] > 0]
        rows = [[layer["name"], layer["description"], layer["outputs"][0]["type"],
                 short(layer["macs"]), short(layer["weights"])] for layer in heavy]
        title = (f"{self.name}: {self.weights:,} weights, {self.macs:,} MACs, "
                 f"{len(self._about['layers'])} nodes")
        return title, ["layer", "operator", "output", "MACs", "weights"], rows

    def __str__(self):
        title, heads, rows = self._table()
        return f"{title}\n\n{as_text(heads, rows)}"

    def __repr__(self):
        return f"<lathe.Network {os.path.basename(self.source)}>"

    def _repr_html_(self):
        return as_html(*self._table())


def _face(face):
    """Takes a type apart: "f32[1x3x32x32]"."""
    element, _, shape = face["type"].rstrip("]").partition("[")
    extents = [int(extent) for extent in shape.split("x")] if shape and shape != "?" else []
    return {"name": face["name"], "element": element, "shape": extents}


def _samples(arrays, faces):
    """Returns how many samples inputs have, if that is what differs from the network's own shapes;
    None if nothing does."""
    if all(list(array.shape) == face["shape"] for array, face in zip(arrays, faces)):
        return None
    for array, face in zip(arrays, faces):
        if array.ndim != len(face["shape"]) or list(array.shape[1:]) != face["shape"][1:]:
            raise _library.Error(f"{face['name']} has the shape {list(array.shape)}; the network "
                                 f"reads {face['shape']}, for any number of samples")
    return len(arrays[0])


def load(path, *, shapes=(), apply=(), seed=0) -> Network:
    """Returns the network of an ``.onnx`` or ``.graph`` file, or of a folder that was compiled.

    ``shapes`` binds inputs of an ONNX file: ``["x=1x3x224x224"]``. ``apply`` changes layers.
    """
    path = os.fspath(path)
    if os.path.isdir(path):
        from lathe.compiled import Compiled
        return Compiled(path)
    return Network(network=path, shapes=list(shapes), apply=list(apply), seed=seed)


def model(name, *, batch=None, classes=None, size=None, apply=(), seed=0) -> Network:
    """Returns a built-in network by name. Its weights are random, drawn from ``seed``.

    >>> import lathe
    >>> lathe.model("nasbench201:6111", classes=100).outputs[0]["shape"]
    [1, 100]
    """
    return Network(network=name, batch=batch, classes=classes, size=size, apply=list(apply),
                   seed=seed)
