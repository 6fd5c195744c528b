"""Tables of at most 80 columns, and the JSON file."""
from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from .networks import in_order, original
from .results import (BUSY, NOISY, OWN, Result, Results, best, mean_speed, own, speed,
                      speed_over_original)

WIDTH = 80
TITLES = {"onnxruntime": "onnxrt", "lathe_tuned": "tuned"}
ALONE = "No peer is installed (scripts/setup-bench installs them): this is Lathe alone."


@dataclass(frozen=True)
class Origin:
    """When and how a model was measured."""

    date: str
    lathe: str  # its version and the state of its repository
    seconds_per_peer: float


@dataclass
class Report:
    """Everything measured: results by thread count, model and peer."""

    machine: dict[str, Any]
    lathe: dict[str, str]
    peers: list[str]  # in the order of the columns
    runs: dict[int, dict[str, Results]] = field(default_factory=dict)
    origins: dict[tuple[int, str], Origin] = field(default_factory=dict)
    precision: str = "fp32"

    def add(self, threads: int, model: str, results: Results, origin: Origin) -> None:
        """Puts the results of a model in their place, instead of those that it had."""
        models = self.runs.get(threads, {}) | {model: results}
        self.runs[threads] = {name: models[name] for name in in_order(list(models))}
        self.runs = dict(sorted(self.runs.items()))
        self.origins[threads, model] = origin

    def versions(self) -> dict[str, str]:
        """The version of each peer that could be loaded."""
        found = {r.peer: r.version for r in self._all() if r.version and r.peer not in OWN}
        return {peer: found[peer] for peer in self.peers if peer in found}

    def _all(self) -> list[Result]:
        return [result for models in self.runs.values() for results in models.values()
                for result in results.values()]

    def measured(self) -> list[str]:
        """The peers that are measured or failed: those that get a column."""
        columns = {r.peer for r in self._all() if r.status != "not installed"}
        return [peer for peer in self.peers if peer in columns]

    def over_original(self, threads: int, model: str) -> float | None:
        """How many times faster Lathe runs a network in groups than the best peer the original."""
        models = self.runs[threads]
        results = models.get(original(model) or "")
        return speed_over_original(models[model], results) if results else None

    def published(self, threads: int) -> list[Results]:
        """The results of the networks that means are of: not of those in groups.

        Where the original is not there, as for single layers, they count like any other.
        """
        models = self.runs[threads]
        return [results for model, results in models.items() if original(model) not in models]

    def as_json(self) -> dict[str, Any]:
        """Everything, with the ratios."""
        return {
            "machine": self.machine,
            "lathe": self.lathe,
            "versions": self.versions(),
            "batch": 1,
            "precision": self.precision,
            "results": [
                {
                    "threads": threads,
                    "model": model,
                    **asdict(self.origins[threads, model]),
                    "lathe_vs_onnxruntime": speed(results, "lathe", "onnxruntime"),
                    "lathe_vs_best": speed(results, "lathe", best(results)),
                    "lathe_tuned_vs_best": speed(results, "lathe_tuned", best(results)),
                    "lathe_vs_best_on_original": self.over_original(threads, model),
                    "best_peer": best(results),
                    "peers": {peer: result.summary() for peer, result in results.items()},
                }
                for threads, models in self.runs.items()
                for model, results in models.items()
            ],
            "geometric_means": {
                str(threads): {
                    "lathe_vs_onnxruntime": self.mean(threads, "lathe", "onnxruntime"),
                    "lathe_vs_best": self.mean(threads, "lathe", None),
                    "lathe_tuned_vs_best": self.mean(threads, "lathe_tuned", None),
                    "vs_onnxruntime": {
                        peer: self.mean(threads, peer, "onnxruntime") for peer in self.measured()
                    },
                }
                for threads in self.runs
            },
        }

    def mean(self, threads: int, peer: str, reference: str | None) -> float | None:
        """The geometric mean of the speeds; without a reference, against the best peer."""
        return mean_speed(self.published(threads), peer, reference)

    def seconds(self) -> str:
        """How long each peer was measured: "5", or "0.3 to 5"."""
        all_seconds = sorted({origin.seconds_per_peer for origin in self.origins.values()})
        return " to ".join(f"{s:g}" for s in dict.fromkeys([all_seconds[0], all_seconds[-1]]))

    def dates(self) -> str:
        """The day of the measurements, or the first and the last."""
        days = sorted({origin.date[:10] for origin in self.origins.values()})
        return " to ".join(dict.fromkeys([days[0], days[-1]]))

    def disturbance(self) -> float:
        """The largest share of a CPU that other programs used while a peer ran."""
        return max((r.foreign_cpu for r in self._all() if r.foreign_cpu is not None), default=0.0)

    def header(self) -> list[str]:
        """What was measured, where and when."""
        machine = self.machine
        names = [f"{peer} {version}" for peer, version in self.versions().items()]
        states = dict.fromkeys(o.lathe for o in self.origins.values() if o.lathe)
        names = [f"lathe {state}" for state in states] + names
        return [
            f"{machine['processor']}, {machine['cores']} cores, {machine['system']}",
            *_wrap(names, ", "),
            f"{self.dates()}; {self.seconds()} s a peer, batch 1, {self.precision}; "
            "median milliseconds a run",
        ]

    def table(self, threads: int) -> list[str]:
        """The table of one thread count, with notes below."""
        models = self.runs[threads]
        columns = self.measured()
        ratios = "lathe" in columns and len(columns) > 1
        widths = {peer: max(9, len(TITLES.get(peer, peer)) + 1) for peer in columns}
        room = WIDTH - sum(widths.values()) - (16 if ratios else 0)
        longest = max(map(len, models), default=0)
        name_width = max(8, min(room, max(16, longest + 1)))
        head = "".join(TITLES.get(peer, peer).rjust(widths[peer]) for peer in columns)
        tail = "  vs ort vs best" if ratios else ""
        lines = [f"{threads} thread{'s' if threads != 1 else ''}",
                 "network".ljust(name_width) + head + tail]
        for model, results in models.items():
            fastest = best(results) if len(columns) > 2 else None
            cells = "".join(_cell(results.get(peer), peer == fastest).rjust(widths[peer])
                            for peer in columns)
            if ratios:
                cells += _ratio(speed(results, own(results), "onnxruntime"), 8)
                cells += _ratio(speed(results, own(results), best(results)), 8)
            if len(model) > name_width:
                lines.append(model)
                model = ""
            lines.append(model.ljust(name_width) + cells)
        if len(columns) > 1:
            means = "".join(_ratio(self.mean(threads, peer, "onnxruntime"), widths[peer], "x")
                            for peer in columns)
            if ratios:
                ours = "lathe_tuned" if "lathe_tuned" in columns else "lathe"
                means += _ratio(self.mean(threads, ours, "onnxruntime"), 8)
                means += _ratio(self.mean(threads, ours, None), 8)
            lines.append("-" * min(WIDTH, len(lines[1])))
            lines.append("geometric mean"[:name_width - 1].ljust(name_width) + means)
        return [line.rstrip() for line in lines] + self._notes(threads, columns)

    def _notes(self, threads: int, columns: list[str]) -> list[str]:
        """How to read the table, how sure it is, and what is missing."""
        models = self.runs[threads]
        if all(peer in OWN for peer in columns):
            return [ALONE]
        lines = _legend(models, columns) if len(columns) > 1 else []
        for model in models:
            ratio = self.over_original(threads, model)
            if ratio:
                lines += _wrap(f"{model}: {ratio:.2f} times as fast as the best peer runs "
                               f"{original(model)}; not in the means.".split(" "), "", "  ")
        return lines + _certainty(models, columns) + _missing(models)


def milliseconds(seconds: float) -> str:
    """Three or four digits."""
    value = seconds * 1e3
    return f"{value:.{3 if value < 10 else 2 if value < 100 else 1}f}"


def _cell(result: Result | None, is_best: bool) -> str:
    if result is None:
        return ""
    if result.status != "ok" or result.median is None:
        return {"ok": "-", "not installed": "-"}.get(result.status, result.status)
    noise = "~" if (result.spread or 0) > NOISY else ""
    return milliseconds(result.median) + noise + ("*" if is_best else "")


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


def _legend(models: dict[str, Results], columns: list[str]) -> list[str]:
    lines = []
    if "lathe" in columns:
        lines.append("vs ort, vs best: how many times faster Lathe is than ONNX Runtime, and than")
        lines.append("the fastest peer" + (" (*)" if len(columns) > 2 else "") +
                     "; above 1 Lathe is faster.")
    if "lathe_tuned" in columns:
        lines.append("Both are of the tuned network; \"lathe\" is the templates' own choice.")
    lines.append("The last line's x: speed relative to ONNX Runtime.")
    if any(r.status in ("failed", "wrong") for m in models.values() for r in m.values()):
        lines.append("A mean leaves out the networks that one of the two did not run.")
    return lines


def _certainty(models: dict[str, Results], columns: list[str]) -> list[str]:
    """How much the runs of each peer differed, and whether something else was running."""
    lines = []
    spreads = []
    for peer in columns:
        found = [s for r in models.values() if peer in r and (s := r[peer].spread)]
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
    return lines


def _missing(models: dict[str, Results]) -> list[str]:
    """The peers that did not run a network, or did not keep still, with the reasons."""
    lines = []
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
