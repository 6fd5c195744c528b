"""The passes that a network needs."""
import os

from lathe import _work
from lathe._found import Found
from lathe.network import Network
from lathe.tables import table


class Passes(Found):
    """Which passes change a network's graph, and the best order of them; ``lathe.passes`` returns
    one.

    >>> import lathe
    >>> found = lathe.passes(lathe.load("model.onnx"), budget=0, progress=False)
    >>> "FuseOps" in found.relevant and found.best is None
    True
    """

    @property
    def relevant(self) -> list[str]:
        """The passes that change the graph, alone or after others."""
        return [each["pass"] for each in self._found["relevance"] if each["relevant"]]

    @property
    def table(self):
        """Every pass: whether it changes the graph alone, or after which others."""
        return table(self._found["relevance"])

    @property
    def best(self):
        """The passes that were found, in order, as ``Network.compile(passes=...)`` takes them; None
        if nothing was searched."""
        return list(self.search["found"]["passes"]) if self.search else None

    @property
    def search(self):
        """All that a search found; None if there was none."""
        return self._found.get("search")

    def _title(self):
        if not self.search:
            return f"{self._found['nodes']} nodes"
        return f"{self.search['gain']:.2f} times as good with {', '.join(self.best)}"

    def _rows(self):
        return ["pass", "changes the graph"], [
            [each["pass"], "alone" if each["alone"] else
             "after " + (", ".join(each["after"]) or "all before it")]
            for each in self._found["relevance"] if each["relevant"]]


def passes(net: Network, *, objective=None, budget="1m", work_dir=None, progress=True,
           **options) -> Passes:
    """Finds the passes that a network needs, and the best order of them, as ``lathe passes`` does.

    ``objective`` is latency, throughput, compile-time, memory or power; ``budget`` is how long to
    search, 0 for no search. Other options: threads, inexact.
    """
    work_dir = None if work_dir is None else os.fspath(work_dir)
    return Passes(_work.call("passes", {**net.options, "objective": objective,
                                        "budget": str(budget), "work_dir": work_dir, **options},
                             "passes", progress))
