"""Better schedules and layouts, found by measuring."""
from lathe import _work
from lathe._found import Found
from lathe.data import dataset
from lathe.network import Network
from lathe.tables import table


class Tuned(Found):
    """What tuning found; ``lathe.tune`` returns one.

    >>> import lathe
    >>> net = lathe.load("model.onnx")
    >>> found = lathe.tune(net, budget=2, layer="second", progress=False)
    >>> found.trials <= 2 and len(lathe.tune(net, show=True).layers) > 0
    True
    """

    @property
    def trials(self) -> int:
        """How many candidates were tried."""
        return self._found["trials"]

    @property
    def stopped(self) -> bool:
        """Was it stopped before its end? The same call goes on with it."""
        return self._found["stopped"]

    @property
    def kept(self) -> bool:
        """Did the network get faster? Only then is what is new used."""
        return self._found.get("kept", False)

    @property
    def ms(self):
        """Milliseconds of the network with what was found; None if there is nothing new."""
        return self._found.get("tuned_ms")

    @property
    def original_ms(self):
        """Milliseconds as the templates choose by themselves; None if there is nothing new."""
        return self._found.get("own_ms")

    @property
    def layers(self):
        """What was found for each kind of layer."""
        return table([{"layer": each["layers"][0], "count": len(each["layers"]),
                       "schedule": each.get("schedule"), "own_ms": each.get("own_ms"),
                       "ms": each.get("ms"), "kept": each.get("kept", False)}
                      for each in self._found["layers"]])

    @property
    def layouts(self) -> list[dict]:
        """The values that lie otherwise than usual."""
        return list(self._found["layouts"])

    def _title(self):
        if self.ms is None:
            return f"{self._found['network']}: {self.trials} candidates, nothing new"
        return (f"{self._found['network']}: {self.original_ms:.3f} ms untuned, {self.ms:.3f} ms "
                f"tuned{'' if self.kept else '; what is new was not kept'}")

    def _rows(self):
        return ["layer", "own ms", "tuned ms"], [
            [each["layers"][0], f"{each['own_ms']:.4f}", f"{each['ms']:.4f}"]
            for each in self._found["layers"] if "ms" in each]


def tune(net: Network, *, budget=None, data=None, progress=True, **options) -> Tuned:
    """Finds better schedules and layouts for a network by measuring, as ``lathe tune`` does. What
    it finds is kept for everything that compiles the network on this machine.

    ``budget`` is a time like ``"5m"``, or how many candidates are tried. Other options: threads,
    layer, again, search_seed, precision with ``data``; ``show=True`` only says what was found
    before. Ctrl-C ends it; the same call goes on.
    """
    budget = None if budget is None else str(budget)
    return Tuned(_work.call("tune", {**net.options, "budget": budget, "data": dataset(data),
                                     **options}, "tune", progress))
