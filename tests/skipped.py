#!/usr/bin/python3
"""Lists what the tests skipped, and why.

Usage: tests/skipped.py REPORT [--all]
REPORT is what "ctest --output-junit REPORT" wrote. Listed are tests that were skipped, and tests that
say on a line "left out: ..." that they did a part of their work. With --all the status is 1 if
anything is listed that "scripts/setup --all" would have made possible: everything but OPTIONAL.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

# What a machine may lack even after scripts/setup --all: by test, or by the reason that it gives.
OPTIONAL = [
    (r"^conformance\.newest$", r"", "the newest conformance suite is no part of the project"),
    (r"", r"/shared/data/", "real data are no part of the project"),
    (r"^(killed\.disks|machines\.errors)$", r"no disk can be mounted", "the machine does not let its users mount"),
]


def reason_in(output):
    """Returns what a skipped test says about itself."""
    said = re.search(r"^skipped: (.*)$", output, re.MULTILINE)
    if said:
        return said.group(1)
    # googletest prints "FILE:LINE: Skipped", the message, an empty line, "[  SKIPPED ] ...".
    said = re.search(r": Skipped\n(.*?)\n\s*\n?\[  SKIPPED \]", output, re.DOTALL)
    return " ".join(said.group(1).split()) if said else "no reason was given"


def found_in(report):
    """Yields what was skipped, whole or in part: the test and the reason."""
    for case in ElementTree.parse(report).iter("testcase"):
        output = case.findtext("system-out") or ""
        if case.find("skipped") is not None:
            yield case.get("name"), reason_in(output)
            continue
        for part in re.findall(r"^left out: (.*)$", output, re.MULTILINE):
            yield case.get("name"), part


def is_optional(name, reason):
    return any(re.search(test, name) and re.search(why, reason) for test, why, _ in OPTIONAL)


def main():
    found = sorted(found_in(sys.argv[1]))
    if not found:
        print("No test was skipped.")
        return 0
    print(f"Skipped, whole or in part: {len(found)}")
    for name, reason in found:
        print(f"  {name}: {reason}{' (optional)' if is_optional(name, reason) else ''}")
    missed = [name for name, reason in found if not is_optional(name, reason)]
    if "--all" in sys.argv[2:] and missed:
        print(f"All of them were to run, but {len(missed)} did not: {' '.join(missed)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
