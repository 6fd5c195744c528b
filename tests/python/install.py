#!/usr/bin/env python3
"""Builds the wheels and installs them into a fresh virtual environment, for the tests beside this.

Usage: tests/python/install.py BUILD FOLDER [PYTHON]

FOLDER gets "wheels" and "venv". PYTHON, this one unless told, makes the environment; it sees the
packages of PYTHON (NumPy, perhaps PyTorch), and nothing comes from the network. Skipped where
virtual environments or NumPy are missing.
"""
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*words):
    """Runs a program; fails with what it printed."""
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert result.returncode == 0, f"{words}: {result.returncode}\n{result.stdout}{result.stderr}"
    return result.stdout


def check_python(python):
    """Skips the test if this Python lacks something."""
    version = run(python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
    if tuple(map(int, version.split("."))) < (3, 10):
        print(f"skipped: '{python}' is Python {version}; 3.10 is needed")
        sys.exit(SKIPPED)
    for module, package in {"numpy": "python3-numpy", "ensurepip": "python3-venv"}.items():
        if subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode:
            print(f"skipped: '{python}' has no {module} ({package}; scripts/setup --all)")
            sys.exit(SKIPPED)


def main(build, folder, python="/usr/bin/python3"):
    check_python(python)
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    print(run(python, ROOT / "python/wheels.py", build, folder / "wheels"))
    run(python, "-m", "venv", "--system-site-packages", folder / "venv")
    wheels = sorted((folder / "wheels").glob("*.whl"))
    run(folder / "venv/bin/python", "-m", "pip", "install", "--quiet", "--no-index", *wheels)
    print(run(folder / "venv/bin/lathe", "--version"))


if __name__ == "__main__":
    main(*sys.argv[1:])
