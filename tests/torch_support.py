"""What the tests with PyTorch share: where it is, and how an exported file is loaded."""
import importlib.util
import os
import sys

SKIPPED = 77

try:
    import numpy as np
    import torch
except ImportError as error:
    OTHER = sys.argv[2]
    if os.access(OTHER, os.X_OK) and not os.environ.get("LATHE_TORCH_TRIED"):
        os.environ["LATHE_TORCH_TRIED"] = "1"
        os.execv(OTHER, [OTHER, *sys.argv])
    print(f"skipped: {error.name} is not installed (scripts/setup --all)")
    sys.exit(SKIPPED)


def loaded(path):
    """Imports an exported file."""
    spec = importlib.util.spec_from_file_location("exported", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def networks_of(arguments, options):
    """Splits a command line into networks, each with the options that follow it."""
    networks = []
    for argument in arguments:
        if argument in options or (networks and networks[-1][-1] in options):
            networks[-1].append(argument)
        else:
            networks.append([argument])
    return networks
