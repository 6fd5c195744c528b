"""The figures in docs/07_speed.md and README.md, written from a file of measurements.

A document marks what is written here; all else in it is by hand:
    <!-- speed: table -->
    ...
    <!-- speed: end -->
"""
from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

from . import resume
from .chart import NAMES, chart
from .networks import TITLES, original
from .report import Report
from .results import BUSY, OWN, Result, Results, best, own, speed
from .worker import PEERS

WIDTH = 100
DOCUMENTS = ["docs/07_speed.md", "README.md"]
PICTURE = "docs/speed.svg"


class PageError(Exception):
    """The documents cannot be written; the text says why."""


def write_pages(root: Path, file: Path) -> int:
    """Writes picture and figures of a file of measurements; returns the exit status."""
    try:
        report = resume.load(file, list(PEERS))
        if "lathe" not in report.measured() or not set(report.measured()) - set(OWN):
            raise PageError(f"{file}: no comparison of Lathe with a peer")
        texts = {name: rewrite((root / name).read_text(), report) for name in DOCUMENTS}
    except OSError as error:
        print(f"bench/peers: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    except (PageError, resume.NotResumable) as error:
        print(f"bench/peers: {error}", file=sys.stderr)
        return 2
    for name, text in (texts | {PICTURE: chart(report)}).items():
        (root / name).write_text(text)
        print(f"{name}: written")
    return 0


def rewrite(text: str, report: Report) -> str:
    """A document with every marked part written anew."""
    def section(match: re.Match[str]) -> str:
        name = match[2]
        if name not in SECTIONS:
            raise PageError(f"no part '{name}'; there are {', '.join(SECTIONS)}")
        return f"{match[1]}\n{SECTIONS[name](report)}\n{match[3]}"

    marked = re.compile(r"(<!-- speed: (\w+) -->)\n.*?(<!-- speed: end -->)", re.DOTALL)
    written, count = marked.subn(section, text)
    if not count or count != text.count("<!-- speed: end -->"):
        raise PageError("a document marks no part to write, or one that does not end")
    return written


def milliseconds(result: Result | None) -> str:
    """Three digits; why there are none."""
    if result is None:
        return ""
    if result.status != "ok" or result.median is None:
        return result.status
    value = result.median * 1e3
    return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f}"


def title(model: str) -> str:
    """The name of a network for people."""
    return TITLES.get(model, model)


def _ratio(value: float | None) -> str:
    return f"{value:.2f}" if value else "-"


def _row(cells: list[str]) -> str:
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def _rows(cells: list[list[str]]) -> str:
    return "\n".join([_row(cells[0]), "|" + "---|" * len(cells[0]), *map(_row, cells[1:])])


def _fill(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _threads(count: int) -> str:
    return f"{count} thread{'s' if count != 1 else ''}"


def tables(report: Report) -> str:
    """A table for each thread count: every peer, the best in bold, and the ratio to it."""
    return "\n\n".join(f"**{_threads(threads)}**\n\n{_table(report, threads)}"
                       for threads in report.runs)


def _table(report: Report, threads: int) -> str:
    ours = [peer for peer in report.measured() if peer in OWN]
    peers = [peer for peer in report.measured() if peer not in OWN]
    speeds = ["speed", "speed, tuned"][:len(ours)]
    rows = [["network", *(NAMES[peer] for peer in [*ours, *peers]), *speeds]]
    for model, results in report.runs[threads].items():
        times = [milliseconds(results.get(peer)) for peer in peers]
        fastest = best(results)
        times = [f"**{t}**" if peer == fastest else t for peer, t in zip(peers, times)]
        rows.append([title(model), *(milliseconds(results.get(peer)) for peer in ours), *times,
                     *(_ratio(speed(results, peer, fastest)) for peer in ours)])
    means = [f"**{_ratio(report.mean(threads, peer, None))}**" for peer in ours]
    rows.append(["geometric mean", *[""] * len(ours + peers), *means])
    return _rows(rows)


def head(report: Report) -> str:
    """One table for all thread counts: Lathe, the best peer, and the ratio."""
    counts = " / ".join(map(str, report.runs))
    plural = "s" if counts != "1" else ""
    rows = [["network", "Lathe", "best peer", "speed"]]
    for model in dict.fromkeys(m for models in report.runs.values() for m in models):
        each = [models[model] for models in report.runs.values() if model in models]
        rows.append([title(model), " / ".join(milliseconds(r.get(own(r))) for r in each),
                     _best_cells(each),
                     " / ".join(_ratio(speed(r, own(r), best(r))) for r in each)])
    ours = [peer for peer in report.measured() if peer in OWN][-1]
    means = [_ratio(report.mean(threads, ours, None)) for threads in report.runs]
    rows.append(["geometric mean", "", "", " / ".join(means)])
    said = (f"Median milliseconds with {counts} thread{plural} ({_when(report)}). \"Speed\" is "
            "Lathe's relative to the best peer: above 1, Lathe is faster."
            + (" Networks were tuned first." if ours == "lathe_tuned" else "")
            + _means_note(report) + _unquiet(report))
    return f"{_fill(said)}\n\n{_rows(rows)}"


def _best_cells(each: list[Results]) -> str:
    """The best peer's name and times; the name once where it is the same."""
    names = [best(results) for results in each]
    times = [milliseconds(r.get(name or "")) or "-" for r, name in zip(each, names)]
    shown = [NAMES[name] if name else "" for name in names]
    for i in range(len(shown) - 1, 0, -1):
        shown[i] = "" if shown[i] == shown[i - 1] else shown[i]
    return " / ".join(f"{name} {t}".strip() for name, t in zip(shown, times))


def _when(report: Report) -> str:
    return f"{report.dates()}, {report.seconds()} s a peer"


def _means_note(report: Report) -> str:
    grouped = any(original(m) in models for models in report.runs.values() for m in models)
    return " Networks in groups are not in the mean." if grouped else ""


def _unquiet(report: Report) -> str:
    share = report.disturbance()
    return (f" Other programs used up to {100 * share:.0f} % of a CPU meanwhile, so repeat this on "
            "a quieter machine.") if share > BUSY else ""


def conditions(report: Report) -> str:
    """What was measured and how long, and what did not run."""
    versions = [f"{NAMES[peer]} {version}" for peer, version in report.versions().items()]
    states = dict.fromkeys(o.lathe for o in report.origins.values() if o.lathe)
    text = (f"{_when(report)}. Lathe {', '.join(states)}; {', '.join(versions)}."
            + _unquiet(report))
    lines = [_fill(text)]
    failures = {f"{NAMES[r.peer]} on {title(model)}: {r.status}, {r.reason}": None
                for models in report.runs.values() for model, results in models.items()
                for r in results.values() if r.status in ("failed", "wrong")}
    lines += [textwrap.fill(f"- {text}", WIDTH, subsequent_indent="  ") for text in failures]
    return "\n\n".join(lines[:1] + (["\n".join(lines[1:])] if failures else []))


def machine(report: Report) -> str:
    """What it was measured on: the processor, and what Lathe found that it can do."""
    about = report.machine
    lines = [f"    {'processor':<11} {about['processor']}, {about['architecture']}",
             f"    {'cores':<11} {about['cores']}",
             f"    {'memory':<11} {about['memory_gib']:g} GiB",
             f"    {'system':<11} {about['system']}"]
    limits = about.get("limits", {})
    if "peak_gflops" in limits:
        lines.append(f"    {'peak':<11} {limits['peak_gflops']:.1f} GFLOP/s, f32, one core")
    for level in limits.get("bandwidths", []):
        name = "from memory" if level["level"] == "memory" else f"from {level['level']}"
        lines.append(f"    {name:<11} {level['gb_s']:.1f} GB/s, one core")
    return "\n".join(lines)


def groups(report: Report) -> str:
    """How networks in groups compare with the same network and with the original."""
    rows = [["network", "threads", "best peer on it", "best peer on the original"]]
    for threads, models in report.runs.items():
        rows += [[title(model), str(threads), _ratio(speed(results, own(results), best(results))),
                  _ratio(report.over_original(threads, model))]
                 for model, results in models.items() if original(model) in models]
    return _rows(rows) if len(rows) > 1 else "None was measured."


SECTIONS: dict[str, Callable[[Report], str]] = {
    "table": tables, "head": head, "conditions": conditions, "machine": machine, "groups": groups}
