#!/usr/bin/python3
"""Runs commands on a terminal: the line that shows progress is gone before anything else is printed.

Usage: tests/terminal.py LATHE
"""
import os
import pty
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def printed(command):
    """Runs a command on a terminal of its own; returns what it printed, and its status."""
    ours, its = pty.openpty()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=its, stderr=its,
                             env=os.environ | {"LATHE_TUNED": "", "NO_COLOR": "1"})
    os.close(its)
    parts = []
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        parts.append(part)
    os.close(ours)
    return b"".join(parts).decode(), child.wait()


def lines_of(text):
    """Returns the lines that stay on a terminal: what comes after a return is written over the line."""
    lines, line, column = [], [], 0
    for character in text:
        if character == "\n":
            lines.append("".join(line).rstrip())
            line, column = [], 0
        elif character == "\r":
            column = 0
        else:
            line[column:column + 1] = [character]
            column += 1
    return lines + ["".join(line).rstrip()]


def check(command, progress, first, status=0):
    """Progress is shown, and nothing of it stays; what stays begins with "first"."""
    text, ended = printed(command)
    assert ended == status, (ended, text)
    assert progress in text, f"no progress was shown: {text!r}"
    lines = lines_of(text)
    left = [line for line in lines if progress in line]
    assert not left, f"progress stays on the terminal: {left}"
    assert lines[0].startswith(first), lines
    assert lines[-1] == "", f"the last line does not end: {lines[-1]!r}"
    print(f"{command[1]}: {len(lines) - 1} lines, the first is {lines[0]!r}")


def main():
    lathe = str(Path(sys.argv[1]).resolve())
    assert lines_of("ab\rcd\r\nlong\r    \rx\n") == ["cd", "x", ""]  # what is checked with
    tiny, small = str(EXAMPLES / "tiny.graph"), str(EXAMPLES / "small.graph")
    scoring = ["--samples", "4", "--seeds", "2"]
    check([lathe, "run", tiny, "--input", "random:1"], "running [", "scores: ")
    check([lathe, "score", small, "--metric", "macs"] + scoring, "scoring [", f"{small}: ")
    check([lathe, "score", small, "--metric", "macs", "--json"] + scoring, "scoring [", "{")
    check([lathe, "gate", small, "body.2: group(2)", "--rule", "paper"] + scoring, "scoring [",
          "accepted")
    with tempfile.TemporaryDirectory() as folder:
        # The second line cannot be scored: a warning comes while there is progress.
        table = Path(folder) / "table.csv"
        table.write_text("name,top1,recipe\noriginal,90,\nbad,89,body.2: group(7)\n")
        check([lathe, "calibrate", small, "--table", str(table)] + scoring, "scoring [",
              "lathe: warning: bad is left out", 2)
        check([lathe, "optimize", small, "--constraint", "latency=100s", "--tune", "0", "--no-blocks",
               "--variants", "2", "--work-dir", folder + "/run"] + scoring, "variants looked at",
              "the original is within the limits")


main()
