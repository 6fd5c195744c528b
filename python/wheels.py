#!/usr/bin/env python3
"""Builds the wheels: lathe, with the compiler inside, and lathe-runtime, which is Python alone.

Usage: python/wheels.py BUILD OUTPUT [--repair AUDITWHEEL]

BUILD is a build folder that holds liblathe.so, OUTPUT gets the wheels. AUDITWHEEL is the program of
that name: it puts the shared libraries that liblathe.so needs into the wheel, under names of their
own, and tags it with the oldest system that it runs on. Without it, the wheel is for this computer.

This file is also what pip builds with (PEP 517): it builds liblathe.so first. The same build folder
gives the same wheels, byte for byte.
"""
import base64
import hashlib
import pathlib
import platform
import stat
import subprocess
import sys
import tempfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON = ROOT / "python"
PROGRAM = stat.S_IFREG | 0o755
FILE = stat.S_IFREG | 0o644


class Wheel:
    """A wheel that is being written."""

    def __init__(self, folder, name, about, tag):
        file_name = name.replace("-", "_")
        self._info = f"{file_name}-{about['version']}.dist-info"
        self._tag, self._rows = tag, []
        self.path = pathlib.Path(folder) / f"{file_name}-{about['version']}-{tag}.whl"
        self._zip = zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED, compresslevel=9)

    def add(self, name, content, mode=FILE):
        """Adds a file. Its time is always the same."""
        info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        info.external_attr, info.compress_type = mode << 16, zipfile.ZIP_DEFLATED
        self._zip.writestr(info, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self._rows.append(f"{name},sha256={digest},{len(content)}\n")

    def add_package(self, package):
        """Adds the files of a folder of python/."""
        for path in sorted((PYTHON / package).rglob("*")):
            if path.suffix == ".py" or path.name == "py.typed":
                self.add(str(path.relative_to(PYTHON)), path.read_bytes())

    def end(self, metadata, scripts=()):
        """Writes what the wheel says of itself."""
        pure = "true" if self._tag.endswith("none-any") else "false"
        self.add(f"{self._info}/METADATA", metadata.encode())
        self.add(f"{self._info}/LICENSE", (ROOT / "LICENSE").read_bytes())
        self.add(f"{self._info}/WHEEL", (f"Wheel-Version: 1.0\nGenerator: lathe\n"
                                         f"Root-Is-Purelib: {pure}\nTag: {self._tag}\n").encode())
        if scripts:
            lines = [f"{name} = {place}\n" for name, place in scripts.items()]
            self.add(f"{self._info}/entry_points.txt",
                     f"[console_scripts]\n{''.join(lines)}".encode())
        record = f"{self._info}/RECORD"
        self._rows.append(f"{record},,\n")
        self.add(record, "".join(self._rows).encode())
        self._zip.close()


def project():
    """Returns what pyproject.toml says of the package."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def metadata(name, about, dependencies, text):
    """Returns the file METADATA of a wheel."""
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {about['version']}",
             f"Summary: {about['description']}", f"Requires-Python: {about['requires-python']}"]
    lines += [f"Requires-Dist: {each}" for each in dependencies]
    extras = about["optional-dependencies"] if name == "lathe" else {}
    for extra, packages in extras.items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {each}; extra == "{extra}"' for each in packages]
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", text])


def stripped(path):
    """Returns a file of machine code without what only debuggers need."""
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run(["strip", "--strip-unneeded", "-o", file.name, path], check=True)
        return pathlib.Path(file.name).read_bytes()


def write_lathe(build, output, tag):
    """Writes the wheel of Lathe; returns its path."""
    about = project()
    wheel = Wheel(output, "lathe", about, tag)
    wheel.add_package("lathe")
    wheel.add("lathe_program.py", (PYTHON / "lathe_program.py").read_bytes())
    wheel.add("lathe/_train.py", (ROOT / "src/bundle/train.py").read_bytes())
    wheel.add("lathe/native/liblathe.so", stripped(build / "liblathe.so"))
    wheel.add("lathe/native/lathe", stripped(build / "wheel/lathe"), PROGRAM)
    wheel.add("lathe/native/lathe.h", (ROOT / "src/calls/lathe.h").read_bytes())
    wheel.end(metadata("lathe", about, about["dependencies"], (ROOT / "README.md").read_text()),
              about["scripts"])
    return wheel.path


def write_runtime(output):
    """Writes the wheel of what runs compiled folders; returns its path."""
    about = {**project(), "description": "Runs neural networks that Lathe compiled"}
    wheel = Wheel(output, "lathe-runtime", about, "py3-none-any")
    wheel.add_package("lathe_runtime")
    text = (PYTHON / "lathe_runtime/__init__.py").read_text().split('"""')[1]
    wheel.end(metadata("lathe-runtime", about, ["numpy"], text))
    return wheel.path


def repaired(auditwheel, path, output):
    """Puts the shared libraries that are needed into a wheel; returns the path of what it made."""
    subprocess.run([auditwheel, "repair", "--wheel-dir", output, path], check=True,
                   capture_output=True, text=True)
    path.unlink()
    return next(pathlib.Path(output).glob("lathe-*manylinux*.whl"))


def local_tag():
    """Returns the tag of a wheel for this computer."""
    return f"py3-none-linux_{platform.machine()}"


# What pip calls.

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds liblathe.so and its wheel, for this computer; returns the wheel's name."""
    subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, check=True)
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", "lathe_wheel"], cwd=ROOT,
                   check=True)
    return write_lathe(ROOT / "build/release", wheel_directory, local_tag()).name


def build_sdist(sdist_directory, config_settings=None):
    """Refuses: wheels are built from the repository."""
    raise SystemExit("lathe: wheels are built from the repository: make wheel")


def main(words):
    repair = words.index("--repair") if "--repair" in words else None
    auditwheel = words[repair + 1] if repair is not None else None
    if len(words) != (4 if auditwheel else 2):
        sys.exit(__doc__.split("\n\n")[1])
    build, output = map(pathlib.Path, words[:2])
    output.mkdir(parents=True, exist_ok=True)
    for old in output.glob("lathe*.whl"):
        old.unlink()
    path = write_lathe(build, output, local_tag())
    if auditwheel:
        path = repaired(auditwheel, path, output)
    for each in (path, write_runtime(output)):
        print(f"{each}: {each.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
