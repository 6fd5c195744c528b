"""Tables: data frames where pandas is installed, lists of dictionaries elsewhere."""
import html


def table(rows):
    """Returns rows, which are dictionaries with the same keys, as a table.

    >>> len(table([{"layer": "conv1", "ms": 0.5}, {"layer": "fc", "ms": 0.1}]))
    2
    """
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


def short(number):
    """Prints a large number shortly.

    >>> short(118_000_000)
    '118.0 M'
    """
    if number < 10000:
        return str(number)
    value = float(number)
    for unit in ("k", "M", "G"):
        value /= 1000
        if value < 1000:
            return f"{value:.{2 if value < 10 else 1}f} {unit}"
    return f"{value / 1000:.1f} T"


def as_text(heads, rows):
    """Prints a table: the first column to the left, others to the right.

    >>> print(as_text(["layer", "ms"], [["conv1", "0.5"], ["fc", "12.5"]]))
    layer    ms
    conv1   0.5
    fc     12.5
    """
    every = [heads, *rows]
    widths = [max(len(row[i]) for row in every) for i in range(len(heads))]
    lines = []
    for row in every:
        cells = [f"{row[0]:<{widths[0]}}"]
        cells += [f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:])]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def as_html(title, heads, rows):
    """Prints the same for a notebook."""
    def line(tag, cells):
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"
    body = "".join(line("td", row) for row in rows)
    return (f"<p>{html.escape(title)}</p><table><thead>{line('th', heads)}</thead>"
            f"<tbody>{body}</tbody></table>")
