#!/usr/bin/env python3
"""Checks kernels on a device "elsewhere", which is this machine's OpenCL device: tests write cases,
scripts/check-device runs them. What is wrong on purpose must be found, and told with its story.

Usage: tests/device_cases.py BUILD
Exit status 77 (skipped) where there is no C compiler or no OpenCL device.
"""
import gzip
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent / "scripts/check-device"
TESTS = "OpenCl.KernelsComputeWhatTheInterpreterDoes1"
NO_DEVICE = 77


class Checked:
    """A folder of cases, and how they are run."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = os.environ | {"LATHE_CASES": "1", "LATHE_SEED": "20211",
                                         "POCL_CACHE_DIR": str(folder / "pocl")}

    def call(self, *arguments):
        return subprocess.run([SCRIPT, *map(str, arguments)], capture_output=True, text=True,
                              env=self.environment)

    def run(self, name, content=None):
        """Runs a folder of cases; made of one file, if there is a content."""
        if content is not None:
            (self.folder / name).mkdir()
            (self.folder / name / "changed.cases").write_bytes(content)
        return self.call("run", self.folder / name)


def expect(result, status, *texts):
    said = result.stdout + result.stderr
    missing = [text for text in texts if not re.search(text, said)]
    if result.returncode != status or missing:
        sys.exit(f"failed: status {result.returncode}, wanted {status}; missing {missing}\n{said}")


def with_wrong_value(content):
    """Changes the first value of the first output that is compared."""
    for found in re.finditer(rb"\n(reals|integers) \d+ (\d+) \d+\n", content):
        count = int(found[2])
        value = found.end() + 4 * count
        allowed, = struct.unpack_from("<d", content, value + 8 * count)
        if allowed != float("inf"):
            wrong = struct.pack("<d", 12345.5)
            return content[:value] + wrong + content[value + 8:]
    sys.exit("failed: no case is compared")


def with_wrong_place(content):
    """Lets the first kernel write far away."""
    return re.sub(rb"(\nlaunch \S+(?: \d+){7}.*) 256\n", rb"\1 99000000000000\n", content, count=1)


def main(build):
    if not shutil.which("cc"):
        print("skipped: there is no C compiler, which scripts/check-device needs")
        sys.exit(NO_DEVICE)
    with tempfile.TemporaryDirectory() as folder:
        checked = Checked(Path(folder))
        written = checked.call("write", checked.folder / "cases", "opencl", build, TESTS)
        expect(written, 0, r"25 cases for opencl in 1 files, \d+ bytes")
        result = checked.run("cases")
        if result.returncode == NO_DEVICE:
            print("skipped: there is no OpenCL device (install PoCL):", result.stdout.strip())
            sys.exit(NO_DEVICE)
        expect(result, 0, r"device \S+", r"1 files, 25 cases, \d+ kernels: 0 failed, 0 lost")
        file, = (checked.folder / "cases").iterdir()
        content = gzip.decompress(file.read_bytes())
        expect(checked.run("value", with_wrong_value(content)), 1, "25 cases", "1 failed, 0 lost",
               r"FAILED changed.cases, case \d+: .* elements are wrong; .* must be ",
               r"LATHE_SEED=20211 LATHE_CASE=0, nest \d+", "recipe: ")
        expect(checked.run("place", with_wrong_place(content)), 1, "25 cases", "1 failed, 0 lost",
               "FAILED changed.cases, case 0: .*it ended the process .*, in kernel 0", "recipe: ")
        expect(checked.run("short", content[:len(content) // 2]), 1, "1 lost", "damaged at byte")
        expect(checked.run("other", b"lathe jobs 1\n"), 1, "no file of cases of this version")
    print("cases for a device elsewhere hold, and what is wrong in them is found")


main(Path(sys.argv[1]).resolve())
