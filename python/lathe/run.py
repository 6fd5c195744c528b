"""What a search found."""
import os
import pathlib

from lathe import _library
from lathe.error import Error
from lathe.tables import as_html, short, table
from lathe.winner import Winner


class Run:
    """A search: its winner, its frontier, and what became of each layer.

    ``lathe.optimize`` returns one; ``lathe.Run("runs/NETWORK")`` reads one that was made before.
    """

    def __init__(self, folder, result=None):
        self.folder = pathlib.Path(os.fspath(folder))
        if result is None:
            result = _library.call("result", {"folder": self.folder})
        self.result = result

    @property
    def name(self) -> str:
        """The network, without the folder of its file."""
        return os.path.basename(self.result["network"])

    @property
    def found(self) -> bool:
        """Is the winner faster than the original?"""
        return self.result["found"]

    @property
    def stopped(self) -> bool:
        """Was it stopped before its end? The same call goes on with it."""
        return self.result["stopped"]

    @property
    def winner(self) -> Winner:
        """The fastest network that was accepted; the original if there was none."""
        return Winner(self.folder / "bundle", self.result)

    @property
    def original(self) -> dict:
        """What the original costs: ms, macs, weights."""
        return dict(self.result["original"])

    @property
    def frontier(self):
        """The networks that were measured and accepted, and that no other one beats in time,
        prediction and weights."""
        return table([{"ms": point["ms"], "speedup": point["original_ms"] / point["ms"],
                       "predicted": point.get("predicted"), "macs": point["macs"],
                       "weights": point["weights"], "recipe": point["recipe"]}
                      for point in sorted(self.result["pareto"], key=lambda each: each["ms"])])

    @property
    def layers(self):
        """All layers that could change, and what became of them."""
        return table([{"layer": layer["layer"], "kind": layer["kind"],
                       "means": layer["meaning"], "recipe": layer["recipe"],
                       "before_ms": layer["before_ms"], "after_ms": layer["after_ms"],
                       "before_macs": layer["macs_before"], "macs": layer["macs"]}
                      for layer in self.result["layers"]])

    @property
    def variants(self):
        """What each kind of layer could become, with the time of each."""
        return table([{"kind": kind["kind"], "family": variant.get("family"),
                       "recipe": variant["recipe"], "means": variant["meaning"],
                       "ms": variant.get("after_ms"), "macs": variant["macs"],
                       "weights": variant["weights"]}
                      for kind in self.result["kinds"] for variant in kind["variants"]])

    def plot(self, axes=None):
        """Draws the frontier: predicted accuracy over time. Needs matplotlib; returns its axes."""
        try:
            from matplotlib import pyplot
        except ImportError:
            raise Error("pictures need matplotlib: pip install matplotlib; report() needs "
                        "nothing") from None
        if axes is None:
            _, axes = pyplot.subplots()
        points = [(point["ms"], point.get("predicted") or 0)
                  for point in sorted(self.result["pareto"], key=lambda each: each["ms"])]
        axes.plot(*zip(*points) if points else ([], []), "o-", label="frontier")
        axes.plot(self.result["original"]["ms"], 0, "s", label="original")
        axes.plot(self.winner.ms, self.winner.predicted or 0, "*", markersize=14, label="winner")
        axes.set(xlabel="ms", ylabel="predicted change of accuracy, points",
                 title=self.name)
        axes.legend()
        return axes

    def report(self, output=None, open=True) -> str:
        """Writes the page about the search, opens it in a browser unless told otherwise, and
        returns its path."""
        options = {"folder": self.folder, "output": None if output is None else os.fspath(output)}
        path = _library.call("report", options)["output"]
        if open:
            import webbrowser
            webbrowser.open(pathlib.Path(path).resolve().as_uri())
        return path

    def __repr__(self):
        return f"<lathe.Run {self.folder}: {self.winner.summary()}>"

    def _repr_html_(self):
        rows = [[layer["layer"], layer["meaning"], f"{layer['before_ms']:.4f}",
                 f"{layer['after_ms']:.4f}", short(layer["macs"])]
                for layer in self.result["layers"]]
        return as_html(f"{self.name}: {self.winner.summary()}",
                       ["layer", "became", "ms before", "ms after", "MACs"], rows)
