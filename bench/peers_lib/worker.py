"""The worker: one process that holds one peer and runs it on request.

It answers one JSON line for each JSON line it reads:
    {"do": "run", "count": N, "warm": W}  W untimed runs, then N timed: {"seconds": [...]}
    {"do": "output", "folder": DIR}       writes output_0.npy, ...: {"files": [...], "floats": [...]}
and ends with its input. Its first line is {"version": ...} once the model is loaded, or
{"missing": ...} or {"failed": ...}. What libraries print goes to stderr.
"""
from __future__ import annotations

import importlib
import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from .task import NotInstalled, Peer, Task

if TYPE_CHECKING:
    import numpy as np

# The modules of the peers; the driver offers them in this order.
PEERS = {
    "lathe": "peer_lathe",
    "lathe_tuned": "peer_lathe",
    "onnxruntime": "peer_onnxruntime",
    "openvino": "peer_openvino",
    "ncnn": "peer_ncnn",
    "torch": "peer_torch",
    "tvm": "peer_tvm",
}


def _answer(pipe: TextIO, message: dict[str, Any]) -> None:
    pipe.write(json.dumps(message) + "\n")
    pipe.flush()


def _load(name: str, task: Task) -> Peer:
    try:
        module = importlib.import_module(f".{PEERS[name]}", __package__)
        return module.load(task)
    except ModuleNotFoundError as error:
        raise NotInstalled(f"no Python module '{error.name}'") from error


def _run(peer: Peer, count: int, warm: int) -> list[float]:
    """Seconds of each of the runs."""
    for _ in range(warm):
        peer.run()
    run, clock = peer.run, time.perf_counter
    seconds = [0.0] * count
    for i in range(count):
        begin = clock()
        run()
        seconds[i] = clock() - begin
    return seconds


def _write(arrays: list[np.ndarray], folder: Path, name: str) -> list[str]:
    import numpy as np

    files = []
    for i, array in enumerate(arrays):
        files.append(str(folder / f"{name}_{i}.npy"))
        np.save(files[-1], np.ascontiguousarray(array))
    return files


def _write_outputs(peer: Peer, folder: Path) -> dict[str, list[str]]:
    """Writes the outputs, and those on floats if the peer chose its own integers."""
    on_floats = getattr(peer, "floats", list)()
    return {"files": _write(peer.outputs(), folder, "output"),
            "floats": _write(on_floats, folder, "floats")}


def _serve(peer: Peer, pipe: TextIO) -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "run":
            _answer(pipe, {"seconds": _run(peer, request["count"], request["warm"])})
        elif request["do"] == "output":
            _answer(pipe, _write_outputs(peer, Path(request["folder"])))
        else:
            raise ValueError(f"unknown request {line!r}")


def main(arguments: list[str]) -> int:
    """Runs the worker: its arguments are the name of the peer and the file of the task."""
    name, file = arguments
    task = Task.load(Path(file))
    # Before any library is loaded: libraries count the CPUs they may use as they start.
    os.sched_setaffinity(0, task.cpus)
    pipe = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        peer = _load(name, task)
        _answer(pipe, {"version": peer.version})
        _serve(peer, pipe)
    except NotInstalled as error:
        _answer(pipe, {"missing": str(error)})
    except Exception as error:  # whatever a library raises is this peer's failed row
        traceback.print_exc()
        lines = [text.strip() for text in str(error).splitlines() if text.strip()]
        text = lines[-1] if len(lines) > 8 else " ".join(lines)
        _answer(pipe, {"failed": f"{type(error).__name__}: {text}"[:400]})
    # Some libraries crash while they unload; everything was said by now.
    pipe.flush()
    os._exit(0)
