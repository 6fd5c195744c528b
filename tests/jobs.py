#!/usr/bin/env python3
"""Tunes a network for a device "elsewhere", which is this machine's OpenCL device: jobs are written,
measured by the program beside them, killed and begun again, until tuning ends; then it is used.

Usage: tests/jobs.py LATHE
Exit status 77 (skipped) where there is no OpenCL device.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

NETWORK = """graph tiny
input x: f32[1x8x8x8]
weight w: f32[8x8x3x3] = normal(0.1)
weight v: f32[8x8x1x1] = normal(0.1)
a = conv(x, w, pads=[1, 1, 1, 1]): f32[1x8x8x8]
b = conv(a, v): f32[1x8x8x8]
output b
"""


def fail(why, result):
    sys.exit(f"failed: {why}\n{result.stdout}{result.stderr}")


class Tuning:
    """The command, in a folder of its own."""

    def __init__(self, lathe, folder):
        self.lathe, self.jobs = lathe, folder / "jobs"
        self.network = folder / "tiny.graph"
        self.network.write_text(NETWORK)
        self.environment = os.environ | {"LATHE_TUNED": str(folder / "tuned.db"),
                                         "LATHE_CACHE": str(folder / "cache"),
                                         "POCL_CACHE_DIR": str(folder / "pocl")}

    def run(self, *arguments, wanted=0):
        result = subprocess.run([self.lathe, *map(str, arguments)], capture_output=True, text=True,
                                env=self.environment)
        if result.returncode != wanted:
            fail(f"{arguments} ended with {result.returncode}", result)
        return result

    def tune(self, *more):
        result = self.run("tune", self.network, "--target", "opencl", "--jobs", self.jobs,
                          "--budget", 8, "--json", *more)
        return json.loads(result.stdout)

    def measure(self, *limits):
        program = self.jobs / "measure-jobs"
        result = subprocess.run([program, self.jobs, *limits], capture_output=True, text=True,
                                env=self.environment)
        if result.returncode != 0:
            fail("measure-jobs", result)
        return result


def main(lathe):
    with tempfile.TemporaryDirectory() as folder:
        tuning = Tuning(lathe, Path(folder))
        here = subprocess.run([lathe, "bench", str(tuning.network), "--target", "opencl",
                               "--seconds", "0.01"], capture_output=True, text=True,
                              env=tuning.environment)
        if here.returncode != 0:
            print("skipped: there is no OpenCL device (install PoCL):", here.stderr.strip())
            sys.exit(77)
        first = tuning.tune()
        assert first["round"] == 1 and first["written"] and first["waiting"] > 0, first
        again = tuning.tune()
        assert again["waiting"] == first["waiting"] and not again["written"], again
        # It keeps what it has, and goes on.
        left = tuning.measure("0.01", "0.001")
        assert "are left" in left.stderr, left.stderr
        partly = tuning.tune()
        assert 0 < partly["waiting"] <= first["waiting"] and partly["round"] == 1, partly
        calls, result = 0, partly
        while "waiting" in result:
            calls += 1
            assert calls <= 4 and result["round"] <= result["most_rounds"] == 4, result
            tuning.measure("0.01")
            lines = (tuning.jobs / "results").read_text().splitlines()
            assert any(line.startswith("device ") for line in lines), lines
            assert all(" failed " not in line for line in lines), lines
            off = [float(line.split()[5]) for line in lines if line.startswith("u")]
            assert off and all(0 <= each < 1e-3 for each in off), lines
            result = tuning.tune()
        assert result["trials"] > 0 and result["failed"] == 0, result
        assert result["target"] == "opencl", result
        shown = json.loads(tuning.run("tune", tuning.network, "--target", "opencl", "--show",
                                      "--json").stdout)
        if result.get("kept"):
            used = [layer for layer in shown["layers"] if layer.get("kept")]
            assert used, shown
        tuning.run("compile", tuning.network, "--target", "opencl", "-o", Path(folder) / "out")
        tuning.run("bench", tuning.network, "--target", "opencl", "--seconds", "0.01")
        wrong = tuning.run("tune", tuning.network, "--jobs", tuning.jobs, wanted=2)
        assert "--jobs is for GPUs" in wrong.stderr, wrong.stderr


if __name__ == "__main__":
    main(sys.argv[1])
