"""Tables of at most 80 columns, and the JSON file."""
from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from .measure import BUSY, Result

WIDTH = 80
NOISY = 0.05  # a larger spread is marked
TITLES = {"onnxruntime": "onnxrt"}


@dataclass
class Report:
    """Everything measured: results by thread count, model and peer."""

    machine: dict[str, Any]
    lathe: dict[str, str]
    seconds: float
    peers: list[str]  # in the order of the columns
    runs: dict[int, dict[str, dict[str, Result]]] = field(default_factory=dict)

    def versions(self) -> dict[str, str]:
        """The version of each peer that could be loaded."""
        found = {r.peer: r.version for r in self._all() if r.version and r.peer != "lathe"}
        return {peer: found[peer] for peer in self.peers if peer in found}

    def _all(self) -> list[Result]:
        return [result for models in self.runs.values() for results in models.values()
                for result in results.values()]

    def measured(self) -> list[str]:
        """The peers that are measured or failed: those that get a column."""
        columns = {r.peer for r in self._all() if r.status != "not installed"}
        return [peer for peer in self.peers if peer in columns]

    def as_json(self) -> dict[str, Any]:
        """Everything, with the ratios."""
        return {
            "machine": self.machine,
            "lathe": self.lathe,
            "versions": self.versions(),
            "seconds_per_peer": self.seconds,
            "batch": 1,
            "precision": "fp32",
            "results": [
                {
                    "threads": threads,
                    "model": model,
                    "lathe_vs_onnxruntime": speed(results, "lathe", "onnxruntime"),
                    "lathe_vs_best": speed(results, "lathe", best(results)),
                    "best_peer": best(results),
                    "peers": {peer: result.summary() for peer, result in results.items()},
                }
                for threads, models in self.runs.items()
                for model, results in models.items()
            ],
            "geometric_means": {
                str(threads): {
                    "lathe_vs_onnxruntime": mean_speed(models, "lathe", "onnxruntime"),
                    "lathe_vs_best": mean_speed(models, "lathe", None),
                    "vs_onnxruntime": {
                        peer: mean_speed(models, peer, "onnxruntime") for peer in self.measured()
                    },
                }
                for threads, models in self.runs.items()
            },
        }

    def header(self) -> list[str]:
        """What was measured, where and when."""
        machine = self.machine
        names = [f"{peer} {version}" for peer, version in self.versions().items()]
        if self.lathe.get("version"):
            git = f" ({self.lathe['git']})" if "git" in self.lathe else ""
            names.insert(0, f"lathe {self.lathe['version']}{git}")
        return [
            f"{machine['processor']}, {machine['cores']} cores, {machine['system']}",
            *_wrap(names, ", "),
            f"{machine['date']}; {self.seconds:g} s a peer, batch 1, fp32; "
            "median milliseconds a run",
        ]

    def table(self, threads: int) -> list[str]:
        """The table of one thread count, with notes below."""
        models = self.runs[threads]
        columns = self.measured()
        ratios = "lathe" in columns
        widths = {peer: max(8, len(TITLES.get(peer, peer)) + 1) for peer in columns}
        room = WIDTH - sum(widths.values()) - (16 if ratios else 0)
        longest = max(map(len, models), default=0)
        name_width = max(8, min(room, max(16, longest + 1)))
        head = "".join(TITLES.get(peer, peer).rjust(widths[peer]) for peer in columns)
        tail = "  vs ort vs best" if ratios else ""
        lines = [f"{threads} thread{'s' if threads != 1 else ''}",
                 "network".ljust(name_width) + head + tail]
        for model, results in models.items():
            cells = "".join(_cell(results.get(peer)).rjust(widths[peer]) for peer in columns)
            if ratios:
                cells += _ratio(speed(results, "lathe", "onnxruntime"), 8)
                cells += _ratio(speed(results, "lathe", best(results)), 8)
            if len(model) > name_width:
                lines.append(model)
                model = ""
            lines.append(model.ljust(name_width) + cells)
        means = "".join(
            _ratio(mean_speed(models, peer, "onnxruntime"), widths[peer], "x") for peer in columns
        )
        if ratios:
            means += _ratio(mean_speed(models, "lathe", "onnxruntime"), 8)
            means += _ratio(mean_speed(models, "lathe", None), 8)
        lines.append("-" * min(WIDTH, len(lines[1])))
        lines.append("geometric mean"[:name_width - 1].ljust(name_width) + means)
        return [line.rstrip() for line in lines] + _notes(models, columns, ratios)


def best(results: dict[str, Result]) -> str | None:
    """The fastest peer other than Lathe."""
    timed = [r for r in results.values() if r.peer != "lathe" and r.status == "ok" and r.median]
    return min(timed, key=lambda r: r.median or math.inf).peer if timed else None


def speed(results: dict[str, Result], peer: str, reference: str | None) -> float | None:
    """How many times faster one is than the other."""
    one, other = results.get(peer), results.get(reference or "")
    if not one or not other or one.status != "ok" or other.status != "ok":
        return None
    return other.median / one.median if one.median and other.median else None


def mean_speed(models: dict[str, dict[str, Result]], peer: str,
               reference: str | None) -> float | None:
    """The geometric mean of speed() over models; without a reference, against the best peer."""
    found = [speed(results, peer, reference or best(results)) for results in models.values()]
    logs = [math.log(value) for value in found if value]
    return math.exp(sum(logs) / len(logs)) if logs else None


def milliseconds(seconds: float) -> str:
    """Three or four digits."""
    value = seconds * 1e3
    return f"{value:.{3 if value < 10 else 2 if value < 100 else 1}f}"


def _cell(result: Result | None) -> str:
    if result is None:
        return ""
    if result.status != "ok" or result.median is None:
        return {"ok": "-", "not installed": "-"}.get(result.status, result.status)
    return milliseconds(result.median) + ("~" if (result.spread or 0) > NOISY else "")


def _ratio(value: float | None, width: int, unit: str = "") -> str:
    return (f"{value:.2f}{unit}" if value else "-").rjust(width)


def _wrap(words: list[str], separator: str, indent: str = "") -> list[str]:
    """Words joined into lines of at most 80 columns."""
    lines, line = [], ""
    for i, word in enumerate(words):
        word += separator.rstrip() if i + 1 < len(words) else ""
        if line and len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line = indent + word
        else:
            line = f"{line} {word}" if line else word
    return lines + [line] if line else lines


def _notes(models: dict[str, dict[str, Result]], columns: list[str], ratios: bool) -> list[str]:
    """How to read the table, how sure it is, and what is missing."""
    lines = []
    if ratios:
        lines.append("vs ort, vs best: how many times faster Lathe is than ONNX Runtime, and than")
        lines.append("the fastest peer; above 1 Lathe is faster.")
    lines.append("The last line's x: speed relative to ONNX Runtime.")
    if any(r.status in ("failed", "wrong") for m in models.values() for r in m.values()):
        lines.append("A mean leaves out the networks that one of the two did not run.")
    spreads = []
    for peer in columns:
        found = [r[peer].spread for r in models.values() if peer in r and r[peer].spread]
        if found:
            spreads.append(f"{peer} {100 * max(found):.1f}%")
    if spreads:
        text = "Largest spread (interquartile range): " + ", ".join(spreads)
        lines += _wrap(text.split(" "), "", "  ")
        if any(r.spread and r.spread > NOISY for m in models.values() for r in m.values()):
            lines.append(f"~: a spread above {100 * NOISY:.0f}%")
    foreign = [r.foreign_cpu for m in models.values() for r in m.values()
               if r.foreign_cpu is not None]
    if foreign and max(foreign) > BUSY:
        lines += _wrap(f"This machine was not quiet: other programs used {100 * min(foreign):.0f} "
                       f"to {100 * max(foreign):.0f}% of a CPU while peers ran.".split(" "), "")
    missing: dict[tuple[str, str, str], list[str]] = {}
    for model, results in models.items():
        for result in results.values():
            if result.status == "not installed":
                missing.setdefault((result.peer, result.status, ""), [])
            elif result.status != "ok":
                missing.setdefault((result.peer, result.status, result.reason), []).append(model)
            if result.idle_cpu is not None and result.idle_cpu > BUSY:
                text = f"used {100 * result.idle_cpu:.0f}% of a CPU while others were measured"
                missing.setdefault((result.peer, "burns", text), []).append(model)
    for (peer, status, reason), names in missing.items():
        where = f" ({', '.join(names)})" if names else ""
        text = f"{peer}{where}: {status}" + (f": {reason}" if reason else "")
        lines += _wrap(text.split(" "), "", "  ")
    return lines
