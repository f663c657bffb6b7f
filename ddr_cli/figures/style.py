"""How every figure looks: colours, markers, sizes, and bytes that do not change from run to run."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from ddr_cli.core.errors import InputError

# Okabe and Ito's palette, ordered so that neighbours differ in lightness: they are told apart in
# greyscale too. Its yellow is left out of lines (too faint on white); the eighth is a dark red.
_COLOURS = (
    *("#0072B2", "#E69F00", "#000000", "#56B4E9", "#D55E00", "#009E73", "#CC79A7"),
    "#661100",
)
_MARKERS = ("o", "D", "s", "^", "v", "P", "X", "h")
_LINES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.2, 1.2)),
    (0, (6, 1.5, 1.2, 1.5)),
    (0, (3, 1, 1, 1, 1, 1)),
    (0, (9, 2)),
    (0, (2.5, 2.5)),
    (0, (9, 1.5, 1.2, 1.5, 1.2, 1.5)),
)
# Clouds of points are larger than lines, so that yellow and grey serve them too.
_CLASS_COLOURS = (*_COLOURS, "#999999", "#DDCC00")
_CLASS_MARKERS = ("o", "D", "s", "^", "v", "P", "X", "h", "<", "p")

PAPER_COLOUR = "#333333"
PAPER_FILL = "#bbbbbb"
NEUTRAL = "#666666"
DPI = 144
_PALETTE = 128

_SETTINGS: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    # Glyphs as outlines: the picture is the same where the font is not installed.
    "svg.fonttype": "path",
    "svg.hashsalt": "ddr",
    "path.simplify": True,
}


@dataclass(frozen=True)
class Look:
    """Colour, marker and line style of one method; each alone tells it from its neighbours."""

    colour: str
    marker: str
    line: Any


def look(position: int) -> Look:
    """Return the look of the method at a position; from the ninth on colours come again."""
    n = len(_COLOURS)
    shifted = (position + position // n) % n
    return Look(_COLOURS[position % n], _MARKERS[shifted], _LINES[shifted])


def class_look(code: int) -> Look:
    """Return the look of a class's points; the first hundred classes all differ."""
    # From the eleventh class on colours come again, with another marker.
    n = len(_CLASS_COLOURS)
    return Look(_CLASS_COLOURS[code % n], _CLASS_MARKERS[(code + code // n) % n], "")


@contextmanager
def house_style() -> Iterator[None]:
    """Draw with the house's settings, whatever the user's matplotlibrc says."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches, outside pyplot's state."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def image_bytes(path: Path, drawn: Callable[[], Figure]) -> bytes:
    """Return a figure in the form that a file's name asks for, ``.png`` or ``.svg``."""
    if path.suffix not in (".png", ".svg"):
        raise InputError(f"{path} must end in .png or .svg.")
    svg, png = rendered(drawn())
    return svg if path.suffix == ".svg" else png


def rendered(figure: Figure) -> tuple[bytes, bytes]:
    """Return a figure as SVG and as PNG, without date or program version."""
    with house_style():
        png = _compact(_saved(figure, "png", {"Software": None}))
        # The places found for the first picture serve the second.
        figure.set_layout_engine("none")
        svg = _saved(figure, "svg", {"Date": None, "Creator": None})
    return svg, png


def _compact(png: bytes) -> bytes:
    """Return a picture in a palette of its own, a third of the size for eyes to see no change."""
    with Image.open(io.BytesIO(png)) as picture:
        reduced = picture.convert("RGB").quantize(
            _PALETTE, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE
        )
    buffer = io.BytesIO()
    reduced.save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()


def _saved(figure: Figure, kind: str, metadata: dict[str, None]) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, dpi=DPI, metadata=metadata)
    return buffer.getvalue()
