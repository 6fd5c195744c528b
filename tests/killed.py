#!/usr/bin/python3
"""Kills searches, and breaks them in other ways.

Usage: tests/killed.py LATHE kills|drafts|faults|disks|interrupts [SEED]
kills   A search is killed at 20 random moments and goes on each time: it loses no trial, and comes to
        the same network as one that nobody disturbed, with the same times of layers.
drafts  A program that is killed while it writes leaves a draft; the next one clears it away.
faults  A candidate that crashes, hangs or is wrong is a failed trial with a reason.
disks   A folder that cannot be written to and a full disk are errors that say so; what was in the
        journal stays readable.
interrupts  Ctrl-C ends a search with status 130, and the same command goes on; --json prints JSON alone,
        whether it ends or is stopped; a search that cannot begin leaves nothing behind.
Exit status 77 (skipped) where the machine does not allow a test.
"""
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SKIPPED = 77
KILLS = 20
NETWORK = Path(__file__).resolve().parent / "killed_network.graph"


class Search:
    """The command of a search in a folder."""

    def __init__(self, lathe, network, folder):
        self.lathe, self.folder = lathe, Path(folder)
        self.command = [lathe, "optimize", str(network), "--families", "expanded",
                        "--variants", "4", "--exact", "1", "--samples", "2", "--seeds", "1",
                        "--rule", "paper", "--tune", "0", "--no-blocks",
                        "--work-dir", str(folder)]

    def run(self, **environment):
        return subprocess.run(self.command, capture_output=True, text=True,
                              env=os.environ | {"LATHE_TUNED": ""} | environment)

    def run_and_kill(self, seconds):
        """Kills it after so many seconds; returns whether it was still running."""
        child = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                 text=True, env=os.environ | {"LATHE_TUNED": ""})
        time.sleep(seconds)
        child.kill()
        _, errors = child.communicate()
        if child.returncode not in (0, -9):
            sys.exit(f"a search that goes on failed: {errors}")
        return child.returncode == -9

    def trials(self):
        """Returns what the journal holds, by subject and recipe."""
        if not (self.folder / "journal.db").exists():
            return {}
        result = subprocess.run([self.lathe, "trials", str(self.folder), "--json"],
                                capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"the journal cannot be read: {result.stderr}")
        trials = json.loads(result.stdout)["trials"]
        return {(trial["subject"], trial["recipe"]): trial for trial in trials}

    def winner(self):
        return json.loads((self.folder / "bundle" / "winner.recipe").read_text())["layers"]


def lost(before, after):
    """Returns the trials that are gone or changed. One that was only judged may be measured later."""
    return [key for key, trial in before.items()
            if key not in after or (trial["outcome"] != "judged" and after[key] != trial)]


def forget_networks(folder):
    """Leaves the times of layers in a journal, and no network."""
    database = sqlite3.connect(folder / "journal.db")
    database.execute("DELETE FROM trials WHERE subject = 'network'")
    database.commit()
    database.close()
    shutil.rmtree(folder / "bundle")


def test_kills(lathe, network, folder, seed):
    draw = random.Random(seed)
    search = Search(lathe, network, folder / "killed")
    known, killed, longest = {}, 0, 4.0
    for _ in range(KILLS):
        killed += search.run_and_kill(longest * draw.random())
        now = search.trials()
        missing = lost(known, now)
        assert not missing, f"lost when it was killed: {missing}"
        if len(now) == len(known):
            longest *= 1.1  # a slow machine: trials must come between the kills
        known = now
    assert known, "no trial came between the kills"
    end = search.run()
    assert end.returncode == 0, end.stdout + end.stderr
    assert not lost(known, search.trials()), "lost at the end"
    left = [str(path) for path in folder.rglob("*.tmp")]
    assert not left, f"drafts were left: {left}"
    shutil.copytree(search.folder, folder / "undisturbed")
    undisturbed = Search(lathe, network, folder / "undisturbed")
    forget_networks(undisturbed.folder)
    end = undisturbed.run()
    assert end.returncode == 0, end.stdout + end.stderr
    assert undisturbed.winner() == search.winner(), (undisturbed.winner(), search.winner())
    assert search.winner(), "the network was changed"
    print(f"killed {killed} times; {len(known)} trials were there at the last, none was lost")


def test_drafts(lathe, network, folder, seed):
    """Kills a program while it writes: the next one clears away what was left."""
    draw = random.Random(seed)
    out = folder / "out"
    command = [lathe, "compile", str(network), "-o", str(out)]
    environment = os.environ | {"LATHE_TUNED": "", "LATHE_CACHE": str(folder / "cache")}
    begin = time.monotonic()
    subprocess.run(command, check=True, capture_output=True, env=environment)
    seconds, left, kills = time.monotonic() - begin, 0, 0
    for _ in range(200):
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
        time.sleep(seconds * draw.random())
        child.kill()
        _, errors = child.communicate()
        assert child.returncode in (0, -9), errors
        kills += child.returncode == -9
        left += bool(list(folder.glob("**/*.tmp")))
        if left >= 3:
            break
    subprocess.run(command, check=True, capture_output=True, env=environment)
    drafts = [str(path) for path in folder.glob("**/*.tmp")]
    assert not drafts, f"drafts were left: {drafts}"
    assert left, "no kill came while it wrote"
    subprocess.run([lathe, "verify", str(out), "--onnx", str(network)], check=True, capture_output=True)
    print(f"killed {kills} times, {left} drafts were left, and cleared away")


def test_faults(lathe, network, folder, _):
    for fault, reason in (("crash", "crashed"), ("hang", "took"), ("wrong", "wrong")):
        search = Search(lathe, network, folder / fault)
        end = search.run(LATHE_FAULT=f"{fault}:2")
        failed = [trial["reason"] for trial in search.trials().values()
                  if trial["outcome"] == "failed"]
        assert end.returncode == 0, end.stdout + end.stderr
        assert len(failed) == 1 and reason in failed[0], (fault, failed)
        assert search.winner(), "the others are still there"
        print(f"{fault}: {failed[0]}")


def test_disks(lathe, network, folder, _):
    """A tiny disk, in name spaces of its own, is full before the search ends."""
    closed = Search(lathe, network, "/proc/nowhere").run()
    assert closed.returncode == 2 and "/proc/nowhere" in closed.stderr, closed.stderr
    print(closed.stderr.strip())
    (folder / "disk").mkdir()
    search = Search(lathe, network, folder / "disk" / "run")
    script = f"""
mount -t tmpfs -o size=400k tmpfs {folder}/disk || exit {SKIPPED}
{' '.join(f"'{word}'" for word in search.command)}
echo "status $?"
mount -o remount,size=8m {folder}/disk
'{lathe}' trials {folder}/disk/run --csv || echo unreadable"""
    result = subprocess.run(["unshare", "-m", "bash", "-c", script], capture_output=True, text=True,
                            env=os.environ | {"LATHE_TUNED": ""})
    if result.returncode == SKIPPED or "unshare" in result.stderr:
        print("skipped: no disk can be mounted here:", result.stderr.strip())
        sys.exit(SKIPPED)
    errors = result.stderr.strip().splitlines()
    assert "status 2" in result.stdout and "unreadable" not in result.stdout, result
    assert "full" in errors[-1] or "space" in errors[-1], errors
    count = result.stdout.count(",measured,")
    assert count > 0, result.stdout
    print(f"{errors[-1]}; {count} trials can be read")
    test_read_only(lathe, network, folder)


def test_read_only(lathe, network, folder):
    """A disk that became read-only after a search: it cannot go on, but can be read."""
    (folder / "closed").mkdir()
    search = Search(lathe, network, folder / "closed" / "run")
    words = " ".join(f"'{word}'" for word in search.command)
    script = f"""
mount -t tmpfs -o size=64m tmpfs {folder}/closed
{words} > /dev/null || echo "search failed"
mount -o remount,ro {folder}/closed
{words} --trials 2000
echo "status $?"
'{lathe}' trials {folder}/closed/run --csv || echo unreadable"""
    result = subprocess.run(["unshare", "-m", "bash", "-c", script], capture_output=True, text=True,
                            env=os.environ | {"LATHE_TUNED": ""})
    assert "status 2" in result.stdout and "failed" not in result.stdout, result
    assert "unreadable" not in result.stdout and result.stdout.count(",measured,") > 0, result
    errors = result.stderr.strip().splitlines()
    assert "Read-only" in errors[-1] and str(folder / "closed" / "run") in errors[-1], errors
    print(errors[-1])


def events_of(output):
    """Reads what --json printed: every line is an object."""
    return [json.loads(line) for line in output.splitlines()]


def test_interrupts(lathe, network, folder, _):
    search = Search(lathe, network, folder / "interrupted")
    command = search.command + ["--json"]
    environment = os.environ | {"LATHE_TUNED": ""}
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env=environment)
    first = child.stdout.readline()
    child.send_signal(signal.SIGINT)
    output, errors = child.communicate()
    events = events_of(first + output)
    assert child.returncode == 130, (child.returncode, errors)
    assert events[0]["event"] == "progress" and events[-1]["event"] == "stopped", events
    assert (search.folder / "journal.db").exists() and not (search.folder / "bundle").exists()
    end = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert end.returncode == 0, end.stderr
    events = events_of(end.stdout)
    assert events[-1]["event"] == "end" and events[-1]["found"], events[-1]
    assert any(event["event"] == "trial" for event in events), events
    assert events[-1]["winner"]["recipe"]["layers"], "what was found has a layer that changed"
    test_refusals(lathe, network, folder)
    print(f"stopped with status 130, then went on; {len(events)} events")


def test_refusals(lathe, network, folder):
    """What is wrong is said before the search begins, and nothing is left behind."""
    for option, value, part in (("--data", "npy:none.npy,none.npy", "none.npy"),
                                ("--max-params", "10", "no network here has so few weights"),
                                ("--max-macs", "10", "no network here has so few MACs"),
                                ("--constraint", "latency=0.001us", "what cannot change takes"),
                                ("--budget", "soon", "write a time")):
        search = Search(lathe, network, folder / "refused" / "run")
        search.command += [option, value]
        end = search.run()
        assert end.returncode == 2 and part in end.stderr, (option, end.stderr)
        assert not (folder / "refused").exists(), option


def main():
    lathe, what = str(Path(sys.argv[1]).resolve()), sys.argv[2]
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
    print(f"seed {seed}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        network = folder / "network.onnx"
        subprocess.run([lathe, "export", str(NETWORK), "-o", str(network)], check=True)
        test = {"kills": test_kills, "drafts": test_drafts, "faults": test_faults, "disks": test_disks,
                "interrupts": test_interrupts}[what]
        test(lathe, network, folder, seed)


main()
