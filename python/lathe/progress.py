"""How far long work is: a line on a terminal, or a bar in a notebook. Elsewhere, only warnings."""
import html
import sys
import time
import warnings

WIDTH = 24
PAUSE = 0.1  # seconds between two drawings


class Progress:
    """Shows events of Lathe.

    >>> Progress.line("search", {"event": "progress", "what": "variants", "done": 3, "of": 12})
    'search [======                  ] 3/12 variants'
    """

    def __init__(self, title):
        self.title, self._drawn, self._text = title, 0.0, ""
        self._notebook = _notebook_display()
        self._terminal = self._notebook is None and sys.stderr.isatty()

    @staticmethod
    def line(title, event):
        """Returns what is shown of an event; nothing, if it is of no interest."""
        kind = event["event"]
        if kind == "progress":
            filled = WIDTH * event["done"] // max(1, event["of"])
            return (f"{title} [{'=' * filled:{WIDTH}}] {event['done']}/{event['of']} "
                    f"{event['what']}")
        if kind == "tuning":
            left = max(0, event["of"] - event["elapsed"])
            return f"{title}: tuning {event['network']}, {left:.0f} s left"
        if kind == "trial" and event["ms"] > 0:
            return (f"{title}: network {event['number']}, {event['ms']:.3f} ms, "
                    f"{event['original_ms'] / event['ms']:.2f} times as fast")
        if kind == "trial":
            return f"{title}: network {event['number']}, {event['outcome']}"
        return None

    def show(self, event):
        """Shows an event, if there is somebody to see it."""
        if event["event"] == "warning":
            self._clear()
            warnings.warn(event["text"], stacklevel=5)
            return
        text = self.line(self.title, event)
        now = time.monotonic()
        if text is None or now - self._drawn < PAUSE:
            return
        self._drawn = now
        self._draw(text)

    def note(self, text):
        """Shows a text in place of the last event."""
        self._draw(f"{self.title}: {text}")
        self._drawn = time.monotonic() + 10 * PAUSE  # long enough to be read

    def close(self):
        """Makes room for what comes next."""
        self._clear()

    def _draw(self, text):
        if self._notebook:
            self._notebook.update(_Html(f"<code>{html.escape(text)}</code>"))
        elif self._terminal:
            sys.stderr.write(f"\r{text[:79]:<{len(self._text)}}")
            sys.stderr.flush()
            self._text = text[:79]

    def _clear(self):
        if self._notebook:
            self._notebook.update(_Html(""))
        elif self._terminal and self._text:
            sys.stderr.write(f"\r{'':{len(self._text)}}\r")
            sys.stderr.flush()
            self._text = ""


class _Html:
    def __init__(self, text):
        self._text = text

    def _repr_html_(self):
        return self._text


def _notebook_display():
    """Returns a place in a notebook that can be drawn on; None elsewhere."""
    if "ipykernel" not in sys.modules:
        return None
    from IPython.display import display
    return display(_Html(""), display_id=True)
