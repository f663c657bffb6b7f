"""How every figure looks: colours, axes, title, legend, and bytes that are the same every time."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator
from PIL import Image

from ddr_cli.comparison.names import lower_is_better
from ddr_cli.core.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from ddr_cli.comparison.runs import Run

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
OTHERS = "#d0d0d0"
DPI = 144
_PALETTE = 128

# From this ratio between the largest and the smallest mean on, a linear axis would press the
# interesting end flat.
_STEEP_FROM = 2.5

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
    # A dollar sign in a label is one.
    "text.parse_math": False,
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


def legend_entry(label: str, **look: Any) -> Line2D:
    """Return an entry of a legend: a point in the given look, or with a `linestyle` a line."""
    return Line2D([], [], **{"linestyle": "", "label": label, **look})


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


def in_lines(title: str, width: float) -> str:
    """Return a title in lines that fit a figure's width in inches."""
    return "\n".join(textwrap.wrap(title, int(width * 10)))


def run_title(run: Run, method: str = "") -> str:
    """Return the title of a run's figure.

    It names the method, if one is given and the title doesn't, and says how far an unfinished run
    is.
    """
    title = run.title
    if method and method not in title:
        title += f" ({method})"
    if not run.is_complete or run.failed:
        title += f" [{run.progress}]"
    return title


def legend_below(figure: Figure, handles: Sequence[Any]) -> None:
    """Add a legend below a figure, where it hides nothing, in as few lines as fit."""
    if not handles:
        return
    # A character's width in inches, then the sign and the gap between columns.
    widths = [0.068 * len(str(handle.get_label())) + 0.55 for handle in handles]
    room = figure.get_figwidth()
    lines = next(
        lines
        for lines in range(1, len(widths) + 1)
        if sum(max(widths[i : i + lines]) for i in range(0, len(widths), lines)) < room
        or lines == len(widths)
    )
    # Columns are filled one after the other.
    figure.legend(handles=handles, loc="outside lower center", ncols=-(-len(handles) // lines))


def is_steep(means: pd.Series[Any]) -> bool:
    """Tell whether values differ so much that they need a logarithmic axis."""
    low, high = float(means.min()), float(means.max())
    return low > 0 and high / low > _STEEP_FROM


def value_axis(axes: Axes, means: pd.Series[Any], which: str, metric: str) -> None:
    """Scale the axis of a metric's values, logarithmically where errors are steep."""
    axis = axes.yaxis if which == "y" else axes.xaxis
    if not (is_steep(means) and lower_is_better(metric)):
        axis.set_major_locator(MaxNLocator(nbins=8, steps=[1, 2, 2.5, 5, 10]))
        return
    (axes.set_yscale if which == "y" else axes.set_xscale)("log")
    ratio = float(means.max() / means.min())
    # The wider the range, the fewer ticks per decade.
    if ratio < 8:
        ticks: tuple[float, ...] = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)
    else:
        ticks = (1, 1.5, 2, 3, 5, 7) if ratio < 30 else (1, 2, 5)
    axis.set_major_locator(LogLocator(base=10, subs=ticks))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


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
