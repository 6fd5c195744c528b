#!/usr/bin/python3
"""Checks that commands in documents exist, also those that lessons.sh does not run.

Usage: tests/commands.py LATHE
Wherever a document writes "lathe VERB --option", the verb must be one of the program and the option
one of its help. An option that stands alone must be one of some verb, or of a script. The examples
of quick verbs that need no file are run.
"""
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "HACKING.md", ROOT / "bench/README.md",
             *sorted((ROOT / "docs").glob("*.md"))]
OPTION = r"(?<![\w-])--[a-z][a-z_-]*"
# Options of other programs that documents call: ctest, googletest, dask.
OTHERS = {"--preset", "--gtest_filter", "--port", "--tls-ca-file"}
# Verbs whose examples are quick, and read nothing but what is installed.
QUICK = ["apply", "conformance", "emit", "explain", "help", "inspect", "list"]


def help_of(lathe, *words):
    result = subprocess.run([lathe, *words], capture_output=True, text=True)
    return result.stdout + result.stderr if result.returncode == 0 else ""


def commands(text):
    """Yields the commands of console blocks, of indented lines and of code in sentences."""
    text = text.replace("\\\n", " ")
    yield from re.findall(r"^(?:\$|    \$?) ?(lathe .*)$", text, re.M)
    yield from re.findall(r"`(lathe [^`]+)`", re.sub(r"(?<!\n)\n(?!\n)", " ", text))


def check_command(lathe, command, helps):
    command = re.split(r" \| | && |   ", command)[0]
    verb = command.split()[1]
    if verb.startswith("-") or not re.fullmatch(r"[a-z]+", verb):
        return
    if verb not in helps:
        helps[verb] = help_of(lathe, verb, "--help")
    if not helps[verb]:
        yield f"there is no verb {verb}: {command}"
        return
    for option in re.findall(OPTION, re.sub(r"'[^']*'", "", command)):
        if option != "--help" and not re.search(re.escape(option) + r"(?![\w-])", helps[verb]):
            yield f"{verb} has no option {option}: {command}"


def check_example(lathe, verb, text):
    """Runs the example that a verb's help ends with."""
    example = re.search(r"^example\n((?:  .*\n?)+)", text, re.M)
    if not example:
        yield f"{verb} has no example"
        return
    words = shlex.split(" ".join(example.group(1).split()))
    result = subprocess.run([lathe, *words[1:]], capture_output=True, text=True)
    if result.returncode != 0:
        yield f"the example of {verb} fails: {result.stderr.strip()}"


def main():
    lathe, helps, wrong = sys.argv[1], {}, 0
    verbs = re.findall(r"^  ([a-z]+) ", help_of(lathe, "--help"), re.M)
    assert len(verbs) > 10, f"the help lists the verbs: {verbs}"
    known = set(OTHERS)
    for verb in verbs:
        helps[verb] = help_of(lathe, verb, "--help")
        known |= set(re.findall(OPTION, helps[verb]))
    for verb in QUICK:
        for message in check_example(lathe, verb, helps[verb]):
            print(message)
            wrong += 1
    for script in [*(ROOT / "scripts").iterdir(), *(ROOT / "bench").iterdir(), *(ROOT / "tests").glob("*.sh")]:
        if script.is_file():
            known |= set(re.findall(OPTION, script.read_text(errors="replace")))
    for document in DOCUMENTS:
        text = document.read_text()
        messages = [message for command in commands(text)
                    for message in check_command(lathe, command, helps)]
        messages += [f"nothing has the option {option}"
                     for option in re.findall(OPTION, text) if option not in known]
        for message in sorted(set(messages)):
            print(f"{document.relative_to(ROOT)}: {message}")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
