#!/usr/bin/python3
"""Takes a bundle from its search to a trained network, as a user does.

Usage: tests/bundle.py LATHE OTHER_PYTHON
A small network is searched; its bundle is made again, byte for byte; all its files compute the same;
and what PyTorch makes of model.py is compiled with the schedules that were found. What users put
into folders or changed there stays, and an object of the cache that changed is not used. OTHER_PYTHON is
tried for PyTorch where this one has none; without it that part is left out, and it is said.
"""
import filecmp
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

NETWORK = Path(__file__).resolve().parent / "killed_network.graph"

EXPORT = """
import importlib.util, inspect, sys, torch
spec = importlib.util.spec_from_file_location("model", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
image = torch.zeros(2, 3, 32, 32)
# Newer ones have two exporters.
options = {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
torch.onnx.export(module.load(), (image,), sys.argv[2], **options)
"""


def run(*command, status=0, **environment):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            env=os.environ | {"LATHE_TUNED": ""} | environment)
    text = result.stdout + result.stderr
    assert result.returncode == status, f"{command}: status {result.returncode}\n{text}"
    return text


def files_of(folder):
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def check_replay(lathe, bundle, folder):
    text = run(lathe, "replay", bundle.parent / "winner.recipe", "-o", folder)  # of the search
    names = files_of(bundle)
    assert files_of(folder) == names and len(names) >= 10, names
    same, others, failed = filecmp.cmpfiles(bundle, folder, names, shallow=False)
    assert not others and not failed, (others, failed)
    assert "byte for byte" in text, text


def check_owned(lathe, bundle, search, folder):
    """What users put into folders, or changed there, is not lost."""
    own = folder / "own"
    (own / "library").mkdir(parents=True)
    names = ["model.onnx", "model.py", "library/notes.txt"]
    for name in names:
        (own / name).write_text("mine")
    text = run(lathe, "replay", bundle, "-o", own, status=2)
    assert "is not replaced" in text and "no bundle.json" in text, text
    assert files_of(own) == sorted(Path(name) for name in names), files_of(own)
    assert all((own / name).read_text() == "mine" for name in names)
    # Beside what Lathe wrote there is room for notes; trained weights are not replaced.
    weights, notes = bundle / "model.npz", bundle / "library" / "notes.txt"
    notes.write_text("mine")
    run(*search)
    assert notes.read_text() == "mine"
    notes.unlink()
    written = weights.read_bytes()
    weights.write_bytes(b"trained")
    for command in (search, [lathe, "replay", bundle, "-o", bundle]):
        text = run(*command, status=2)
        assert "is not replaced: 'model.npz' in it was changed" in text, text
        assert weights.read_bytes() == b"trained"
    weights.write_bytes(written)
    run(*search)


def check_cache(lathe, network, folder):
    """An object of the cache that changed is compiled anew, and kept."""
    cache = {"LATHE_CACHE": str(folder / "cache")}
    command = [lathe, "run", network, "--input", "random:1", "--json"]
    expected = run(*command, **cache)
    objects = sorted((folder / "cache").glob("*.o"))
    assert objects
    for path in objects:
        whole = path.read_bytes()
        for place in (0, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1:])
            assert run(*command, **cache) == expected, (path, place)
            assert path.read_bytes() == whole, f"{path} was not compiled anew"
    print(f"changed {3 * len(objects)} bytes of {len(objects)} objects in the cache")


def known_units(text):
    known, units = re.search(r"schedules of the recipe: (\d+) of (\d+) units", text).groups()
    return int(known), int(units)


def check_compiled(lathe, bundle, network, folder):
    text = run(lathe, "compile", bundle / "model.onnx", "--recipe", bundle, "-o", folder / "again")
    known, units = known_units(text)
    assert known == units > 0, text
    text = run(lathe, "compile", network, "--recipe", bundle, "-o", folder / "no", status=2)
    assert "--apply" in text, text
    run(lathe, "verify", folder / "again", "--onnx", bundle / "model.onnx")


def check_verified(lathe, bundle):
    text = run(lathe, "verify", bundle)
    assert re.search(r"nothing differs in [4-7] checks(; not checked: .*)?\n$", text), text
    assert ("skipped" in text) == ("not checked:" in text), text
    print(text, end="")
    library = bundle / "library"
    for name in ("model.h", "model.a"):
        written = (library / name).read_bytes()
        (library / name).write_bytes(written[:100] + b"!" + written[101:])
        text = run(lathe, "verify", bundle, status=1)
        assert f"library/{name} is not what was written" in text, text
        text = run(lathe, "verify", library, status=1)
        assert f" {name} is not what was written" in text, text
        assert "1 of 2 checks failed: files; not checked: outputs" in text, text
        (library / name).write_bytes(written)


def check_trained(lathe, bundle, folder, pythons):
    for python in pythons:
        command = [python, "-c", EXPORT, str(bundle / "model.py"), str(folder / "trained.onnx")]
        try:
            result = subprocess.run(command, capture_output=True, text=True)
        except OSError:
            continue
        if result.returncode == 0:
            break
    else:
        print("left out: no Python here exports model.py (scripts/setup --all)")
        return
    text = run(lathe, "compile", folder / "trained.onnx", "--recipe", bundle, "-o", folder / "lib")
    known, units = known_units(text)
    # PyTorch writes a mean where there was a pooling.
    assert units - known <= 1, text
    print(f"trained by PyTorch: schedules of {known} of {units} units")


def check_blocks(result):
    """Checks that the search was compared with the list of blocks, chosen from in both ways."""
    blocks = result["blocks"]
    # 32 channels: as it was; 4 times 3 of groups; bottlenecks with 4 and 3; depthwise.
    wanted = 1 + 4 * 3 + 4 + 3 + 1
    if blocks["most"] != wanted or abs(blocks["log_networks"] - 2 * math.log10(wanted)) > 0.01:
        sys.exit(f"the list has {blocks['most']} blocks, 10^{blocks['log_networks']} networks")
    ways = {way["way"]: way for way in blocks["ways"]}
    if list(ways) != ["sampled", "assigned"]:
        sys.exit(f"the list of blocks was chosen from in these ways: {list(ways)}")
    for way in ways.values():
        measured = way["ms"] is not None
        if way["tried"] < 1 or (measured and not (way["tuned"] and 0 < way["ms"])):
            sys.exit(f"the list of blocks was not tried, or not tuned: {way}")


def main():
    lathe, pythons = Path(sys.argv[1]).resolve(), [sys.executable, sys.argv[2]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        network, bundle = folder / "network.onnx", folder / "run" / "bundle"
        run(lathe, "export", NETWORK, "-o", network)
        # With a 1x1 convolution behind them, layers are faster, and score more than before.
        search = [lathe, "optimize", network, "--families", "expanded", "--variants", 4,
                  "--exact", 1, "--samples", 2, "--seeds", 1, "--rule", "paper", "--tune", 2,
                  "--work-dir", folder / "run"]
        run(*search)
        check_blocks(json.loads((folder / "run" / "result.json").read_text()))
        check_replay(lathe, bundle, folder / "replayed")
        check_owned(lathe, bundle, search, folder)
        check_cache(lathe, network, folder)
        check_compiled(lathe, bundle, network, folder)
        check_trained(lathe, bundle, folder, pythons)
        check_verified(lathe, bundle)


main()
