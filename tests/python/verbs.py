"""Every verb of "lathe help" has its function, or lesson 12 says why not; and functions say what
the verbs say.

The lesson's table has what is called otherwise than its verb, and what has none.
"""
import json
import pathlib
import re
import subprocess
import tempfile

import lathe
from lathe.workers.engine import program

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONV = "conv(co=64, ci=64, oh=56, ow=56, k=3, pad=1)"
STEPS = "split(ci, 8) -> interchange(ci.o, ci.i) -> group(8)"


def said(*words):
    """Returns what the command prints."""
    return subprocess.run([program(), *map(str, words)], capture_output=True, text=True,
                          check=True).stdout


def rows_of(lesson):
    """Returns what the lesson's table says of verbs: by verb, the text of its second column."""
    found = {}
    for verbs, text in re.findall(r"^\| (`.*?) \| (.*) \|$", lesson, re.MULTILINE):
        for verb in re.findall(r"`([a-z-]+)`", verbs):
            found[verb] = text
    return found


def check(verb, rows):
    """Does a verb have its function, or a reason?"""
    same = verb.replace("-", "_")
    is_function = callable(getattr(lathe, same, None))
    if verb not in rows:
        assert is_function, (
            f"'lathe {verb}' has no function lathe.{same}, and docs/12_python.md does not say why")
        return "function"
    assert not is_function, f"{verb}: there is lathe.{same}, and the lesson says otherwise"
    if rows[verb].startswith("none: "):
        assert len(rows[verb]) > len("none: "), f"{verb}: no reason"
        return "none"
    names = re.findall(r"`([A-Za-z_.]+)`", rows[verb])
    assert names, f"{verb}: the lesson names nothing"
    for name in names:
        thing = lathe
        for part in name.split("."):
            assert hasattr(thing, part), f"{verb}: there is no lathe.{name}"
            thing = getattr(thing, part)
    return "other"


def test_all():
    verbs = re.findall(r"^  ([a-z-]+) +\S", said("help"), re.MULTILINE)
    assert len(verbs) > 30 and "optimize" in verbs, verbs
    rows = rows_of((ROOT / "docs/12_python.md").read_text())
    unknown = set(rows) - set(verbs)
    assert not unknown, f"the lesson's table has verbs that do not exist: {unknown}"
    kinds = [check(verb, rows) for verb in verbs]
    print(f"{len(verbs)} verbs: {kinds.count('function')} functions of their names, "
          f"{kinds.count('other')} others, {kinds.count('none')} without, for a reason")


def test_same(folder):
    for stage in ("nest", "loops", "asm"):
        assert lathe.emit(CONV, STEPS, at=stage) == said("emit", CONV, STEPS, "--at", stage), stage
    network = ROOT / "tests/killed_network.graph"
    net = lathe.load(network)
    assert lathe.emit(net, after="FuseOps", diff=True) == said(
        "emit", network, "--at", "graph", "--after", "FuseOps", "--diff")
    layer = lathe.profile(net)._found["kinds"][0]["layers"][0]
    assert lathe.emit(net, layer=layer, at="asm") == said(
        "emit", f"{network}:{layer}", "--at", "asm")
    assert lathe.passes(net, budget=0, progress=False)._found["relevance"] == json.loads(
        said("passes", network, "--budget", "0", "--json"))["relevance"]
    for what in ("families", "judges", "metrics", "ops", "strategies", "targets", "transforms"):
        rows = lathe.list(what)
        if not isinstance(rows, list):  # a data frame, where pandas is
            rows = rows.to_dict("records")
        assert rows == json.loads(said("list", what, "--json")), what
    run = lathe.optimize(net, work_dir=folder, families=["expanded"], variants=3, exact=1,
                         samples=2, seeds=1, rule="paper", tune=0, blocks=False, progress=False)
    assert lathe.explain(run).details == json.loads(said("explain", folder, "--json"))
    named = run.result["layers"][0]["layer"]
    explained = lathe.explain(run, layer=named).details
    assert explained.pop("nest")["loops"]
    assert explained == json.loads(said("explain", folder, named, "--json"))
    tried = json.loads(said("trials", folder, "--json"))
    assert lathe.trials(run).about == tried["about"] and [*lathe.trials(run)] == tried["trials"]
    try:
        lathe.emit("conv(co=8, ci=8, oh=6, ow=6, k=3, pad=1)", "group(3)")
    except lathe.Error as error:
        assert "group(3)" in str(error), error
    else:
        raise AssertionError("a step that is refused is shown")


if __name__ == "__main__":
    test_all()
    with tempfile.TemporaryDirectory() as folder:
        test_same(pathlib.Path(folder) / "search")
