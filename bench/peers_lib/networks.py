"""Networks by name: the built-in ones of Lathe, and those with every 3x3 convolution in groups.

"resnet34-cifar/g4" is resnet34-cifar with all its 3x3 convolutions in 4 groups, except those whose
channels cannot be shared out (the first, of 3 channels) and those that have groups already.
"""
from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

# What is compared unless told, in the order of the tables; TITLES has no more, so that a page that
# is written from measurements of others shows them by their names.
TITLES = {
    "resnet34": "ResNet-34",
    "resnet50": "ResNet-50",
    "densenet161": "DenseNet-161",
    "vgg16": "VGG-16",
    "mobilenet_v2": "MobileNetV2",
    "resnext29_2x64d": "ResNeXt-29",
    "resnet34-cifar": "ResNet-34-CIFAR",
    "densenet161-cifar": "DenseNet-161-CIFAR",
    "resnet34-cifar/g4": "ResNet-34-CIFAR, 4 groups",
    "resnet34-cifar/g8": "ResNet-34-CIFAR, 8 groups",
}
NETWORKS = list(TITLES)


class ModelError(Exception):
    """A model cannot be had; the text says why."""


def last_line(text: str) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def parse(name: str) -> tuple[str, int]:
    """The original network and its number of groups: ("resnet34-cifar", 4), or ("resnet34", 1)."""
    match = re.fullmatch(r"(.+)/g(\d+)", name)
    return (match[1], int(match[2])) if match and int(match[2]) > 1 else (name, 1)


def original(name: str) -> str | None:
    """The network that this one is in groups of; nothing if it is as it was published."""
    network, groups = parse(name)
    return network if groups > 1 else None


def in_order(names: list[str]) -> list[str]:
    """The names in the order of NETWORKS, others behind them."""
    return sorted(names, key=lambda n: NETWORKS.index(n) if n in TITLES else len(NETWORKS))


def layers_to_group(layers: list[dict[str, Any]], groups: int) -> list[str]:
    """The names of the 3x3 convolutions whose channels can be shared out, of 'lathe inspect'."""
    names = []
    for layer in layers:
        weights = [x["type"] for x in layer["inputs"] if x["kind"] == "weight"]
        shape = re.search(r"\[(\d+)x(\d+)x3x3\]", weights[0] if weights else "")
        if layer["op"] != "conv" or not shape or int(layer["attributes"].get("groups", 1)) > 1:
            continue
        if int(shape[1]) % groups == 0 and int(shape[2]) % groups == 0:
            names.append(layer["name"])
    return names


def _run(lathe: Path, network: str, *arguments: str | Path) -> str:
    """What a command of Lathe about a network prints."""
    try:
        done = subprocess.run([lathe, *arguments], capture_output=True, text=True,
                              errors="replace")
    except OSError as error:
        raise ModelError(
            f"'{network}' is a built-in network of Lathe, and '{lathe}' cannot be run "
            f"({error.strerror}); build Lathe, name it with --lathe, or give an .onnx file"
        ) from error
    if done.returncode != 0:
        reason = done.stderr.strip().splitlines()
        raise ModelError(reason[0] if reason else
                         f"'lathe {arguments[0]}' ended with {done.returncode}")
    return done.stdout


def arguments(lathe: Path, name: str) -> list[str]:
    """How Lathe's command line calls a network: its name, and recipes for what is in groups."""
    network, groups = parse(name)
    if groups == 1:
        return [network]
    inspected = json.loads(_run(lathe, network, "inspect", network, "--json"))
    layers = layers_to_group(inspected["layers"], groups)
    if not layers:
        raise ModelError(f"'{network}' has no 3x3 convolution to put in {groups} groups")
    return [network] + [x for layer in layers for x in ("--apply", f"{layer}: group({groups})")]


def export(lathe: Path, name: str, file: Path) -> None:
    """Writes a network as an ONNX file."""
    _run(lathe, name, "export", *arguments(lathe, name), "-o", file)


def measure_alone(lathe: Path, name: str, threads: int, seconds: float) -> dict[str, Any]:
    """What 'lathe bench' says of a network."""
    return json.loads(_run(lathe, name, "bench", *arguments(lathe, name), "--json", "--threads",
                           str(threads), "--seconds", f"{seconds:g}"))
