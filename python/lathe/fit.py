"""Weights for a changed network, from its trained original."""
import os
import pathlib
import tempfile

from lathe import _cache, _work
from lathe._found import Found
from lathe.data import dataset
from lathe.network import Network
from lathe.tables import table


class Fitted(Found):
    """A changed network with weights that were fitted; ``lathe.fit`` returns one.

    >>> import lathe
    >>> changed = lathe.load("model.onnx").apply("second: group(2)")
    >>> fitted = lathe.fit(changed, "synthetic:0", samples=32, validate=32, progress=False)
    >>> len(fitted.layers) > 0 and fitted.network.is_trained
    True
    """

    def __init__(self, found, network):
        super().__init__(found)
        self.network: Network = network

    @property
    def layers(self):
        """The share of each layer's output that is lost, with sliced and with fitted weights."""
        return table(self._found["layers"])

    @property
    def unfitted(self) -> list[str]:
        """The layers whose weights are as the steps left them."""
        return list(self._found["unfitted"])

    @property
    def top1(self):
        """The accuracy in percent of the original, with sliced and with fitted weights; None if it
        was not counted."""
        if "original" not in self._found:
            return None
        return {name: self._found[name]["top1"] for name in ("original", "sliced", "fitted")}

    def _title(self):
        if self.top1 is None:
            return "share of the output that is lost"
        return "top-1: " + ", ".join(f"{name} {value:.2f} %" for name, value in self.top1.items())

    def _rows(self):
        return ["layer", "sliced", "fitted"], [
            [layer["layer"], f"{layer['sliced']:.3f}", f"{layer['fitted']:.3f}"]
            for layer in self._found["layers"]]


def fit(net: Network, data, *, output=None, progress=True, **options) -> Fitted:
    """Gives a changed network weights with which its layers compute nearly what the trained
    original's do, as ``lathe fit`` does.

    ``net`` is a trained network with ``apply``; ``data`` is as ``lathe.dataset`` takes it.
    ``output`` is the ONNX file to write. Other options: samples, validate, ridge, normalize,
    threads.
    """
    return Fitted(*with_file("fit", net, data, output, "fitting", progress, options))


def with_file(call, net, data, output, title, progress, options):
    """Calls Lathe for what it finds and a network that it writes: into a file that is kept, unless
    there is an output. Returns both."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"{net.name}.onnx") if output is None else os.fspath(output)
        found = _work.call(call, {**net.options, "data": dataset(data), "output": path, **options},
                           title, progress)
        if output is None:
            path = str(_cache.kept(pathlib.Path(path).read_bytes(), os.path.basename(path)))
    return found, Network(network=path)
