"""Lathe: a neural-network compiler that may change the network.

>>> import lathe
>>> net = lathe.model("resnet20-cifar")
>>> net.macs
50266752
>>> net.apply("layer2.?.conv?: group(4)").macs
40534656

``lathe.load`` reads ONNX files, ``lathe.from_torch`` takes a PyTorch module. A network runs when it
is called, ``lathe.optimize`` searches for a faster one, and ``lathe.nest`` is a single operator, to
try steps on. Errors are ``lathe.Error``, with Lathe's message.
"""
from lathe.applied import Applied, Step
from lathe.bench import Bench, Comparison, bench, machine
from lathe.calibrate import Calibration, CellCalibration, calibrate, calibrate_cells
from lathe.conformance import Conformance, conformance
from lathe.data import dataset
from lathe.emit import emit
from lathe.error import Error
from lathe.explain import Explained, explain
from lathe.finetune import finetune
from lathe.fit import Fitted, fit
from lathe.from_torch import from_torch
from lathe.importance import Importance, importance
from lathe.interpolate import Interpolated, interpolate
from lathe.judging import gate, score
from lathe.listing import list
from lathe.nest import Nest, nest
from lathe.network import Network, load, model
from lathe.optimize import frontier, optimize
from lathe.passes import Passes, passes
from lathe.profile import Profile, profile
from lathe.quantize import Quantized, quantize
from lathe.replay import Replayed, replay
from lathe.run import Run
from lathe.scores import Scores
from lathe.trials import Trials, trials
from lathe.tune import Tuned, tune
from lathe.verdict import Verdict
from lathe.verify import Checks, verify
from lathe.winner import Winner

# "list" is left out: "from lathe import *" would hide Python's own.
__all__ = ["Applied", "Bench", "Calibration", "CellCalibration", "Checks", "Comparison",
           "Conformance", "Error", "Explained", "Fitted", "Importance", "Interpolated", "Nest",
           "Network", "Passes", "Profile", "Quantized", "Replayed", "Run", "Scores", "Step",
           "Trials", "Tuned", "Verdict", "Winner", "bench", "calibrate", "calibrate_cells",
           "conformance", "dataset", "emit", "explain", "finetune", "fit", "from_torch",
           "frontier", "gate", "importance", "interpolate", "load", "machine", "model", "nest",
           "optimize", "passes", "profile", "quantize", "replay", "score", "trials", "tune",
           "verify"]


def __getattr__(name):
    if name == "__version__":
        from lathe._library import version
        return version()
    raise AttributeError(f"module 'lathe' has no attribute '{name}'")
