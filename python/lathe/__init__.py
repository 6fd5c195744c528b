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
from lathe.data import dataset
from lathe.error import Error
from lathe.finetune import finetune
from lathe.fit import Fitted, fit
from lathe.from_torch import from_torch
from lathe.importance import Importance, importance
from lathe.judging import gate, score
from lathe.nest import Nest, nest
from lathe.network import Network, load, model
from lathe.optimize import frontier, optimize
from lathe.profile import Profile, profile
from lathe.quantize import Quantized, quantize
from lathe.replay import Replayed, replay
from lathe.run import Run
from lathe.scores import Scores
from lathe.tune import Tuned, tune
from lathe.verdict import Verdict
from lathe.verify import Checks, verify
from lathe.winner import Winner

__all__ = ["Applied", "Checks", "Error", "Fitted", "Importance", "Nest", "Network", "Profile",
           "Quantized", "Replayed", "Run", "Scores", "Step", "Tuned", "Verdict", "Winner",
           "dataset", "finetune", "fit", "from_torch", "frontier", "gate", "importance", "load",
           "model", "nest", "optimize", "profile", "quantize", "replay", "score", "tune", "verify"]


def __getattr__(name):
    if name == "__version__":
        from lathe._library import version
        return version()
    raise AttributeError(f"module 'lathe' has no attribute '{name}'")
