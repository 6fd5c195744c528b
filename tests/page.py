#!/usr/bin/env python3
"""Opens the page of "lathe report" in a browser, as readers do.

Usage: tests/page.py LATHE [FOLDER]
Makes the folder of a search that nobody ran (one that found something, one that did not), writes
its page and looks at it in Chromium: narrow and wide, light and dark. Nothing may be said on the
console, every picture must be seen, text must stand out from the page, and the page must not scroll
sideways. With FOLDER, pictures of the pages are left there. Exit status 77 (skipped) where Chromium
is not installed.
"""
import html
import json
import math
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

SIZES = [(360, 800), (1280, 900)]
SCHEMES = {"dark": 0, "light": 1}
FIGURES = ["waterfall", "pareto", "gate", "sequences", "kinds", "history"]

# What the page is asked in the browser.
PROBE = """
<script>
const lightness = text => {
  const parts = text.match(/[0-9.]+/g).slice(0, 3).map(part => {
    const x = part / 255;
    return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
};
const contrast = (a, b) => {
  const [low, high] = [lightness(a), lightness(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};
const page = getComputedStyle(document.body).backgroundColor;
const answer = {width: innerWidth, scrolls: document.documentElement.scrollWidth,
                page: lightness(page), figures: {}, faint: [],
                loads: [...document.querySelectorAll("[src], link[href], use[href], image[href]")]
                  .map(one => one.getAttribute("src") || one.getAttribute("href"))
                  .filter(place => !place.startsWith("data:"))};
for (const figure of document.querySelectorAll("section > figure, .pair > figure")) {
  const seen = [...figure.querySelectorAll("svg")].filter(svg => svg.getBoundingClientRect().width);
  answer.figures[figure.id] = seen.map(svg => Math.round(svg.getBoundingClientRect().width));
}
const texts = ["body", "p", ".small", "figcaption", "th", "a", "svg text", ".changed", ".chosen"];
for (const what of texts) {
  for (const one of document.querySelectorAll(what)) {
    const style = getComputedStyle(one);
    const colour = one instanceof SVGElement ? style.fill : style.color;
    if (contrast(colour, page) < 4.5) { answer.faint.push(what + " " + colour); break; }
  }
}
parent.postMessage(JSON.stringify(answer), "*");
</script>
"""

# Windows cannot be as narrow as telephones, frames can. The answer of the page is in the text.
FRAME = """<!DOCTYPE html>
<html style="color-scheme: light dark"><body>
<pre id="answer"></pre>
<script>
addEventListener("message", event => document.getElementById("answer").textContent = event.data);
</script>
<iframe src="{}" width="{}" height="{}" style="border: 0"></iframe>
</body></html>
"""


def fail(message):
    print("failed:", message)
    sys.exit(1)


def layers():
    """Returns the layers of resnet20-cifar that can change: name, channels in and out, stride."""
    result = []
    for stage, width in enumerate([16, 32, 64], start=1):
        for block in range(3):
            result.append((f"layer{stage}.{block}.conv1" if block else None, width))
            result.append((f"layer{stage}.{block}.conv2", width))
    return [(name, width) for name, width in result if name]


def network_trials(count, found):
    """Returns trials of networks that nobody tried."""
    draw = random.Random(1)
    for number in range(1, count + 1):
        names = draw.sample([name for name, _ in layers()], 6)
        steps = ["group(2)", "group(4)", "split_range(co, 1/2) -> group(2)"]
        recipe = "".join(f"{name}: {draw.choice(steps)}\n" for name in names)
        log_ratio = draw.gauss(0, 0.8)
        measured = found and number % 20 == 0
        outcome = "measured" if measured else "judged" if abs(log_ratio) < 0.7 else "refused"
        time = (4 - 2 * number / count + draw.random()) * 1e-3
        weights = draw.randrange(100000, 270000)
        predicted = draw.uniform(-0.5, 0.5)
        details = {"first_order": {"accepted": True, "time": time, "log_ratio": log_ratio,
                                   "predicted": predicted}, "macs": 30000000, "weights": weights}
        if measured:
            details["verdict"] = {"ratio": math.exp(log_ratio / 3), "predicted": predicted}
        reason = "fisher moved too far, to first order" if outcome == "refused" else ""
        yield recipe, outcome, reason, time if measured else 0, 4.6e-3 if measured else 0, details


def write_journal(folder, trials):
    """Writes a journal as src/search/journal.cpp does."""
    with sqlite3.connect(folder + "/journal.db") as journal:
        journal.execute("CREATE TABLE identity (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
        journal.execute("CREATE TABLE trials (number INTEGER PRIMARY KEY, at TEXT NOT NULL DEFAULT "
                        "CURRENT_TIMESTAMP, subject TEXT NOT NULL, recipe TEXT NOT NULL, outcome "
                        "TEXT NOT NULL, reason TEXT NOT NULL, time REAL NOT NULL, own REAL NOT "
                        "NULL, details TEXT NOT NULL, UNIQUE (subject, recipe))")
        journal.execute("CREATE TABLE numbers (name TEXT PRIMARY KEY, value REAL NOT NULL)")
        for recipe, outcome, reason, time, own, details in trials:
            journal.execute("INSERT OR REPLACE INTO trials (subject, recipe, outcome, reason, "
                            "time, own, details) VALUES ('network', ?, ?, ?, ?, ?, ?)",
                            (recipe, outcome, reason, time, own, json.dumps(details)))


def layer_results(found):
    for name, width in layers():
        changed = found and not name.endswith("2.conv2")
        macs = 9 * width * width * (32 * 16 // width) ** 2
        yield {"layer": name, "kind": f"conv 3x3 {width}->{width}",
               "recipe": "split_range(co, 1/2) -> group(2)" if changed else "",
               "meaning": f"{width // 2} of co: grouped x2; {width // 2} of co: dense",
               "before_ms": 0.3, "after_ms": 0.17 if changed else 0.3, "macs_before": macs,
               "macs": macs // 2 if changed else macs, "weights_before": 9 * width * width,
               "weights": 9 * width * width // 2, "first_order": 0.1, "exact": 0.12}


def kinds():
    for width in [16, 32, 64]:
        variants = [{"recipe": "split_range(co, 1/2) -> group(2)", "meaning": "half of it grouped",
                     "macs": 1000, "weights": 100, "before_ms": 0.3, "after_ms": 0.17,
                     "first_order": 0.1, "failure": ""},
                    {"recipe": "group(4)", "meaning": "grouped x4", "macs": 1000, "weights": 100,
                     "before_ms": 0.3, "after_ms": 0.1, "first_order": 2.1, "failure": ""},
                    {"recipe": "group(16)", "meaning": "grouped x16", "macs": 1, "weights": 1,
                     "before_ms": None, "after_ms": None, "first_order": None,
                     "failure": "it ran for too long"}]
        yield {"kind": f"conv 3x3 {width}->{width}",
               "sites": [name for name, of in layers() if of == width], "variants": variants}


def result_of(trials, found):
    """Returns result.json of a search that made these trials."""
    rows = list(layer_results(found))
    measured = [trial for trial in trials if trial[1] == "measured"]
    recipe = [{"match": row["layer"], "recipe": row["recipe"]} for row in rows if row["recipe"]]
    verdict = {"accepted": True, "sure": 0.84, "reason": "", "ratio": 0.97, "interval": [0.9, 1.05],
               "layers": {}, "predicted": -0.31, "uncertainty": 0.98}
    refused = sum(trial[1] == "refused" for trial in trials)
    return {
        "lathe_result": 1, "lathe": "0.1.0", "network": "resnet20-cifar",
        "command": "lathe optimize resnet20-cifar --work-dir runs/of_a_name_that_is_rather_long "
                   "--variants 6 --exact 14 --samples 16 --seeds 1 --strategy evolve --trials 400",
        "identity": {"machine": "aarch64 +neon 0x41 0x1 0xd40", "data": "synthetic:0 cifar"},
        "found": found, "stopped": False, "seconds": 120.4, "strategy": "evolve",
        "rule": {"name": "two-sided", "tolerance": 0.5, "network_band": 0.7589,
                 "layer_band": 1.147, "paper": False},
        "threads": 1, "original": {"ms": 4.6, "macs": 41000000, "weights": 272474},
        "winner": {"ms": 2.6 if found else 4.6, "original_ms": 4.6, "spread": 0.02, "tuned": False,
                   "macs": 21000000, "weights": 140000,
                   "recipe": {"lathe_network_recipe": 1, "layers": recipe},
                   "verdict": verdict if found else None},
        "log_networks": 21.4,
        "blocks": {"most": 17, "log_networks": 22.1, "ways": [
            {"way": "sampled", "ms": None, "original_ms": 0, "tuned": False, "macs": 0, "weights": 0,
             "recipe": "", "tried": 1000, "refused": 1000},
            {"way": "assigned", "ms": 3.9, "original_ms": 4.6, "tuned": False, "macs": 31000000,
             "weights": 160000, "recipe": "layer1.0.conv1: group(4)\n", "tried": 6, "refused": 2},
        ]} if found else None,
        "peers": [{"name": "ONNX Runtime 1.20", "ms": 5.2, "original_ms": 4.6}] if found else [],
        "tried": len(trials), "refused": refused, "failed": 0,
        "reasons": {"fisher moved too far, to first order": refused}, "layers": rows,
        "rest_ms": 0.4, "kinds": list(kinds()),
        "pareto": [{"recipe": trial[0], "ms": trial[3] * 1e3, "original_ms": 4.6, "ratio": 1,
                    "predicted": trial[5]["verdict"]["predicted"], "macs": 30000000,
                    "weights": trial[5]["weights"]} for trial in measured[-3:]]}


def write_search(folder, found):
    os.mkdir(folder)
    trials = list(network_trials(300, found))
    write_journal(folder, trials)
    with open(folder + "/result.json", "w", encoding="utf-8") as file:
        json.dump(result_of(trials, found), file)


def browse(page, size, scheme, arguments):
    """Opens a page; returns what is printed, and what is said on the console."""
    profile = tempfile.mkdtemp(dir=os.path.dirname(page))
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
               "--disable-dev-shm-usage", f"--user-data-dir={profile}",
               f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
               f"--window-size={size[0]},{size[1]}", "--enable-logging=stderr", "--v=0",
               *arguments, "file://" + page]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        fail(f"chromium ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def answer_of(page, size, scheme):
    probe = page + ".probe.html"
    with open(page, encoding="utf-8") as file:
        source = file.read()
    # All that opens is open, too: what is in there must not be wider than the page either.
    with open(probe, "w", encoding="utf-8") as file:
        source = source.replace("<details>", "<details open>")
        file.write(source.replace("</body>", PROBE + "</body>"))
    frame = page + ".frame.html"
    with open(frame, "w", encoding="utf-8") as file:
        file.write(FRAME.format(os.path.basename(probe), *size))
    printed, console = browse(frame, (1400, 1000), scheme,
                              ["--dump-dom", "--virtual-time-budget=5000"])
    if console:
        fail(f"{size} {scheme}: the console says {console}")
    found = re.search(r'<pre id="answer">(.*?)</pre>', printed, re.S)
    if not found or not found[1]:
        fail(f"{size} {scheme}: the page does not answer")
    return json.loads(html.unescape(found[1]))


def check(page, size, scheme, figures):
    place = f"{os.path.basename(page)} {size[0]}x{size[1]} {scheme}"
    answer = answer_of(page, size, scheme)
    if answer["width"] != size[0]:
        fail(f"{place}: the window is {answer['width']} wide")
    if answer["scrolls"] > answer["width"]:
        fail(f"{place}: the page is {answer['scrolls']} wide, and scrolls sideways")
    if (answer["page"] < 0.2) != (scheme == "dark"):
        fail(f"{place}: the page's lightness is {answer['page']}")
    if answer["loads"]:
        fail(f"{place}: loads {answer['loads']}")
    if answer["faint"]:
        fail(f"{place}: hard to read: {answer['faint']}")
    for figure in figures:
        seen = answer["figures"].get(figure, [])
        if len(seen) != 1 or not 280 <= seen[0] <= size[0]:
            fail(f"{place}: of the picture '{figure}' these widths are seen: {seen}")
    print("passed:", place)


def main():
    if not shutil.which("chromium"):
        print("skipped: chromium is not installed (scripts/setup --all)")
        sys.exit(77)
    lathe, keep = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as work:
        for name, found in [("found", True), ("nothing", False)]:
            folder = f"{work}/{name}"
            write_search(folder, found)
            page = f"{work}/{name}.html"
            subprocess.run([lathe, "report", folder, "--output", page], check=True)
            figures = FIGURES if found else ["waterfall", "gate", "kinds", "history"]
            for size in SIZES:
                for scheme in SCHEMES:
                    check(page, size, scheme, figures)
                    if keep:
                        picture = os.path.abspath(f"{keep}/{name}-{size[0]}-{scheme}.png")
                        browse(page, (size[0], 4600), scheme, [f"--screenshot={picture}"])


main()
