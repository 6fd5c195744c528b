"""The driver: prepares models, starts the measurements, prints what came of them."""
from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .worker import PEERS

if TYPE_CHECKING:
    from .report import Report

NETWORKS = ["resnet34", "resnet50", "densenet161", "resnext29_2x64d", "mobilenet_v2", "vgg16",
            "resnet34-cifar"]
ROOT = Path(__file__).resolve().parent.parent.parent


def _list(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _numbers(text: str) -> list[int]:
    numbers = [int(word) for word in _list(text)]
    if not numbers or min(numbers) < 1:
        raise ValueError
    return list(dict.fromkeys(numbers))


def _arguments(arguments: list[str]) -> argparse.Namespace:
    others = [name for name in PEERS if name != "lathe"]
    parser = argparse.ArgumentParser(
        prog="bench/peers",
        description="Compares the speed of networks compiled by Lathe with other inference "
                    "libraries: same weights, inputs, threads and cores, batch 1, fp32.",
        epilog=f"Without NETWORK: {' '.join(NETWORKS)}. scripts/setup-bench installs the peers.")
    parser.add_argument("networks", nargs="*", metavar="NETWORK",
                        help="a built-in network of Lathe, or an .onnx file")
    parser.add_argument("--lathe", type=Path, default=ROOT / "build" / "release" / "lathe",
                        metavar="PROGRAM", help="the compiler; build/release/lathe unless told")
    parser.add_argument("--no-lathe", action="store_true", help="compare the peers alone")
    parser.add_argument("--threads", type=_numbers, default=None, metavar="N,...",
                        help="thread counts; 1 and the number of cores, at most 2, unless told")
    parser.add_argument("--peers", type=_list, default=others, metavar="NAME,...",
                        help=f"of {','.join(others)}; all unless told")
    parser.add_argument("--seconds", type=float, default=5.0,
                        help="of runs for each peer and network; 5 unless told")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything as JSON")
    parser.add_argument("--svg", type=Path, metavar="FILE",
                        help="write a chart of speed relative to ONNX Runtime")
    parser.add_argument("--layers", type=Path, metavar="CSV",
                        help="compare the convolutions of a table instead of networks; its "
                             "columns: name,N,C_in,H,W,C_out,K,stride,pad")
    parser.add_argument("--groups", type=_numbers, default=[1], metavar="G,...",
                        help="with --layers: in these numbers of groups, where they divide")
    parser.add_argument("--depthwise", metavar="NETWORK",
                        help="compare the distinct depthwise 3x3 layers of a network")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.peers if name not in others]
    if unknown:
        parser.error(f"no peer '{unknown[0]}'; there are {', '.join(others)}")
    if not options.seconds > 0:
        parser.error("--seconds is not above 0")
    found = shutil.which(options.lathe)
    options.lathe = Path(found or options.lathe).absolute()
    cores = len(os.sched_getaffinity(0))
    if options.threads is None:
        options.threads = [1, 2] if cores > 1 else [1]
    if max(options.threads) > cores:
        parser.error(f"{max(options.threads)} threads on {cores} cores")
    if (options.layers or options.depthwise) and options.networks:
        parser.error("give networks, or --layers and --depthwise")
    if options.groups != [1] and not options.layers:
        parser.error("--groups needs --layers")
    return options


class Progress:
    """One line that changes on a terminal; elsewhere a line for each model."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._begin = time.monotonic()

    def say(self, what: str, step: str = "") -> None:
        """Shows what is going on; steps only where they can be overwritten."""
        if self._terminal:
            line = f"[{time.monotonic() - self._begin:.0f} s] {what}: {step}"[:79]
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
        elif not step:
            print(f"bench/peers: {what}", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Makes room for other output."""
        if self._terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _models(options: argparse.Namespace, folder: Path) -> dict[str, Callable[[Path], None]]:
    """What writes each model to a file, by the model's name."""
    from . import models

    if not options.layers and not options.depthwise:
        writers: dict[str, Callable[[Path], None]] = {}
        for network in options.networks or NETWORKS:
            if network.endswith(".onnx"):
                if not Path(network).exists():
                    raise models.ModelError(f"{network}: no such file")
                name = Path(network).stem
                writers[name if name not in writers else network] = _linker(Path(network))
            else:
                writers[network] = lambda file, network=network: models.export(
                    options.lathe, network, file)
        return writers

    layers = []
    if options.layers:
        for groups in options.groups:
            layers += [x for layer in models.read_layers(options.layers)
                       if (x := layer.grouped(groups))]
    if options.depthwise:
        file = Path(options.depthwise)
        if file.suffix != ".onnx":
            file = folder / "depthwise.onnx"
            models.export(options.lathe, options.depthwise, file)
        layers += models.depthwise_layers(file)
    return {layer.name: lambda file, layer=layer: models.write_layer(layer, file)
            for layer in layers}


def _linker(source: Path) -> Callable[[Path], None]:
    return lambda file: file.symlink_to(source.resolve())


def _compile(lathe: Path, model: Path, library: Path) -> str:
    """Runs 'lathe compile'; returns what is wrong, or nothing."""
    from .models import last_line

    if (library / "libmodel.so").exists():
        return ""
    try:
        done = subprocess.run([lathe, "compile", model, "-o", f"{library}/"],
                              capture_output=True, text=True, errors="replace")
    except OSError as error:
        return f"'{lathe}' cannot be run: {error.strerror}; build Lathe, or name it with --lathe"
    if done.returncode != 0:
        lines = [x for x in done.stderr.splitlines() if not x.startswith("Try ")]
        said = last_line("\n".join(lines)) or f"status {done.returncode}"
        return f"'lathe compile' failed: {said}"
    missing = [f for f in ("libmodel.so", "manifest.json") if not (library / f).exists()]
    return f"'lathe compile' wrote no {' and no '.join(missing)}" if missing else ""


def _measure_all(options: argparse.Namespace, report: Report, folder: Path,
                 progress: Progress) -> None:
    """Measures every model with every thread count; prints a table after each thread count."""
    import numpy as np

    from . import models
    from .measure import measure
    from .task import Task

    writers = _models(options, folder)
    prepared: dict[str, dict[str, str]] = {}
    cpus = sorted(os.sched_getaffinity(0))
    for threads in options.threads:
        report.runs[threads] = {}
        for number, (name, write) in enumerate(writers.items()):
            what = f"{name}, {threads} thread{'s' if threads != 1 else ''}"
            progress.say(what)
            place = folder / f"model{number}"
            model = place / "model.onnx"
            if name not in prepared:
                place.mkdir()
                write(place / "source.onnx")
                arrays = models.prepare(place / "source.onnx", model)
                prepared[name] = {}
                for i, (tensor, array) in enumerate(arrays.items()):
                    prepared[name][tensor] = str(place / f"input_{i}.npy")
                    np.save(prepared[name][tensor], array)
            tasks: dict[str, Task | str] = {}
            for peer in report.peers:
                task = Task(str(model), prepared[name], threads, cpus[:threads],
                            str(place / peer))
                if peer == "lathe":
                    progress.say(what, "lathe compiles")
                    task.library = str(place / "library")
                    reason = _compile(options.lathe, model, Path(task.library))
                    tasks[peer] = reason or task
                else:
                    tasks[peer] = task
            results = report.runs[threads][name] = {}
            measure(tasks, place, options.seconds, results,
                    lambda step, what=what: progress.say(what, step))
        progress.clear()


def main(arguments: list[str]) -> int:
    """Runs bench/peers; returns its exit status."""
    options = _arguments(arguments)
    try:
        import numpy  # noqa: F401
        import onnx  # noqa: F401
    except ModuleNotFoundError as error:
        print(f"bench/peers: no Python module '{error.name}'; run scripts/setup-bench",
              file=sys.stderr)
        return 2
    from . import machine
    from .chart import chart
    from .models import ModelError
    from .report import Report

    peers = [p for p in PEERS if p in options.peers or p == "lathe" and not options.no_lathe]
    state = {} if options.no_lathe else machine.lathe_state(options.lathe)
    report = Report(machine.describe(), state, options.seconds, peers)
    progress = Progress()
    status = 0
    try:
        with tempfile.TemporaryDirectory(prefix="peers-") as folder:
            _measure_all(options, report, Path(folder), progress)
    except KeyboardInterrupt:
        progress.clear()
        print("bench/peers: interrupted; this is what was measured so far", file=sys.stderr)
        status = 130
    except ModelError as error:
        progress.clear()
        print(f"bench/peers: {error}", file=sys.stderr)
        status = 2
    report.runs = {t: runs for t, m in report.runs.items()
                   if (runs := {name: r for name, r in m.items() if r})}
    if report.runs:
        print("\n".join(report.header()))
        for threads in report.runs:
            print("\n" + "\n".join(report.table(threads)))
        if options.json:
            options.json.write_text(json.dumps(report.as_json(), indent=1) + "\n")
        if options.svg:
            options.svg.write_text(chart(report))
    return status
