"""How fast networks run."""
from lathe import _library, _work
from lathe._found import Found
from lathe.data import dataset
from lathe.network import Network
from lathe.tables import table


class Bench(Found):
    """The times of a network; ``lathe.bench`` returns one.

    >>> import lathe
    >>> found = lathe.bench(lathe.load("model.onnx"), seconds=0.01, layers=True, progress=False)
    >>> found.ms > 0 and found.gflops > 0 and len(found.layers) > 0
    True
    """

    @property
    def ms(self) -> float:
        """Milliseconds of a run: the median."""
        return self._found["median_ms"]

    @property
    def p90(self) -> float:
        """Nine of ten runs take no longer, in milliseconds."""
        return self._found["p90_ms"]

    @property
    def runs(self) -> int:
        """How often it ran."""
        return self._found["runs"]

    @property
    def gflops(self) -> float:
        """So many milliards of operations a second."""
        return self._found["gflops"]

    @property
    def peak_gflops(self) -> float:
        """What the processors could do; 0 on a GPU."""
        return self._found["peak_gflops"]

    @property
    def layers(self):
        """Each layer alone, with the schedule that it has; none unless ``layers`` was asked for."""
        return table(self._found.get("layers", []))

    @property
    def details(self) -> dict:
        """All that was found: memory, the time of compiling, ..."""
        return dict(self._found)

    def _title(self):
        return (f"{self._found['network']}: {self.ms:.3f} ms, {self._found['threads']} threads, "
                f"{self.gflops:.1f} GFLOP/s")

    def _rows(self):
        return ["layer", "schedule", "ms", "GFLOP/s"], [
            [each["name"], each["schedule"] or "-", f"{each['ms']:.4f}",
             f"{each['flops'] / each['ms'] / 1e6:.1f}"]
            for each in self._found.get("layers", [])]


class Comparison(Found):
    """A network beside other libraries; ``lathe.bench`` with ``against`` returns one."""

    @property
    def peers(self):
        """What was measured, Lathe among it, and what was left out, with the reason."""
        return table([{"peer": peer, "status": each.get("status"),
                       "ms": 1e3 * each["median_s"] if "median_s" in each else None,
                       "reason": each.get("reason")}
                      for peer, each in self._found["results"][0]["peers"].items()])

    def _rows(self):
        return ["peer", "ms"], [
            [peer, f"{1e3 * each['median_s']:.3f}" if "median_s" in each else each["status"]]
            for peer, each in self._found["results"][0]["peers"].items()]


def bench(net: Network, *, threads: int = 1, seconds: float = 2, layers: bool = False,
          against=None, data=None, progress=True, **options) -> Bench | Comparison:
    """Measures how fast a network runs here, as ``lathe bench`` does; with ``layers`` each of them
    alone, too.

    ``against`` names another library, or "best" or "all": then all take turns. Other options:
    target, precision with ``data``, thorough, tuned, max_error.
    """
    options = {**net.options, "threads": threads, "seconds": seconds, "layers": layers,
               "against": against, "data": dataset(data), **options}
    if against is None:
        return Bench(_work.call("bench", options, "compiling", progress))
    from lathe.workers.engine import program
    return Comparison(_work.call("bench", {"lathe": program(), **options}, "measuring", progress))


def machine() -> dict:
    """Measures what a core of this computer can do, as ``lathe bench --machine`` does.

    >>> import lathe
    >>> found = lathe.machine()
    >>> found["peak_gflops"] > 0, found["bandwidths"][0]["level"]
    (True, 'L1')
    """
    return _library.call("bench", {"machine": True})
