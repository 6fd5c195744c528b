"""What a trained network owes to its channels."""
import os
import pathlib
import tempfile

from lathe import _cache, _work
from lathe._found import Found
from lathe.data import dataset
from lathe.network import Network


class Importance(Found):
    """How important channels are; ``lathe.importance`` returns one.

    >>> import lathe
    >>> net = lathe.load("model.onnx")
    >>> found = lathe.importance(net, "synthetic:0", samples=8, seeds=1, progress=False)
    >>> len(next(iter(found.sets.values()))) > 1
    True
    >>> net.apply(found.recipe).macs == net.macs
    True
    """

    def __init__(self, found, recipe):
        super().__init__(found)
        self.recipe: str = recipe

    @property
    def sets(self) -> dict[str, list[float]]:
        """The importance of each channel, by a layer that makes it. Channels that can only change
        together are one set."""
        return {each["layer"]: each["importance"] for each in self._found["sets"]}

    def _title(self):
        return "channels by importance"

    def _rows(self):
        return ["channels of", "channels", "half is in"], [
            [name, str(len(channels)), str(_with_half(channels))]
            for name, channels in self.sets.items()]


def importance(net: Network, data=None, *, by=None, output=None, progress=True,
               **options) -> Importance:
    """Finds the channels that a trained network owes most to, as ``lathe importance`` does.

    ``by`` is fisher, taylor or magnitude. ``output`` is the recipe to write: steps that put the
    most important channels first. Other options are those of ``lathe score``.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "order.recipe") if output is None else os.fspath(output)
        found = _work.call("importance", {**net.options, "data": dataset(data), "by": by,
                                          "output": path, **options}, "scoring", progress)
        if output is None:
            path = str(_cache.kept(pathlib.Path(path).read_bytes(), "order.recipe"))
    return Importance(found, path)


def _with_half(channels):
    """Returns how many of the most important channels have half of all importance.

    >>> _with_half([1, 5, 1, 2])
    1
    """
    left = sum(channels) / 2
    for count, each in enumerate(sorted(channels, reverse=True), 1):
        left -= each
        if left <= 0:
            return count
    return len(channels)
