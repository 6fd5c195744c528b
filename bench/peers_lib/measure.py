"""Workers in their processes, and the alternating measurement of one model."""
from __future__ import annotations

import json
import math
import os
import random
import select
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .networks import last_line
from .results import OWN, Result, Results
from .task import Task

# Of the largest value of the reference. Integers that are chosen otherwise at one layer make the
# next ones differ, too.
TOLERANCE = {"f32": 1e-3, "f16": 5e-2, "bf16": 1e-1, "int8": 1e-1}
ROUND = 0.3  # seconds of runs in a round, unless less is asked for in all
ROUNDS = 5  # at least
SETTLE = 0.05  # seconds between rounds, for threads that wait a moment for more work
LOAD_LIMIT = 900.0  # seconds for a peer to load or compile a model
PROGRAM = Path(__file__).resolve().parent.parent / "peers"


class WorkerFailed(Exception):
    """A worker ended, hung or said that it failed."""


class WorkerMissing(Exception):
    """The library of a worker is not installed."""


class Worker:
    """The process of one peer."""

    def __init__(self, peer: str, task: Task, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.peer, self.folder = peer, folder
        task.save(folder / "task.json")
        self._log = folder / "stderr"
        threads = str(task.threads)
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TVM_NUM_THREADS")
        environment = os.environ | {name: threads for name in names}
        environment["ONEDNN_DEFAULT_FPMATH_MODE"] = "STRICT"  # fp32
        with self._log.open("w") as log:
            # A session of its own: Ctrl-C is for the driver, and children end with the worker.
            self._process = subprocess.Popen(
                [sys.executable, PROGRAM, "--worker", peer, folder / "task.json"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=environment,
                start_new_session=True)
        self._unread = b""
        self.seconds: list[float] = []
        self.estimate = 0.0
        self._idle_since: tuple[float, float] | None = None
        self.idle_wall = self.idle_cpu = 0.0
        self.run_wall = self.foreign_cpu = 0.0

    def load(self) -> str:
        """Waits until the model is loaded; returns the version of the library."""
        return self._receive(LOAD_LIMIT)["version"]

    def ask(self, limit: float = LOAD_LIMIT, **request: Any) -> dict[str, Any]:
        """Sends a request and returns the answer."""
        assert self._process.stdin
        try:
            self._process.stdin.write((json.dumps(request) + "\n").encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the reason is in what it said last
        return self._receive(limit)

    def run(self, count: int, warm: int) -> list[float]:
        """Seconds of each of these runs."""
        return self.ask(do="run", count=count, warm=warm)["seconds"]

    def outputs(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The outputs of the model, and those on floats where the peer chose its own integers."""
        answer = self.ask(do="output", folder=str(self.folder))
        files, floats = ([np.load(file) for file in answer[key]] for key in ("files", "floats"))
        return files, floats

    def _receive(self, limit: float) -> dict[str, Any]:
        assert self._process.stdout
        pipe = self._process.stdout.fileno()
        end = time.monotonic() + limit
        while b"\n" not in self._unread:
            ready, _, _ = select.select([pipe], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise WorkerFailed(f"no answer in {limit:.0f} s")
            data = os.read(pipe, 1 << 16)
            if not data:
                raise WorkerFailed(self._epitaph())
            self._unread += data
        line, self._unread = self._unread.split(b"\n", 1)
        answer = json.loads(line)
        if "missing" in answer:
            raise WorkerMissing(answer["missing"])
        if "failed" in answer:
            raise WorkerFailed(answer["failed"])
        return answer

    def _epitaph(self) -> str:
        """How the process ended, and the last line it wrote."""
        status = self._process.wait()
        if status < 0:
            try:
                how = f"killed by {signal.Signals(-status).name}"
            except ValueError:
                how = f"killed by signal {-status}"
        else:
            how = f"ended with status {status}"
        line = last_line(self._log.read_text(errors="replace"))
        return f"{how}: {line}" if line else how

    def cpu(self) -> float:
        """Seconds of CPU that all threads of the process have used."""
        try:
            text = Path(f"/proc/{self._process.pid}/stat").read_text()
        except OSError:
            return 0.0
        fields = text.rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def idle_begins(self) -> None:
        """From now on the worker should not use any CPU."""
        self._idle_since = (time.monotonic(), self.cpu())

    def idle_ends(self) -> None:
        """Adds up what the worker used since idle_begins()."""
        if self._idle_since:
            begin, cpu = self._idle_since
            self.idle_wall += time.monotonic() - begin
            self.idle_cpu += self.cpu() - cpu
        self._idle_since = None

    def stop(self) -> None:
        """Ends the process and what it started."""
        if self._process.poll() is None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            try:
                if pipe:
                    pipe.close()
            except BrokenPipeError:
                pass


def _machine_cpu() -> float:
    """Seconds of CPU that the whole machine has used, or lost to other guests of its host."""
    times = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return (sum(times) - times[3] - times[4]) / os.sysconf("SC_CLK_TCK")


def difference(outputs: list[np.ndarray], reference: list[np.ndarray]) -> float:
    """The largest difference, relative to the largest value of that output of the reference."""
    if [o.size for o in outputs] != [r.size for r in reference]:
        return math.inf
    worst = 0.0
    for output, expected in zip(outputs, reference, strict=True):
        a = output.astype(np.float64).reshape(-1)
        b = expected.astype(np.float64).reshape(-1)
        if not a.size:
            continue
        apart = float(np.max(np.abs(a - b))) / (float(np.max(np.abs(b))) or 1.0)
        worst = max(worst, apart if math.isfinite(apart) else math.inf)
    return worst


def _attempt(result: Result, action: Callable[[], Any]) -> Any:
    """Runs the action on a worker; a failure becomes the status of the result."""
    try:
        return action()
    except WorkerMissing as error:
        result.status, result.reason = "not installed", str(error)
    except WorkerFailed as error:
        result.status, result.reason = "failed", str(error)
    return None


def _check(workers: dict[str, Worker], results: Results, precision: str) -> None:
    """Compares the outputs with those of onnxruntime, or of the first peer there is. A peer that
    chose its own integers is compared with its own floats."""
    outputs, floats = {}, {}
    for peer, worker in workers.items():
        found = _attempt(results[peer], worker.outputs)
        if found is not None:
            outputs[peer], floats[peer] = found
    order = ["onnxruntime"] + [p for p in outputs if p not in OWN] + list(OWN)
    reference = next((p for p in order if p in outputs and not floats[p]), None)
    for peer, found in outputs.items():
        expected = floats[peer] or outputs[reference or peer]
        name = "its own on floats" if floats[peer] else f"{reference}'s"
        apart = difference(found, expected)
        results[peer].difference = apart if math.isfinite(apart) else None
        if not apart <= TOLERANCE[precision]:
            results[peer].status = "wrong"
            results[peer].reason = (
                f"outputs differ from {name} by {apart:.2g} of the largest value"
                if math.isfinite(apart) else
                f"outputs have other sizes than {name}, or are not finite")


def _alternate(workers: dict[str, Worker], results: Results, seconds: float,
               say: Callable[[str], None]) -> None:
    """Rounds in shuffled order until each worker has used its seconds."""
    length = min(ROUND, seconds / ROUNDS)
    rng = random.Random(0)
    alive = dict(workers)
    counts = dict.fromkeys(workers, 0)
    turn = 0
    while workers:
        turn += 1
        say(f"round {turn}")
        order = list(workers)
        rng.shuffle(order)
        for peer in order:
            worker, result = workers[peer], results[peer]
            others = [w for w in alive.values() if w is not worker]
            time.sleep(SETTLE)
            for other in others:
                other.idle_begins()
            count = max(1, min(2000, round(length / max(worker.estimate, 1e-7))))
            begin, used = time.monotonic(), _machine_cpu() - worker.cpu()
            runs = _attempt(result, lambda: worker.run(count, 1 if worker.estimate < 0.5 else 0))
            for other in others:
                other.idle_ends()
            if runs is None:
                del workers[peer], alive[peer]
                worker.stop()
                continue
            worker.run_wall += time.monotonic() - begin
            worker.foreign_cpu += _machine_cpu() - worker.cpu() - used
            result.foreign_cpu = max(0.0, worker.foreign_cpu / worker.run_wall)
            worker.seconds += runs
            result.time(worker.seconds)
            result.rounds.append(statistics.median(runs))
            worker.estimate = result.rounds[-1]
            counts[peer] += 1
            for other in others:
                results[other.peer].idle_cpu = other.idle_cpu / other.idle_wall
            if counts[peer] >= ROUNDS and sum(worker.seconds) >= seconds:
                del workers[peer]  # stays alive, and idle, until all are done


def measure(peers: dict[str, Task | str], folder: Path, seconds: float, precision: str,
            say: Callable[[str], None]) -> Results:
    """Measures one model with all peers; a string in place of a task says why there is none."""
    results: Results = {}
    started: list[Worker] = []
    workers: dict[str, Worker] = {}
    try:
        for peer, task in peers.items():
            result = results[peer] = Result(peer)
            if isinstance(task, str):
                result.status, result.reason = "failed", task
                continue
            say(f"{peer} loads")
            worker = Worker(peer, task, folder / f"{peer}-{task.threads}")
            started.append(worker)
            version = _attempt(result, worker.load)
            if version is not None:
                result.version = version
                workers[peer] = worker
        say("comparing outputs")
        _check(workers, results, precision)
        workers = {p: w for p, w in workers.items() if results[p].status == "ok"}
        for peer, worker in list(workers.items()):
            say(f"{peer} warms up")
            begin = time.monotonic()
            times: list[float] = []
            while times is not None and (len(times) < 2 or time.monotonic() - begin < ROUND):
                more = _attempt(results[peer], lambda: worker.run(1 if len(times) < 8 else 8, 0))
                times = None if more is None else times + more
            if times is None:
                del workers[peer]
            else:
                worker.estimate = statistics.median(times)
        _alternate(workers, results, seconds, say)
    finally:
        for worker in started:
            worker.stop()
    return results
