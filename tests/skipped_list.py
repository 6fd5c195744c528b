#!/usr/bin/python3
"""Tests tests/skipped.py: what it lists, and when it fails."""
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = Path(__file__).with_name("skipped.py")
SKIPPED = '<skipped message="SKIP_RETURN_CODE=77"/>'


def case(name, output, skipped=False):
    return f'<testcase name="{name}">{SKIPPED if skipped else ""}<system-out>{output}</system-out></testcase>'


def check(cases, status, parts, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(f"<testsuite>{''.join(cases)}</testsuite>")
        file.flush()
        result = subprocess.run([sys.executable, SCRIPT, file.name, *options], capture_output=True,
                                text=True)
    assert result.returncode == status, (result, status)
    for part in parts:
        assert part in result.stdout, (part, result.stdout)


PASSED = case("unit.A", "fine\nit says skipped: in the middle of a line")
TORCH = case("torch", "skipped: torch is not installed (scripts/setup --all)\n", True)
PART = case("bundle", "x\nleft out: no Python here exports model.py (scripts/setup --all)\n")
SUITE = case("conformance.newest", "skipped: ONNX's backend tests are not at x\n", True)
DATA = case("unit.Kinds.Tell", "a.cpp:121: Skipped\nthere is no /a/shared/data/networks.csv\n\n"
            "[  SKIPPED ] Kinds.Tell (0 ms)\n", True)
SILENT = case("unit.B", "[  SKIPPED ] B (0 ms)\n", True)

check([PASSED], 0, ["No test was skipped."], "--all")
check([PASSED, TORCH], 0, ["Skipped, whole or in part: 1", "  torch: torch is not installed"])
check([PASSED, TORCH], 1, ["1 did not: torch"], "--all")
check([PART], 1, ["  bundle: no Python here exports"], "--all")
check([SUITE, DATA], 0, ["conformance.newest: ONNX's", "(optional)", "there is no /a/shared"], "--all")
check([SUITE, SILENT], 1, ["unit.B: no reason was given", "1 did not: unit.B"], "--all")
print("passed")
