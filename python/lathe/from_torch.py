"""PyTorch modules as networks."""
import inspect
import io
import re

from lathe import _cache
from lathe.network import Network
from lathe.onnx_names import renamed


def from_torch(module, example, name=None) -> Network:
    """Returns the network of a PyTorch module; its layers and weights keep the module's names.

    ``example`` is an input, or a tuple of them: the network is for inputs of its shape. The module
    is looked at as after ``eval()``; normalisations are not folded into convolutions. ``name`` is
    the class's unless told.
    """
    import torch
    inputs = tuple(example) if isinstance(example, (tuple, list)) else (example,)
    name = name or re.sub(r"\W", "_", type(module).__name__.lower())
    options = {"training": torch.onnx.TrainingMode.PRESERVE, "do_constant_folding": False,
               "input_names": _names(module, len(inputs)), "output_names": ["output"]}
    if "dynamo" in inspect.signature(torch.onnx.export).parameters:
        options["dynamo"] = False  # the other exporter folds normalisations
    file = io.BytesIO()
    was_training = module.training
    module.eval()
    try:
        torch.onnx.export(module, inputs, file, **options)
    finally:
        module.train(was_training)
    return Network(network=str(_cache.kept(renamed(file.getvalue(), name), f"{name}.onnx")))


def _names(module, count):
    """Returns what the module calls its inputs."""
    return list(inspect.signature(module.forward).parameters)[:count]
