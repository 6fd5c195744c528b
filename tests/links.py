#!/usr/bin/python3
"""Checks that documents and comments name only files that exist.

Usage: tests/links.py
Links of the documents to files and to sections must lead somewhere, and so must paths in backticks.
Names like nest/step.h or step.cpp in comments of the source must be those of a file there.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "HACKING.md", ROOT / "bench/README.md",
             *sorted((ROOT / "docs").glob("*.md"))]
SOURCES = sorted(path for folder in ("src", "tests", "bench") for path in (ROOT / folder).rglob("*")
                 if path.suffix in (".h", ".cpp", ".c"))


def sections(document):
    """Returns the anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_document(document):
    text = document.read_text()
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        if not target.exists():
            yield f"the link {link} leads nowhere"
        elif anchor and anchor not in sections(target):
            yield f"the link {link} names no section"
    for path in re.findall(r"`((?:src|tests|docs|scripts|bench|cmake|examples)/[\w./-]+)`", text):
        if not re.search(r"X\.|NN", path) and not (ROOT / path).exists():
            yield f"{path} does not exist"


def check_source(path, names):
    for comment in re.findall(r"//.*", path.read_text(errors="replace")):
        # Not those that Lathe writes, or that are another library's.
        for name in re.findall(r"(?<![\w./<\"-])(?:\w+/)*\w+\.(?:h|cpp)\b", comment):
            if name not in names and not re.match(r"(X|model|example|jpeglib)\.", name):
                yield f"a comment names {name}, which does not exist"


def main():
    names = set()
    for path in SOURCES:
        parts = path.relative_to(ROOT).parts
        names |= {"/".join(parts[i:]) for i in range(len(parts))}
    wrong = 0
    for check, paths in ((check_document, DOCUMENTS), (lambda p: check_source(p, names), SOURCES)):
        for path in paths:
            for message in check(path):
                print(f"{path.relative_to(ROOT)}: {message}")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
