"""The driver: prepares models, starts the measurements, prints what came of them."""
from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from . import choice, machine, networks, resume
from .chart import chart
from .networks import NETWORKS, ModelError, last_line
from .page import write_pages
from .report import ALONE, Origin, Report
from .results import OWN, Result, Results
from .task import Task
from .worker import PEERS

CALIBRATION = 32  # images that 8-bit integers are made for
ROOT = Path(__file__).resolve().parent.parent.parent
Writers = dict[str, Callable[[Path], None]]  # what writes each model to a file, by its name


def _list(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _numbers(text: str) -> list[int]:
    numbers = [int(word) for word in _list(text)]
    if not numbers or min(numbers) < 1:
        raise ValueError
    return list(dict.fromkeys(numbers))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bench/peers",
        description="Compares the speed of networks compiled by Lathe with other inference "
                    "libraries: same weights, inputs, threads and cores, batch 1, fp32.",
        epilog=f"Without NETWORK: {' '.join(NETWORKS)}. scripts/setup-bench installs the peers.")
    parser.add_argument("networks", nargs="*", metavar="NETWORK",
                        help="a built-in network of Lathe, one with its 3x3 convolutions in "
                             "groups (resnet34-cifar/g4), or an .onnx file")
    parser.add_argument("--lathe", type=Path, default=ROOT / "build" / "release" / "lathe",
                        metavar="PROGRAM", help="the compiler; build/release/lathe unless told")
    parser.add_argument("--no-lathe", action="store_true", help="compare the peers alone")
    parser.add_argument("--tune", type=float, default=0.0, metavar="SECONDS",
                        help="tune each network for so long, and measure that beside the "
                             "templates' own choice")
    parser.add_argument("--threads", type=_numbers, default=None, metavar="N,...",
                        help="thread counts; 1 and the number of cores, at most 2, unless told")
    parser.add_argument("--peers", type=_list, default=None, metavar="NAME,...",
                        help=f"of {','.join(choice.OTHERS)}; best: all but tvm, as unless told; "
                             "all: all")
    parser.add_argument("--seconds", type=float, default=5.0,
                        help="of runs for each peer and network; 5 unless told")
    parser.add_argument("--precision", choices=["f32", "f16", "bf16", "int8"], default="f32",
                        help="what is computed in: a peer without f16 or bf16 computes in f32; "
                             "int8 is one model of QuantizeLinear and DequantizeLinear for all, "
                             "and ncnn's own of the same floats (default: f32)")
    parser.add_argument("--json", type=Path, metavar="FILE",
                        help="write everything as JSON, after each network")
    parser.add_argument("--resume", action="store_true",
                        help="keep what the file of --json holds, and do not measure it again")
    parser.add_argument("--svg", type=Path, metavar="FILE",
                        help="write a chart of speed relative to ONNX Runtime")
    parser.add_argument("--page", type=Path, metavar="JSON",
                        help="measure nothing; write the figures of such a file into docs/ and "
                             "README.md")
    parser.add_argument("--layers", type=Path, metavar="CSV",
                        help="compare the convolutions of a table instead of networks; its "
                             "columns: name,N,C_in,H,W,C_out,K,stride,pad")
    parser.add_argument("--groups", type=_numbers, default=[1], metavar="G,...",
                        help="with --layers: in these numbers of groups, where they divide")
    parser.add_argument("--depthwise", metavar="NETWORK",
                        help="compare the distinct depthwise 3x3 layers of a network")
    return parser


def _arguments(arguments: list[str]) -> argparse.Namespace:
    parser = _parser()
    options = parser.parse_args(arguments)
    options.named = options.peers is not None
    options.peers = choice.expand(options.peers or ["best"])
    unknown = [name for name in options.peers if name not in choice.OTHERS]
    if unknown:
        parser.error(f"no peer '{unknown[0]}'; there are {', '.join(choice.OTHERS)}")
    if options.tune and (options.tune < 1 or options.no_lathe):
        parser.error("--tune needs a second at least, and Lathe")
    if not options.seconds > 0:
        parser.error("--seconds is not above 0")
    if options.resume and not options.json:
        parser.error("--resume needs --json")
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


def _writers(options: argparse.Namespace, folder: Path) -> Writers:
    if options.layers or options.depthwise:
        return _layer_writers(options, folder)
    writers: Writers = {}
    for network in options.networks or NETWORKS:
        if network.endswith(".onnx"):
            if not Path(network).exists():
                raise ModelError(f"{network}: no such file")
            name = Path(network).stem
            writers[name if name not in writers else network] = _linker(Path(network))
        else:
            writers[network] = lambda file, network=network: networks.export(
                options.lathe, network, file)
    return writers


def _layer_writers(options: argparse.Namespace, folder: Path) -> Writers:
    from . import models

    layers = []
    if options.layers:
        for groups in options.groups:
            layers += [x for layer in models.read_layers(options.layers)
                       if (x := layer.grouped(groups))]
    if options.depthwise:
        file = Path(options.depthwise)
        if file.suffix != ".onnx":
            file = folder / "depthwise.onnx"
            networks.export(options.lathe, options.depthwise, file)
        layers += models.depthwise_layers(file)
    return {layer.name: lambda file, layer=layer: models.write_layer(layer, file)
            for layer in layers}


def _linker(source: Path) -> Callable[[Path], None]:
    return lambda file: file.symlink_to(source.resolve())


def _call(lathe: Path, *arguments: str | Path) -> str:
    """Runs Lathe; returns what is wrong, or nothing."""
    try:
        done = subprocess.run([lathe, *arguments], capture_output=True, text=True,
                              errors="replace")
    except OSError as error:
        return f"'{lathe}' cannot be run: {error.strerror}; build Lathe, or name it with --lathe"
    if done.returncode == 0:
        return ""
    lines = [x for x in done.stderr.splitlines() if not x.startswith("Try ")]
    said = last_line("\n".join(lines)) or f"status {done.returncode}"
    return f"'lathe {arguments[0]}' failed: {said}"


def _compile(lathe: Path, model: Path, library: Path, threads: int, *more: str) -> str:
    """Runs 'lathe compile'; returns what is wrong, or nothing."""
    if (library / "libmodel.so").exists():
        return ""
    wrong = _call(lathe, "compile", model, "-o", f"{library}/", "--threads", str(threads), *more)
    if wrong:
        return wrong
    missing = [f for f in ("libmodel.so", "manifest.json") if not (library / f).exists()]
    return f"'lathe compile' wrote no {' and no '.join(missing)}" if missing else ""


class Comparison:
    """Measures models one after the other, into a report that is saved after each."""

    def __init__(self, options: argparse.Namespace, report: Report, peers: list[str],
                 missing: list[str]) -> None:
        self._options, self._report = options, report
        self._peers, self._missing = peers, missing
        self._progress = Progress()
        self._origin = Origin(report.machine["date"], " ".join(
            f"({text})" if key == "git" else text for key, text in report.lathe.items()
            if key != "program"), options.seconds)

    def clear(self) -> None:
        """Makes room for other output."""
        self._progress.clear()

    def _unfinished(self, model: str) -> list[int]:
        """The thread counts that a model is to be measured with."""
        if not self._options.resume:
            return self._options.threads
        return [threads for threads in self._options.threads if not resume.is_finished(
            self._report, threads, model, self._peers, self._options.seconds)]

    def _keep(self, threads: int, model: str, results: Results) -> None:
        results |= {peer: Result(peer, "not installed") for peer in self._missing}
        self._report.add(threads, model, results, self._origin)
        if self._options.json:
            resume.save(self._report, self._options.json)

    def measure_alone(self, names: list[str]) -> None:
        """Measures Lathe without any peer, which needs no Python library either."""
        for name in names:
            for threads in self._unfinished(name):
                self._progress.say(_title(name, threads))
                found = networks.measure_alone(self._options.lathe, name, threads,
                                               self._options.seconds)
                result = Result("lathe", runs=found["runs"], median=found["median_ms"] / 1e3,
                                p90=found["p90_ms"] / 1e3)
                self._keep(threads, name, {"lathe": result})

    def measure(self, writers: Writers, folder: Path) -> None:
        """Measures every model with every thread count."""
        for number, (name, write) in enumerate(writers.items()):
            unfinished = self._unfinished(name)
            if not unfinished:
                continue
            place = folder / f"model{number}"
            place.mkdir()
            self._progress.say(_title(name, unfinished[0]))
            inputs = _prepare(place, write)
            if self._options.precision == "int8":
                self._progress.say(name, "lathe quantises")
                _quantize(self._options.lathe, place, inputs)
            for threads in unfinished:
                if threads != unfinished[0]:
                    self._progress.say(_title(name, threads))
                self._keep(threads, name, self._compare(name, threads, place, inputs))
            shutil.rmtree(place)

    def _compare(self, name: str, threads: int, place: Path, inputs: dict[str, str]) -> Results:
        from .measure import measure

        what = _title(name, threads)
        cpus = sorted(os.sched_getaffinity(0))[:threads]
        model = place / "model.onnx"
        tasks: dict[str, Task | str] = {}
        for peer in self._peers:
            task = Task(str(model), inputs, threads, cpus, str(place / peer),
                        precision=self._options.precision)
            if task.precision == "int8":
                task.floats, task.images = str(place / "floats.onnx"), str(place / "images.npy")
            tasks[peer] = task
            if peer in OWN:
                task.library = str(place / f"{peer}{threads}")
                tasks[peer] = self._made(peer, what, task) or task
        return measure(tasks, place, self._options.seconds, self._options.precision,
                       lambda step: self._progress.say(what, step))


    def _made(self, peer: str, what: str, task: Task) -> str:
        """Compiles a library, of the tuned network if that is wanted; returns what is wrong."""
        lathe, tune = self._options.lathe, self._options.tune
        model, threads = Path(task.model), task.threads
        if peer == "lathe_tuned":
            self._progress.say(what, f"lathe tunes, for {tune:g} s")
            wrong = _call(lathe, "tune", model, "--budget", f"{tune:g}s", "--threads",
                          str(threads))
            if wrong:
                return wrong
        self._progress.say(what, "lathe compiles")
        # Without --tune Lathe is what its users have: tuned if they did so.
        more = ["--no-tuned"] if tune and peer == "lathe" else []
        if task.precision in ("f16", "bf16"):
            more += ["--precision", task.precision]
        return _compile(lathe, model, Path(task.library), threads, *more)


def _title(model: str, threads: int) -> str:
    return f"{model}, {threads} thread{'s' if threads != 1 else ''}"


def _prepare(place: Path, write: Callable[[Path], None]) -> dict[str, str]:
    """Writes a model, and random inputs for it; returns their files by the names of the inputs."""
    import numpy as np

    from . import models

    write(place / "source.onnx")
    inputs: dict[str, str] = {}
    arrays = models.prepare(place / "source.onnx", place / "model.onnx")
    for i, (tensor, array) in enumerate(arrays.items()):
        inputs[tensor] = str(place / f"input_{i}.npy")
        np.save(inputs[tensor], array)
    return inputs


def _quantize(lathe: Path, place: Path, inputs: dict[str, str]) -> None:
    """Puts a model of 8-bit integers in the place of one of floats, which stays beside it: every
    peer that can read it gets the same."""
    import numpy as np

    if len(inputs) != 1:
        raise ModelError("8-bit integers are for networks of one input")
    shape = np.load(next(iter(inputs.values()))).shape
    rng = np.random.default_rng(2)
    np.save(place / "images.npy", rng.standard_normal((CALIBRATION, *shape[1:]), np.float32))
    np.save(place / "labels.npy", np.zeros(CALIBRATION, np.int64))
    data = f"npy:{place / 'images.npy'},{place / 'labels.npy'}"
    wrong = _call(lathe, "quantize", place / "model.onnx", "--data", data, "--images",
                  str(CALIBRATION), "--limit", str(CALIBRATION), "-o", place / "int8.onnx")
    if wrong:
        raise ModelError(wrong)
    (place / "model.onnx").replace(place / "floats.onnx")
    (place / "int8.onnx").replace(place / "model.onnx")


def _say(text: str) -> None:
    print(f"bench/peers: {text}", file=sys.stderr)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _earlier(options: argparse.Namespace, report: Report) -> None:
    """Adopts what the file of --json holds, if that is wanted."""
    if not options.resume or not options.json.exists():
        return
    resume.adopt(report, resume.load(options.json, list(PEERS)))
    count = sum(map(len, report.runs.values()))
    _say(f"{options.json} holds {count} measurements, which are kept")


def _measure_all(options: argparse.Namespace, comparison: Comparison, alone: bool) -> int:
    """Measures; returns the exit status, also where that ends early."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        with tempfile.TemporaryDirectory(prefix="peers-") as folder:
            if alone:
                _say(ALONE)
                comparison.measure_alone(options.networks or NETWORKS)
            else:
                comparison.measure(_writers(options, Path(folder)), Path(folder))
    except KeyboardInterrupt:
        comparison.clear()
        _say("interrupted; this is what was finished")
        return 130
    except ModelError as error:
        comparison.clear()
        _say(str(error))
        return 2
    comparison.clear()
    return 0


def _print(report: Report) -> None:
    print("\n".join(report.header()))
    for threads in report.runs:
        print("\n" + "\n".join(report.table(threads)))


def main(arguments: list[str]) -> int:
    """Runs bench/peers; returns its exit status."""
    options = _arguments(arguments)
    if options.page:
        return write_pages(ROOT, options.page)
    there, missing = choice.share_out(options.peers, choice.is_installed)
    if not there and (options.named or options.no_lathe or options.layers or options.depthwise):
        _say(f"not installed: {', '.join(missing)}; run scripts/setup-bench")
        return 2
    needed = ["numpy", "onnx"] if there else []
    absent = [module for module in needed if not choice.is_installed(module)]
    if absent:
        _say(f"no Python module '{absent[0]}'; run scripts/setup-bench")
        return 2
    state = {} if options.no_lathe else machine.lathe_state(options.lathe)
    precision = "fp32" if options.precision == "f32" else options.precision
    report = Report(machine.describe(options.lathe), state, list(PEERS), precision=precision)
    try:
        _earlier(options, report)
    except resume.NotResumable as error:
        _say(f"{error}; name another file, or measure anew: without --resume, make bench AGAIN=1")
        return 2
    ours = [] if options.no_lathe else OWN if options.tune else OWN[:1]
    peers = [*ours, *there]
    comparison = Comparison(options, report, peers, missing)
    status = _measure_all(options, comparison, not there)
    if report.runs:
        _print(report)
        if options.json:
            resume.save(report, options.json)
        if options.svg and len(report.measured()) > 1:
            options.svg.write_text(chart(report))
    return status
