"""A bar chart of speed relative to ONNX Runtime, or to another peer where it is not, as SVG."""
from __future__ import annotations

import math
from html import escape

from .networks import TITLES
from .report import Report
from .results import OWN, speed

# Okabe and Ito's palette, which colour-blind readers can tell apart.
COLOURS = {
    "lathe": "#D55E00",
    "lathe_tuned": "#882200",
    "onnxruntime": "#999999",
    "openvino": "#0072B2",
    "ncnn": "#009E73",
    "torch": "#E69F00",
    "tvm": "#CC79A7",
}
NAMES = {"lathe": "Lathe", "lathe_tuned": "Lathe, tuned", "onnxruntime": "ONNX Runtime", "openvino": "OpenVINO", "ncnn": "ncnn",
         "torch": "PyTorch", "tvm": "TVM (untuned)"}
WIDTH, LEFT, RIGHT = 860, 185, 60
BAR, GAP, TOP = 13, 12, 78


def _text(x: float, y: float, text: str, extra: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {extra}>{escape(text)}</text>'


def _step(largest: float) -> float:
    """The distance of the grid's lines, for 4 to 8 of them."""
    power = 10.0 ** math.floor(math.log10(largest / 4))
    return next(power * f for f in (1, 2, 2.5, 5, 10) if largest / (power * f) <= 8)


def chart(report: Report) -> str:
    """Horizontal bars grouped by network, a panel for each thread count; 1 is ONNX Runtime."""
    others = [peer for peer in report.measured() if peer not in OWN]
    reference = "onnxruntime" if "onnxruntime" in others else others[0]
    peers = [peer for peer in report.measured() if peer != reference]
    panels: list[tuple[str, list[tuple[str, dict[str, float]]]]] = []
    for threads, models in report.runs.items():
        groups: list[tuple[str, dict[str, float]]] = []
        for model, results in models.items():
            values = {p: speed(results, p, reference) for p in peers}
            groups.append((TITLES.get(model, model), {p: v for p, v in values.items() if v}))
        if len(report.published(threads)) > 1:
            means = {p: report.mean(threads, p, reference) for p in peers}
            groups.append(("geometric mean", {p: v for p, v in means.items() if v}))
        groups = [(name, values) for name, values in groups if values]
        if groups:
            panels.append((f"{threads} thread{'s' if threads != 1 else ''}", groups))

    values = [v for _, groups in panels for _, group in groups for v in group.values()]
    largest = max([1.0, *values]) * 1.05
    step = _step(largest)
    scale = (WIDTH - LEFT - RIGHT) / largest
    heights = [sum(BAR * len(group) + GAP for _, group in groups) for _, groups in panels]
    height = TOP + sum(h + 62 for h in heights) + 10

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" font-family="Helvetica, Arial, sans-serif" '
        'font-size="12" fill="#222222">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(16, 26, f"Speed relative to {NAMES[reference]} (longer is faster)",
              'font-size="17" font-weight="bold"'),
        _text(16, 45, f"{report.machine['processor']}, {report.machine['cores']} cores; batch 1, "
              f"fp32, medians; {report.dates()}", 'fill="#555555"'),
    ]
    x = 16.0
    for peer in peers:
        out.append(f'<rect x="{x:.1f}" y="57" width="12" height="12" fill="{COLOURS[peer]}"/>')
        out.append(_text(x + 17, 67, NAMES[peer]))
        x += 17 + 7.0 * len(NAMES[peer]) + 18
    out.append(f'<line x1="{x:.1f}" y1="63" x2="{x + 14:.1f}" y2="63" stroke="#222222" '
               'stroke-width="1.5"/>')
    out.append(_text(x + 19, 67, f"{NAMES[reference]} = 1"))

    y = float(TOP)
    for (title, groups), panel in zip(panels, heights, strict=True):
        y += 26
        out.append(_text(16, y, title, 'font-size="14" font-weight="bold"'))
        y += 10
        for i in range(int(largest / step) + 1):
            at = LEFT + i * step * scale
            out.append(f'<line x1="{at:.1f}" y1="{y:.1f}" x2="{at:.1f}" y2="{y + panel:.1f}" '
                       'stroke="#dddddd"/>')
            out.append(_text(at, y + panel + 15, f"{i * step:g}",
                             'text-anchor="middle" fill="#555555"'))
        inner = y + GAP / 2
        numbers: list[str] = []  # above the line at 1
        for name, group in groups:
            middle = inner + BAR * len(group) / 2 + 4
            weight = ' font-weight="bold"' if name == "geometric mean" else ""
            shown = name if len(name) <= 26 else name[:25] + "…"
            out.append(_text(LEFT - 8, middle, shown, f'text-anchor="end"{weight}'))
            for peer, value in group.items():
                out.append(
                    f'<rect x="{LEFT}" y="{inner + 0.5:.1f}" width="{value * scale:.1f}" '
                    f'height="{BAR - 1}" fill="{COLOURS[peer]}"><title>'
                    f'{escape(name)}, {NAMES[peer]}: {value:.2f}</title></rect>')
                numbers.append(_text(LEFT + value * scale + 4, inner + BAR - 3, f"{value:.2f}",
                                     'font-size="10" fill="#333333" stroke="#ffffff" '
                                     'stroke-width="3" paint-order="stroke"'))
                inner += BAR
            inner += GAP
        one = LEFT + scale
        out.append(f'<line x1="{one:.1f}" y1="{y:.1f}" x2="{one:.1f}" y2="{y + panel:.1f}" '
                   'stroke="#222222" stroke-width="1.5"/>')
        out += numbers
        y += panel + 26
    out.append("</svg>")
    return "\n".join(out) + "\n"
