"""The look of all charts: colours, axes, words, legend, and identical bytes on every run."""

from __future__ import annotations

import io
import itertools
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.text import Annotation, Text
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator
from PIL import Image

from ddr_cli.core.errors import InputError
from ddr_cli.evaluation.evaluators import CLASSIFIERS
from ddr_cli.reducers.registry import REDUCERS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# Okabe and Ito's palette, ordered so that neighbours differ in lightness and are distinct in
# greyscale too. A dark red replaces its yellow, which is too faint for lines on white.
_NAMED_COLOURS = {
    "blue": "#0072B2",
    "orange": "#E69F00",
    "black": "#000000",
    "sky": "#56B4E9",
    "vermilion": "#D55E00",
    "green": "#009E73",
    "pink": "#CC79A7",
    "dark red": "#661100",
}
_COLOURS = tuple(_NAMED_COLOURS.values())
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
# Clouds of points are larger than lines, so grey and yellow are also visible in them.
_CLASS_COLOURS = (*_COLOURS, "#999999", "#DDCC00")
_CLASS_MARKERS = ("o", "D", "s", "^", "v", "P", "X", "h", "<", "p")

PAPER_COLOUR = "#333333"
PAPER_FILL = "#bbbbbb"
NEUTRAL = "#666666"
UNDER_TEXT: dict[str, Any] = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.6}
"""A pale box behind text on a drawing; outlined letters would be shapes in an SVG."""
ON_CELL = "#111111"
"""Text on a pale cell, which stays dark on a dark page."""
# A star always marks a number from a paper.
STAR: dict[str, Any] = {
    "marker": "*",
    "markersize": 14,
    "markeredgecolor": PAPER_COLOUR,
    "markeredgewidth": 0.8,
}
# Where the text next to a marker may be: its offset in points and its alignment.
_SIDES: list[dict[str, Any]] = [
    {"position": (sign * x, y), "horizontalalignment": side, "verticalalignment": edge}
    for x, heights in (
        (9, ((-3, "top"), (3, "bottom"), (0, "center"))),
        (0, ((-10, "top"), (10, "bottom"))),
        (24, ((-8, "top"), (8, "bottom"), (0, "center"))),
        (9, ((-24, "top"), (24, "bottom"))),
    )
    for y, edge in heights
    for sign, side in ((1, "left" if x else "center"), (-1, "right" if x else "center"))
]
LARGEST: dict[str, Any] = {"color": NEUTRAL, "linestyle": (0, (1, 2)), "linewidth": 1.4}
OTHERS = "#d0d0d0"
BAND = "#dedede"
DPI = 144
FORMS = (".png", ".svg", ".pdf")
FORMS_TEXT = ".png, .svg or .pdf"
_PALETTE = 256

# If the largest mean is more than this many times the smallest, a linear axis would compress the
# interesting end.
_STEEP_FROM = 2.5
_NEAR = 90.0
_DECADES = 1000.0
PLAIN = FuncFormatter(lambda value, _: f"{value:g}")
_DISTANCES = (50, 30, 20, 10, 5, 3, 2, 1, 0.5, 0.2, 0.1)

_SETTINGS: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    # Matplotlib's search for the height of a title is slow, and always finds this value.
    "axes.titley": 1.0,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    # Text stays text: it can be searched, read aloud, and shown in the reader's own font.
    "svg.fonttype": "none",
    "svg.hashsalt": "ddr",
    "pdf.fonttype": 42,
    "path.simplify": True,
    # FreeType's hinting is slow and changes little at this resolution.
    "text.hinting": "none",
    # A dollar sign in a label does not start a formula.
    "text.parse_math": False,
}


_PALER, _DARKER = 0.5, 0.45


@dataclass(frozen=True)
class Look:
    """Colour, marker and line style of one method; each of them alone identifies it in a figure."""

    colour: str
    marker: str
    dashes: Any


def look(position: int) -> Look:
    """Return the look of an unnamed item; from the ninth on, colours are repeated."""
    n = len(_COLOURS)
    shifted = (position + position // n) % n
    return Look(_COLOURS[position % n], _MARKERS[shifted], _LINES[shifted])


def looks_of(names: Sequence[str], *, shades: bool = True) -> list[Look]:
    """Return the looks of the methods in one figure, by the names of their estimators.

    A method keeps the colour and marker that it declares, so readers recognise it in every figure.
    A second setting of it has another shade and other dashes or, without `shades`, another colour.
    A method without a declared look gets a colour that no other method of the figure has.
    """
    own = _own_looks()
    if len(set(names)) == 1:
        # If there is only one method, its settings have different colours instead of shades.
        shades = False
    if not shades:
        names = [name if name not in names[:i] else f"{name} {i}" for i, name in enumerate(names)]
    known = {name: own[name] for name in names if name in own}
    taken = {each.colour for each in known.values()}
    unused = (each for each in map(look, range(len(_COLOURS))) if each.colour not in taken)
    # When all colours are used, they are repeated with other markers and dashes.
    free = itertools.chain(unused, map(look, itertools.count(len(_COLOURS))))
    for name in names:
        if name not in known:
            known[name] = next(free)
    counts: Counter[str] = Counter()
    found = []
    for name in names:
        found.append(_varied(known[name], counts[name]))
        counts[name] += 1
    return found


@cache
def _own_looks() -> dict[str, Look]:
    """Return the looks that our reducers and classifiers declare."""
    entries = [entry for each in (REDUCERS, CLASSIFIERS) for entry in each.ours.values()]
    looks = {entry.name: entry.look for entry in entries if entry.look is not None}
    return {
        name: Look(_NAMED_COLOURS[colour], marker, _LINES[_MARKERS.index(marker)])
        for name, (colour, marker) in looks.items()
    }


def _varied(own: Look, number: int) -> Look:
    """Return the look for one of a method's several settings: another shade and other dashes."""
    if number == 0:
        return own
    step = (number + 1) // 2
    share, other = (_PALER, 1.0) if number % 2 else (_DARKER, 0.0)
    kept = (1 - share) ** step
    r, g, b = (kept * part + (1 - kept) * other for part in to_rgb(own.colour))
    grey = 1 - 0.75 ** (number + 1)
    # Black has no darker shade, so variants of it are grey.
    colour = to_hex((grey, grey, grey) if own.colour == "#000000" else (r, g, b))
    return Look(colour, own.marker, _LINES[(_LINES.index(own.dashes) + number) % len(_LINES)])


def class_look(code: int) -> Look:
    """Return the look of a class's samples; the first hundred classes all differ."""
    # From the eleventh class on, colours are repeated with other markers.
    n = len(_CLASS_COLOURS)
    return Look(_CLASS_COLOURS[code % n], _CLASS_MARKERS[(code + code // n) % n], "")


def legend_entry(label: str, **look: Any) -> Line2D:
    """Return an entry of a legend: a marker in the given look or, with a `linestyle`, a line."""
    return Line2D([], [], **{"linestyle": "", "label": label, **look})


@dataclass(frozen=True)
class Words:
    """The words of a chart, and what its values are.

    `finding` is a line below the title, `description` is for screen readers, `x` and `y` name the
    axes. Values that are a `rate` are in percent; `lower` states whether lower ones are better.
    """

    title: str
    finding: str = ""
    description: str = ""
    x: str = ""
    y: str = ""
    legend: Sequence[Any] = ()
    rate: bool = False
    lower: bool = False


def with_defaults(rows: pd.DataFrame, defaults: dict[str, Any]) -> pd.DataFrame:
    """Return the rows of a chart with the optional columns that they lack."""
    return rows.assign(**{name: each for name, each in defaults.items() if name not in rows})


@contextmanager
def house_style() -> Iterator[None]:
    """Draw with the settings of `ddr`, whatever the user's matplotlibrc states."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


class _LaidOutOnce(ConstrainedLayoutEngine):
    """A constrained layout that is computed again only for another size of the figure."""

    _size: tuple[float, ...] = ()

    def execute(self, fig: Figure) -> None:
        size = tuple(fig.get_size_inches())
        if size == self._size:
            return
        for spine in (spine for axes in fig.axes for spine in axes.spines.values()):
            # The extent of a spine is slow to compute, and ticks and labels need more room anyway.
            spine.set_in_layout(False)
        super().execute(fig)
        self._size = size


class ShownFigure(Figure):
    """A figure that a notebook shows as a picture, even if pyplot is not imported."""

    def _repr_png_(self) -> bytes:
        with house_style():
            return _saved(self, "png", {"Software": None})


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches, independent of pyplot's state."""
    figure = ShownFigure(figsize=(width, height), dpi=DPI, layout=_LaidOutOnce())
    FigureCanvasAgg(figure)
    return figure


def in_lines(title: str, width: float) -> str:
    """Return a title in lines that fit a figure's width in inches; a number keeps its unit."""
    kept = re.sub(r" (?=[%=])|(?<==) ", "\N{NO-BREAK SPACE}", title)
    lines = textwrap.wrap(kept, int(width * 10), break_on_hyphens=False)
    return "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ")


def finish(figure: Figure, words: Words, more: Sequence[Any] = ()) -> None:
    """Add the title, the finding, the description and the legend of a chart."""
    width = figure.get_figwidth()
    below = in_lines(words.finding, 1.35 * width)
    clauses = ";\n".join(in_lines(each, 1.35 * width) for each in words.finding.split("; "))
    if clauses.count("\n") == below.count("\n"):
        below = clauses
    # Empty lines of the title reserve room for the finding, which the layout does not consider.
    room = "\n" * (below.count("\n") + 1) if below else ""
    head = figure.suptitle(in_lines(words.title, width) + room, fontsize=11, weight="bold")
    if below:
        look: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": 9, "linespacing": 1.35}
        figure.add_artist(Annotation(below, (0.5, 0.0), xycoords=head, **look))
    finding = words.finding and f"{words.finding}."
    figure.set_label(" ".join(filter(None, [finding, words.description])))
    legend_below(figure, [*words.legend, *more])


def remove_empty(grid: Any, n: int) -> None:
    """Remove the panels after the first n; the lowest ones of each column keep their ticks."""
    for place, axes in enumerate(grid.flat):
        if place >= n:
            axes.remove()
        elif place + grid.shape[1] >= n:
            axes.tick_params(labelbottom=True)


def name_axes(figure: Figure, grid: Any, words: Words) -> None:
    """Name the axes of panels that share them once, with their scales."""
    across, upright = words.x, words.y
    first = grid[0, 0]
    if grid[-1, 0].get_xscale() == "log":
        across += ", log scale"
    if first.get_yscale() == "log":
        upright += ", log scale"
    if first.get_yscale() == "function":
        upright += ",\nlog scale of the distance to 100 %"
    if grid.shape[1] == 1:
        grid[-1, 0].set_xlabel(across)
    elif across:
        # A label of the figure would be written over the legend.
        for axes in grid[-1]:
            axes.set_xlabel(" ")
        below = ("figure fraction", grid[-1, 0].xaxis.label)
        look: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": 9}
        figure.add_artist(Annotation(across, (0.5, 0.0), xycoords=below, **look))
    if grid.size == 1:
        first.set_ylabel(textwrap.fill(upright, 50))
    else:
        figure.supylabel(upright, fontsize="medium")


def name_lines(axes: Axes, names: Sequence[str]) -> None:
    """Label the lines of a panel, from the top: a method or a row of a table each."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")


_LEADER: dict[str, Any] = {"arrowstyle": "-", "lw": 0.7, "shrinkA": 0, "shrinkB": 0}
# The line starts at the middle of the name's left edge, so that it crosses no name.
_LEADER["relpos"] = (0.0, 0.5)
_NAMES_AT = 1.03


def label_ends(axes: Axes, ends: Sequence[tuple[float, str, str]]) -> list[Annotation]:
    """Write the names of curves right of their ends; an entry is a height, name and colour.

    The limits of the axes must be final. `spread_ends` moves names that overlap.
    """
    place = axes.transData + axes.transAxes.inverted()
    x = axes.get_xlim()[1]
    labels = []
    for end, name, colour in ends:
        height = min(max(place.transform((x, end))[1], 0.0), 1.0)
        label = axes.annotate(
            name,
            (1.0, height),
            (_NAMES_AT, height),
            xycoords="axes fraction",
            textcoords="axes fraction",
            va="center",
            fontsize=8.5,
            color=_on_white(colour),
            annotation_clip=False,
            arrowprops=_LEADER | {"color": colour},
        )
        labels.append(label)
    return labels


def spread_ends(labels: Sequence[Annotation]) -> None:
    """Move the names at the ends of a panel's curves apart; the layout must be final."""
    labels = sorted(labels, key=lambda label: label.xy[1])
    if not labels or (axes := labels[0].axes) is None:
        return
    gap = min(13.0 * DPI / 72 / axes.get_window_extent().height, 1.0 / len(labels))
    heights = _apart([label.xy[1] for label in labels], gap)
    for label, height in zip(labels, heights, strict=True):
        label.xyann = (_NAMES_AT, height)


def move_off_curves(texts: Sequence[Annotation]) -> None:
    """Move each text to the side of its mark where it covers the fewest curves and other texts.

    The layout of the figure must be final.
    """
    for place, text in enumerate(texts):
        axes = text.axes
        assert axes is not None
        paths = [line.get_path().transformed(line.get_transform()) for line in axes.lines]
        panel, covered = axes.get_window_extent(), []
        for side in _SIDES:
            text.set(**side)
            # An annotation's own extent contains the line to its mark.
            box = Text.get_window_extent(text).padded(3)
            inside = all(panel.contains(*corner) for corner in box.corners())
            covered.append(
                sum(path.intersects_bbox(box, filled=False) for path in paths)
                + sum(box.overlaps(Text.get_window_extent(other)) for other in texts[:place])
                + 10 * (not inside)
            )
        text.set(**_SIDES[int(np.argmin(covered))])


def _apart(heights: Sequence[float], gap: float) -> list[float]:
    """Return sorted heights, moved as little as needed so that neighbours are a gap apart."""
    # Each entry is the centre and the size of a group; `edge` keeps groups inside the panel.
    groups = [[height, 1] for height in heights]
    i = 0
    while i + 1 < len(groups):
        (low, n), (high, m) = groups[i], groups[i + 1]
        if high - low < gap * (n + m) / 2 - 1e-9:
            edge = min(gap * (n + m - 1) / 2, 0.5)
            centre = min(max((low * n + high * m) / (n + m), edge), 1 - edge)
            groups[i : i + 2] = [[centre, n + m]]
            i = max(i - 1, 0)
        else:
            i += 1
    return [centre + gap * (place - (n - 1) / 2) for centre, n in groups for place in range(int(n))]


def _on_white(colour: str) -> str:
    """Return a colour dark enough for text on white."""
    r, g, b = to_rgb(colour)
    dimmed = min(1.0, 0.42 / max(0.2126 * r + 0.7152 * g + 0.0722 * b, 1e-9))
    return to_hex((r * dimmed, g * dimmed, b * dimmed))


def legend_below(figure: Figure, handles: Sequence[Any]) -> None:
    """Add a legend below a figure, where it covers nothing, in as few lines as fit."""
    if not handles:
        return
    # The width of a label: inches per character, plus the marker and the gap between columns.
    widths = [0.068 * len(str(handle.get_label())) + 0.55 for handle in handles]
    room = figure.get_figwidth()
    lines = next(
        lines
        for lines in range(1, len(widths) + 1)
        if sum(max(widths[i : i + lines]) for i in range(0, len(widths), lines)) < room
        or lines == len(widths)
    )
    # Matplotlib fills a legend column by column.
    figure.legend(handles=handles, loc="outside lower center", ncols=-(-len(handles) // lines))


def is_steep(means: pd.Series[Any]) -> bool:
    """Return whether values differ so much that they need a logarithmic axis."""
    low, high = float(means.min()), float(means.max())
    return low > 0 and high / low > _STEEP_FROM


def value_axis(
    axes: Axes, values: pd.Series[Any], which: str, words: Words, *, few: bool = False
) -> None:
    """Scale the axis of values, logarithmically if lower ones are better and differ by factors.

    Rates of which most are close to 100 % are scaled by their distance to it.
    """
    axis = axes.yaxis if which == "y" else axes.xaxis
    near = words.rate and not words.lower and float(values.median()) > _NEAR
    if which == "y" and near and is_steep(100 - values):
        least = float(100 - values.max()) / 2

        def forward(value: Any) -> Any:
            return -np.log10(np.maximum(100 - np.asarray(value), least))

        axes.set_yscale("function", functions=(forward, lambda value: 100 - 10.0**-value))
        axis.set_major_locator(FixedLocator([0, *(100 - each for each in _DISTANCES)]))
        axis.set_major_formatter(PLAIN)
        return
    if not (is_steep(values) and words.lower):
        axis.set_major_locator(MaxNLocator(nbins=8, steps=[1, 2, 2.5, 5, 10]))
        return
    (axes.set_yscale if which == "y" else axes.set_xscale)("log")
    ratio = float(values.max() / values.min())
    # The wider the range, or the smaller the panel, the fewer ticks per decade.
    if ratio > _DECADES:
        ticks: tuple[float, ...] = (1,)
    elif few:
        ticks = (1, 2, 5)
    elif ratio < 8:
        ticks = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)
    else:
        ticks = (1, 1.5, 2, 3, 5, 7) if ratio < 30 else (1, 2, 5)
    axis.set_major_locator(LogLocator(base=10, subs=ticks))
    axis.set_major_formatter(PLAIN)
    axis.set_minor_locator(NullLocator())


def image_bytes(path: Path, drawn: Callable[[], Figure]) -> bytes:
    """Return a figure in the format that a file's name requests, one of `FORMS`."""
    if path.suffix not in FORMS:
        raise InputError(f"The file name {path} must end in {FORMS_TEXT}.")
    if path.suffix == ".pdf":
        return as_pdf(drawn())
    svg, png = rendered(drawn())
    return svg if path.suffix == ".svg" else png


def lay_out(figure: Figure) -> None:
    """Compute the layout of a figure without drawing it."""
    if (engine := figure.get_layout_engine()) is not None:
        engine.execute(figure)


def rendered(figure: Figure) -> tuple[bytes, bytes]:
    """Return a figure as SVG and as PNG, without date or program version."""
    with house_style():
        png = _compact(figure)
    return as_svg(figure), png


def as_pdf(figure: Figure) -> bytes:
    """Return a figure as PDF, without date or program version."""
    with house_style():
        return _saved(figure, "pdf", {"CreationDate": None, "Creator": None, "Producer": None})


def as_svg(figure: Figure) -> bytes:
    """Return a figure as SVG alone."""
    with house_style():
        title = " ".join(figure.get_suptitle().split())
        svg = _saved(figure, "svg", {"Date": None, "Creator": None, "Title": title}).decode()
    description = escape(str(figure.get_label()) or title)
    return svg.replace("</title>", f"</title>\n <desc>{description}</desc>", 1).encode()


def _compact(figure: Figure) -> bytes:
    """Return a PNG with its own palette, a third of the size without a visible change."""
    pixels = _saved(figure, "raw", None)
    size = int(figure.get_figwidth() * DPI), int(figure.get_figheight() * DPI)
    reduced = (
        Image.frombytes("RGBA", size, pixels)
        .convert("RGB")
        .quantize(_PALETTE, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    )
    buffer = io.BytesIO()
    reduced.save(buffer, format="PNG")
    return buffer.getvalue()


def _saved(figure: Figure, kind: str, metadata: dict[str, str | None] | None) -> bytes:
    lay_out(figure)
    engine, buffer = figure.get_layout_engine(), io.BytesIO()
    # With a layout engine, Matplotlib would draw the figure twice.
    figure.set_layout_engine(None)
    figure.savefig(buffer, format=kind, dpi=DPI, metadata=metadata)
    figure.set_layout_engine(engine)
    return buffer.getvalue()
