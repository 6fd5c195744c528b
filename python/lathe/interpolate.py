"""The networks between two networks."""
from lathe import _work
from lathe._found import Found
from lathe.data import dataset
from lathe.network import Network
from lathe.tables import short, table


class Interpolated(Found):
    """A row of networks from one recipe to another; ``lathe.interpolate`` returns one.

    >>> import lathe
    >>> net = lathe.load("model.onnx")
    >>> found = lathe.interpolate(net, "group(2)", "group(4)", points=1, layer="second",
    ...                           samples=2, seeds=1, seconds=0.01, progress=False)
    >>> len(found) >= 2 and list(found)[0]["macs"] > list(found)[-1]["macs"]
    True
    """

    @property
    def table(self):
        """Each network: its way between the two, costs, time, and what the rule expects of it."""
        return table(self._found["networks"])

    def __len__(self):
        return len(self._found["networks"])

    def __iter__(self):
        return iter(self._found["networks"])

    def _rows(self):
        return ["network", "MACs", "weights", "ms", self._found["metric"]], [
            [each["name"], short(each["macs"]), short(each["weights"]),
             f"{each['ms']:.3f}" if "ms" in each else "failed", f"{each['ratio']:.3g}"]
            for each in self]


def interpolate(net: Network, first: str, second: str, *, points=None, layer=None, data=None,
                progress=True, **options) -> Interpolated:
    """Measures and judges the networks between two: between what the recipes ``first`` and
    ``second`` make of ``net``, as ``lathe interpolate`` does.

    ``points`` is how many there are between, ``layer`` a pattern of those that change. Other
    options: rule, seconds, threads, samples, seeds, normalize, loss.
    """
    return Interpolated(_work.call(
        "interpolate", {**net.options, "first": first, "second": second, "points": points,
                        "layer": layer, "data": dataset(data), **options}, "networks", progress))
