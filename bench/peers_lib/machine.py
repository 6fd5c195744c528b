"""What the measurements were made on."""
from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import datetime, timezone
from pathlib import Path
from typing import Any


def _output(*command: str | Path) -> str:
    """What a command prints; nothing if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              env=os.environ | {"LC_ALL": "C"})
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _processor() -> str:
    for line in _output("lscpu").splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("Model name", "BIOS Model name"):
            return value.strip()
    return platform.processor() or "unknown processor"


def _limits(lathe: Path) -> dict[str, Any]:
    """What 'lathe bench --machine' says: peak and bandwidths; nothing if it cannot be run."""
    text = _output(lathe, "bench", "--machine", "--json")
    return json.loads(text) if text else {}


def describe(lathe: Path) -> dict[str, Any]:
    """The machine, for the header and the JSON file."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": _processor(),
        "architecture": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(memory / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "limits": _limits(lathe),
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }


def lathe_state(lathe: Path) -> dict[str, str]:
    """Version and git state of the Lathe that is measured, as far as they are known."""
    state = {"program": str(lathe), "version": _output(lathe, "--version").removeprefix("lathe ")}
    root = Path(__file__).resolve().parent.parent.parent
    if lathe.resolve().is_relative_to(root):
        state["git"] = _output("git", "-C", root, "describe", "--always", "--dirty", "--tags")
    return {key: value for key, value in state.items() if value}
