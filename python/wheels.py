#!/usr/bin/env python3
"""Builds the wheels: lathe, with the compiler inside, and lathe-runtime, which is Python alone.

Usage: python/wheels.py BUILD OUTPUT [--repair AUDITWHEEL] [--arch ARCH]

BUILD is a build folder that holds liblathe.so, OUTPUT gets the wheels. AUDITWHEEL is the program of
that name: it puts the shared libraries that liblathe.so needs into the wheel, under names of their
own, and tags it with the oldest system that it runs on. Without it, the wheel is for this computer.
ARCH is the architecture of BUILD, if it is not this one's (cmake/cross.cmake): aarch64 or x86_64.

This file is also what pip builds with (PEP 517): it builds liblathe.so first. The same build folder
gives the same wheels, byte for byte.
"""
import base64
import hashlib
import os
import pathlib
import platform
import re
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
MOST = 80e6  # bytes of a wheel
HERE = platform.machine()


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


def stripped(path, arch):
    """Returns a file of machine code without what only debuggers need."""
    strip = "strip" if arch == HERE else f"{arch}-linux-gnu-strip"
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run([strip, "--strip-unneeded", "-o", file.name, path], check=True)
        return pathlib.Path(file.name).read_bytes()


def write_lathe(build, output, arch=HERE):
    """Writes the wheel of Lathe; returns its path."""
    about = project()
    wheel = Wheel(output, "lathe", about, f"py3-none-linux_{arch}")
    wheel.add_package("lathe")
    wheel.add("lathe_program.py", (PYTHON / "lathe_program.py").read_bytes())
    wheel.add("lathe/_train.py", (ROOT / "src/bundle/train.py").read_bytes())
    wheel.add("lathe/native/liblathe.so", stripped(build / "liblathe.so", arch))
    wheel.add("lathe/native/lathe", stripped(build / "wheel/lathe", arch),
              PROGRAM)
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


def repaired(auditwheel, path, output, arch):
    """Puts the shared libraries that are needed into a wheel; returns the path of what it made."""
    words = [auditwheel, "repair", "--wheel-dir", output, path]
    if arch != HERE:
        root = ROOT / f"build/sysroot-{arch}"
        folders = [root / f"usr/lib/{arch}-linux-gnu", root / f"lib/{arch}-linux-gnu"]
        words += ["--ldpaths", ":".join(map(str, folders))]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "315532800"}  # 1980, as for all files
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"wheels.py: auditwheel failed:\n{done.stdout}{done.stderr}")
    path.unlink()
    found = next(pathlib.Path(output).glob(f"lathe-*manylinux*_{arch}.whl"))
    check(auditwheel, found, arch)
    return found


def check(auditwheel, wheel, arch):
    """Fails if a wheel is not what its name says: for which systems it is, and that nothing of it
    is looked for elsewhere; or if it is too large."""
    done = subprocess.run([auditwheel, "show", wheel], capture_output=True, text=True, check=True)
    tags = re.findall(r"manylinux_\d+_\d+_\w+", wheel.name)
    said = " ".join(done.stdout.split())
    if not tags or f'following platform tag: "{tags[0]}"' not in said:
        sys.exit(f"wheels.py: {wheel.name} is tagged {tags}, but auditwheel says:\n{done.stdout}")
    if wheel.stat().st_size > MOST:
        sys.exit(f"wheels.py: {wheel.name} has {wheel.stat().st_size / 1e6:.1f} MB; "
                 f"{MOST / 1e6:.0f} are allowed")
    libc = re.search(r"manylinux_(\d+)_(\d+)", tags[0])
    print(f"{arch}: for glibc {libc[1]}.{libc[2]} and later")


# What pip calls.

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds liblathe.so and its wheel, for this computer; returns the wheel's name."""
    subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, check=True)
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", "lathe_wheel"], cwd=ROOT,
                   check=True)
    return write_lathe(ROOT / "build/release", wheel_directory).name


def build_sdist(sdist_directory, config_settings=None):
    """Refuses: wheels are built from the repository."""
    raise SystemExit("lathe: wheels are built from the repository: make wheel")


def main(words):
    options = {"--repair": None, "--arch": HERE}
    paths = []
    while words:
        word = words.pop(0)
        if word in options and words:
            options[word] = words.pop(0)
        else:
            paths.append(pathlib.Path(word))
    if len(paths) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    (build, output), arch = paths, options["--arch"]
    output.mkdir(parents=True, exist_ok=True)
    for old in [*output.glob(f"lathe-*_{arch}.whl"), *output.glob("lathe_runtime-*.whl")]:
        old.unlink()
    path = write_lathe(build, output, arch)
    if options["--repair"]:
        path = repaired(options["--repair"], path, output, arch)
    for each in (path, write_runtime(output)):
        print(f"{each}: {each.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
