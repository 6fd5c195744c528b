"""The file of the measurements: what it holds is kept, and need not be measured again."""
from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from .report import Origin, Report
from .results import OWN, Result


class NotResumable(Exception):
    """A file of measurements cannot be gone on with; the text says why."""


def save(report: Report, file: Path) -> None:
    """Writes the report, all or nothing: whenever this ends, the file is the old or the new one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        draft.write_text(json.dumps(report.as_json(), indent=1) + "\n")
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)


def load(file: Path, peers: list[str]) -> Report:
    """Reads what save() wrote."""
    try:
        data = json.loads(file.read_text())
        report = Report(data["machine"], data["lathe"], peers,
                        precision=data.get("precision", "fp32"))
        for entry in data["results"]:
            results = {p: Result.from_summary(r) for p, r in entry["peers"].items()}
            report.add(entry["threads"], entry["model"], results, _origin(entry))
    except OSError as error:
        raise NotResumable(f"{file}: {error.strerror}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise NotResumable(f"{file}: not what bench/peers wrote ({error!r})") from error
    return report


def _origin(entry: dict[str, Any]) -> Origin:
    return Origin(entry["date"], entry["lathe"], entry["seconds_per_peer"])


def adopt(report: Report, earlier: Report) -> None:
    """Takes all that an earlier report holds; it must be of the same machine."""
    here, there = report.machine.get("processor"), earlier.machine.get("processor")
    if here != there:
        raise NotResumable(f"the earlier measurements are of another machine, '{there}'")
    if report.precision != earlier.precision:
        raise NotResumable(f"the earlier measurements are in {earlier.precision}")
    for threads, models in earlier.runs.items():
        for model, results in models.items():
            report.add(threads, model, results, earlier.origins[threads, model])


def is_finished(report: Report, threads: int, model: str, peers: list[str],
                seconds: float) -> bool:
    """Does the report hold this model, with all these peers, measured for long enough?

    A peer that failed is done with; Lathe is not.
    """
    results = report.runs.get(threads, {}).get(model)
    if results is None or report.origins[threads, model].seconds_per_peer < seconds:
        return False
    if any(p not in results or results[p].status == "not installed" for p in peers):
        return False
    return all(results[peer].status == "ok" for peer in OWN if peer in peers)
