"""Draws what simulations came to, as SVG: ``python -m lathe.workers.plot OUTPUT < LINES``."""
import json
import math
import sys

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 400, 70, 40, 20, 50
GREY = "#808080"  # shows on light and on dark pages
NAMES = {"scores": ("scores of 0.05 s", "#0072B2"), "measures": ("measurements of 2.5 s", "#D55E00")}


def plot(runs):
    """Returns a picture: tasks a second over workers, and what would be if giving out work were
    free."""
    most = max(run["workers"] for run in runs)
    rates = [run["a_second"] for run in runs] + [run["tasks"] / run["ideal"] for run in runs]
    low, high = 10 ** math.floor(math.log10(min(rates))), 10 ** math.ceil(math.log10(max(rates)))

    def x(workers):
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log10(workers) / math.log10(max(10, most))

    def y(rate):
        part = math.log10(rate / low) / math.log10(high / low)
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * part

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
             f'font-family="sans-serif" font-size="13" fill="{GREY}">',
             _text(LEFT, 20, "Tasks a second, simulated; dashed: if giving out work were free",
                   "start")]
    for workers in (10 ** n for n in range(int(math.log10(max(10, most))) + 1)):
        parts.append(_line([(x(workers), TOP), (x(workers), HEIGHT - BOTTOM)], GREY, 0.3))
        parts.append(_text(x(workers), HEIGHT - BOTTOM + 18, str(workers)))
    rate = low
    while rate <= high:
        parts.append(_line([(LEFT, y(rate)), (WIDTH - RIGHT, y(rate))], GREY, 0.3))
        parts.append(_text(LEFT - 8, y(rate) + 4, f"{rate:g}", "end"))
        rate *= 10
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "workers"))
    for place, (what, (name, colour)) in enumerate(NAMES.items()):
        found = sorted((run for run in runs if run["what"] == what), key=lambda r: r["workers"])
        measured = [(x(run["workers"]), y(run["a_second"])) for run in found]
        ideal = [(x(run["workers"]), y(run["tasks"] / run["ideal"])) for run in found]
        parts += [_line(ideal, colour, 1, ' stroke-dasharray="4 4"'), _line(measured, colour, 2)]
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4" fill="{colour}"/>'
                  for a, b in measured]
        parts.append(f'<circle cx="{LEFT + 20}" cy="{TOP + 16 + 20 * place}" r="4" '
                     f'fill="{colour}"/>')
        parts.append(_text(LEFT + 30, TOP + 20 + 20 * place, name, "start"))
    return "\n".join([*parts, "</svg>", ""])


def _text(x, y, text, anchor="middle"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'


def _line(points, colour, width, more=""):
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return (f'<polyline points="{places}" fill="none" stroke="{colour}" '
            f'stroke-width="{width}"{more}/>')


if __name__ == "__main__":
    with open(sys.argv[1], "w") as output:
        output.write(plot([json.loads(line) for line in sys.stdin if line.startswith("{")]))
