#!/usr/bin/env python3
"""Lets the program meet a CUDA driver that is missing, old or out of memory, and a device that is
missing or vanishes, and reads what it says. The driver is a stand-in (device/stand_in_cuda.c).

Usage: tests/driver_errors.py LATHE STAND_INS      a folder with whole/ and short/ libcuda.so.1
"""
import os
import re
import subprocess
import sys
from pathlib import Path

NETWORK = Path(__file__).resolve().parent.parent / "examples/tiny.graph"
AGAIN = "see whether nvidia-smi finds it, and start again"
NONE = "this computer has no machine for the target 'cuda': "

# What the driver is, how it fails, and what the program says; no failure where it says nothing.
CASES = [
    ("whole", "", None),
    ("whole", "old", "the CUDA driver is of version 11.4, too old for these kernels; "
                     "install a newer one"),
    ("short", "", NONE + "the CUDA driver is too old: it has no cuGraphInstantiateWithFlags; "
                         "install a newer one"),
    ("whole", "none", NONE + "CUDA finds no device on this computer"),
    ("whole", "memory:1000", r"CUDA: the device has no memory for \d+ more bytes"),
    ("whole", "gone:0", r"CUDA: opening the device: the device does not answer \(.*\); " + AGAIN),
    ("whole", "gone:12", r"CUDA: .*: the device does not answer \(.*error 999\); " + AGAIN),
    ("whole", "gone:30", r"CUDA: .*: the device does not answer \(.*error 999\); " + AGAIN),
]


def run(lathe, folder, mode):
    environment = os.environ | {"LD_LIBRARY_PATH": str(folder), "STAND_IN": mode,
                                "LATHE_TUNED": ""}
    command = [lathe, "run", NETWORK, "--input", "image=random:1", "--target", "cuda"]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)


def main(lathe, stand_ins):
    for library, mode, wanted in CASES:
        result = run(lathe, stand_ins / library, mode)
        said = result.stderr.strip()
        right = result.returncode == 0 if wanted is None else (
            result.returncode == 2 and re.search(wanted, said) and "\n" not in said)
        if not right:
            sys.exit(f"failed: {library} {mode}: status {result.returncode}, "
                     f"wanted '{wanted}':\n{said}")
    print(f"{len(CASES)} drivers and devices: each error is told")


main(sys.argv[1], Path(sys.argv[2]))
