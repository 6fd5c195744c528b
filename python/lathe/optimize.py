"""Searching for faster networks."""
import os
import sys

from lathe import _work
from lathe.data import dataset
from lathe.network import Network
from lathe.run import Run


def optimize(net: Network, *, data=None, tolerance=None, budget=None, work_dir=None, progress=True,
             **options) -> Run:
    """Finds a faster network that keeps its capacity, as ``lathe optimize`` does.

    ``data`` is as ``lathe.dataset`` takes it; without, samples are generated. ``tolerance`` is how
    many points of accuracy may be lost, ``budget`` how long it may take, like ``"10m"``. Other
    options are those of the command: samples, seeds, variants, exact, tune, threads, strategy,
    precision, constraint, families, without, include, exclude, thorough, workers ...

    Ctrl-C ends the search with the best that was found. The same call goes on with it: everything
    that was measured is in ``work_dir`` (``runs/NETWORK`` unless told).
    """
    found = _work.call("optimize", _search(net, data, work_dir, options, "optimize",
                                           tolerance=tolerance, budget=budget),
                       "optimize", progress)
    if "result" not in found:
        raise KeyboardInterrupt
    return Run(found["folder"], found["result"])


def frontier(net: Network, *, data=None, points=None, least=None, most=None, work_dir=None,
             progress=True, **options) -> list[Run]:
    """Finds several faster networks, for more and more accuracy that may be lost: from ``least`` to
    ``most`` points. Each is a search of its own; options are those of ``optimize``."""
    found = _work.call("frontier", _search(net, data, work_dir, options, "frontier", points=points,
                                           **{"from": least, "to": most}), "frontier", progress)
    return [Run(point["folder"], point["result"]) for point in found["points"]]


def _search(net, data, work_dir, options, what, **more):
    command = f"lathe.{what}({net.source!r})"
    if options.get("workers"):
        options = {"python": sys.executable, **options}
    return {**net.options, "data": dataset(data), "command": command,
            "work_dir": None if work_dir is None else os.fspath(work_dir), **more, **options}
