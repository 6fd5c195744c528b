"""What came of measurements, and the figures that tables and pages are made of."""
from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

OWN = ("lathe", "lathe_tuned")  # what is compared with the peers: as it is, and after tuning
BUSY = 0.05  # an idle worker, or another program, that uses more of a CPU than this is reported
NOISY = 0.05  # a larger spread is marked


@dataclass
class Result:
    """What came of one peer on one model with one number of threads."""

    peer: str
    status: str = "ok"  # ok, wrong, failed, not installed
    reason: str = ""
    version: str = ""
    difference: float | None = None  # largest, relative to the largest value of the reference
    runs: int = 0
    median: float | None = None  # seconds, as are the two below
    p10: float | None = None
    p90: float | None = None
    spread: float | None = None  # interquartile range as a share of the median
    rounds: list[float] = field(default_factory=list)  # the median of each
    idle_cpu: float | None = None  # share of a CPU used while others ran
    foreign_cpu: float | None = None  # share of a CPU that other programs used while this ran

    def time(self, seconds: list[float]) -> None:
        """Takes the figures of these runs, all that there were."""
        self.runs = len(seconds)
        self.median = statistics.median(seconds)
        self.p10, self.p90 = quantile(seconds, 0.1), quantile(seconds, 0.9)
        self.spread = (quantile(seconds, 0.75) - quantile(seconds, 0.25)) / self.median

    def summary(self) -> dict[str, Any]:
        """Everything for the JSON file."""
        data = asdict(self)
        return {_JSON_NAMES.get(key, key): value for key, value in data.items()}

    @staticmethod
    def from_summary(data: dict[str, Any]) -> Result:
        """Reads what summary() wrote."""
        names = {there: here for here, there in _JSON_NAMES.items()}
        return Result(**{names.get(key, key): value for key, value in data.items()})


_JSON_NAMES = {"median": "median_s", "p10": "p10_s", "p90": "p90_s", "spread": "iqr_share",
               "rounds": "round_medians_s"}

Results = dict[str, Result]  # of one model, by peer


def quantile(values: list[float], share: float) -> float:
    """What this share of the values stays below, between neighbours in proportion."""
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    below = math.floor(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (at - below) * (ordered[above] - ordered[below])


def best(results: Results) -> str | None:
    """The fastest peer other than Lathe."""
    timed = [r for r in results.values() if r.peer not in OWN and r.status == "ok" and r.median]
    return min(timed, key=lambda r: r.median or math.inf).peer if timed else None


def own(results: Results) -> str:
    """Lathe as it is at its best: tuned, if it was."""
    tuned = results.get("lathe_tuned")
    return "lathe_tuned" if tuned and tuned.status == "ok" else "lathe"


def speed(results: Results, peer: str, reference: str | None) -> float | None:
    """How many times faster one is than the other."""
    return _ratio(results.get(reference or ""), results.get(peer))


def speed_over_original(results: Results, original: Results) -> float | None:
    """How many times faster Lathe, tuned if it was, is than the best peer on another network."""
    return _ratio(original.get(best(original) or ""), results.get(own(results)))


def _ratio(slow: Result | None, fast: Result | None) -> float | None:
    if not slow or not fast or slow.status != "ok" or fast.status != "ok":
        return None
    return slow.median / fast.median if slow.median and fast.median else None


def geometric_mean(values: Iterable[float | None]) -> float | None:
    """Of those that are there."""
    logs = [math.log(value) for value in values if value]
    return math.exp(sum(logs) / len(logs)) if logs else None


def mean_speed(models: Iterable[Results], peer: str, reference: str | None) -> float | None:
    """The geometric mean of speed() over models; without a reference, against the best peer."""
    return geometric_mean(speed(r, peer, reference or best(r)) for r in models)
