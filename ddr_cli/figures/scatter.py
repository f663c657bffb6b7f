"""Scatter plots of embeddings: a panel per method, a colour and a marker per class."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from ddr_cli.figures.embeddings import Embedding
from ddr_cli.figures.picture import legend_below, run_title
from ddr_cli.figures.style import NEUTRAL, class_look, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from ddr_cli.comparison.runs import Run

# Beyond this many points in a figure they become a picture inside the drawing: as shapes of their
# own they would make it megabytes.
_MOST_SHAPES = 3000
_PALE, _SOLID = 0.35, 0.85
_COLUMNS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 3, 7: 4, 8: 4}
_MANY = 60
_SOFT = "#333333"


@dataclass(frozen=True)
class _Kind:
    """Points that are drawn alike: a class, or a sub-class in its class's colour."""

    code: int
    subclass: int | None
    name: str
    colour: str
    marker: str


def draw_embeddings(run: Run, embeddings: Sequence[Embedding]) -> Figure:
    """Draw a panel per embedding: one dimension as strips, two as a plane, three in perspective.

    Returns
    -------
    Figure
        With training points pale where test points are there too, and prototypes as stars.
    """
    columns = _COLUMNS.get(len(embeddings), 4)
    lines = -(-len(embeddings) // columns)
    width = {1: 6.4, 2: 8.4, 3: 10.6}.get(columns, 12.6)
    # Strips need less height than planes.
    tallest = max(
        0.2 + 0.16 * len(_kinds(each)) if each.dimension == 1 else 0.96 for each in embeddings
    )
    figure = new_figure(width, 1.3 + min(tallest, 0.96) * lines * width / columns)
    small = width / columns < 3.4
    points = sum(len(each.y) for each in embeddings)
    several = any(each.is_test.any() and not each.is_test.all() for each in embeddings)
    for place, each in enumerate(embeddings, start=1):
        flat = {"projection": "3d"} if each.dimension == 3 else {}
        axes: Any = figure.add_subplot(lines, columns, place, **flat)
        _panel(axes, each, rasterized=points > _MOST_SHAPES, size=3.4 if small else 4.2)
        _heading(axes, each, width / columns)
    figure.suptitle(run_title(run, width), fontsize=11, weight="bold")
    legend_below(figure, _handles(embeddings, several=several))
    return figure


def _heading(axes: Any, embedding: Embedding, width: float) -> None:
    wrapped = "\n".join(textwrap.wrap(embedding.title, int(width * 11)))
    scores = "\n".join(textwrap.wrap(", ".join(embedding.scores), int(width * 13)))
    if embedding.dimension == 3:
        # Above the cube's far corner, which leaves room there; the layout knows of no titles.
        axes.text2D(0.0, 1.0, wrapped, transform=axes.transAxes, va="top", weight="bold", size=9.5)
        drop = 0.06 * (wrapped.count("\n") + 1)
        axes.text2D(
            0.0, 1.0 - drop, scores, transform=axes.transAxes, va="top", size=8, color=_SOFT
        )
        return
    # The title stands above the scores, each in its own weight.
    lines = scores.count("\n") + 1 if scores else 0
    axes.set_title(wrapped, loc="left", weight="bold", pad=6 + 10.5 * lines)
    if scores:
        # In points above the panel, as its size is not known yet.
        axes.annotate(
            scores,
            (0, 1),
            (0, 4),
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize=8,
            color=_SOFT,
            annotation_clip=False,
        )


def _kinds(embedding: Embedding) -> list[_Kind]:
    """Return what the points are told apart by; markers run on within a class."""
    found = []
    for code, name in enumerate(embedding.classes):
        look = class_look(code)
        own = _subclasses_of(embedding, code)
        if len(own) < 2:
            found.append(_Kind(code, None, name, look.colour, look.marker))
            continue
        assert embedding.subclass_names is not None
        for place, subclass in enumerate(own):
            marker = class_look(code + 3 * place).marker
            text = f"{name}: {embedding.subclass_names[subclass]}"
            found.append(_Kind(code, subclass, text, look.colour, marker))
    if (embedding.y < 0).any():
        found.append(_Kind(-1, None, "unlabelled", NEUTRAL, "."))
    return found


def _subclasses_of(embedding: Embedding, code: int) -> list[int]:
    if embedding.subclasses is None:
        return []
    own = embedding.subclasses[(embedding.y == code) & (embedding.subclasses >= 0)]
    return sorted({int(value) for value in own})


def _members(embedding: Embedding, kind: _Kind) -> NDArray[np.bool_]:
    rows: NDArray[np.bool_] = embedding.y == kind.code
    if kind.subclass is not None and embedding.subclasses is not None:
        rows &= embedding.subclasses == kind.subclass
    return rows


def _parts(embedding: Embedding) -> Iterator[tuple[NDArray[np.bool_], float]]:
    """Yield training and test points with their opacity, the more important ones last."""
    if embedding.is_test.any() and not embedding.is_test.all():
        yield ~embedding.is_test, _PALE
        yield embedding.is_test, _SOLID
    else:
        yield np.ones(len(embedding.y), dtype=bool), _SOLID if len(embedding.y) < 800 else 0.65


def _panel(axes: Any, embedding: Embedding, *, rasterized: bool, size: float) -> None:
    kinds = _kinds(embedding)
    places = _places(embedding, kinds)
    for rows, opacity in _parts(embedding):
        # Pale colours, not clear ones: dense parts would grow as dark as test points.
        for kind in kinds:
            own = places[rows & _members(embedding, kind)]
            axes.plot(
                *own.T,
                linestyle="",
                marker=kind.marker,
                markersize=size,
                color=kind.colour,
                alpha=opacity,
                markeredgewidth=0.25,
                markeredgecolor="white",
                rasterized=rasterized,
            )
    axes.grid(visible=False)
    if embedding.dimension == 1:
        _strips(axes, embedding, kinds)
        return
    ticks = [axes.xaxis, axes.yaxis, *([axes.zaxis] if embedding.dimension == 3 else [])]
    for axis in ticks:
        # An embedding has no unit: what counts is what lies where.
        axis.set_ticks([])
    if embedding.dimension == 2:
        axes.spines[:].set_visible(True)
        axes.spines[:].set_color("#bbbbbb")
    else:
        axes.set_box_aspect((1, 1, 1), zoom=1.05)
        # By depth, the class's own points would vanish among the others.
        axes.computed_zorder = False
        axes.view_init(elev=22, azim=-60)
    _prototypes(axes, embedding)


def _places(embedding: Embedding, kinds: Sequence[_Kind]) -> NDArray[np.float64]:
    """Return where points are drawn: those of one dimension scattered over their kind's strip."""
    if embedding.dimension > 1:
        return embedding.coordinates
    # A low-discrepancy sequence fills a strip evenly and is the same in every run.
    jitter = (np.arange(len(embedding.y)) * 0.6180339887498949) % 1.0 - 0.5
    lane = np.zeros(len(embedding.y))
    for place, kind in enumerate(kinds):
        lane[_members(embedding, kind)] = place
    return np.column_stack([embedding.coordinates[:, 0], lane + 0.7 * jitter])


def _strips(axes: Axes, embedding: Embedding, kinds: Sequence[_Kind]) -> None:
    axes.set_yticks(range(len(kinds)), [textwrap.shorten(kind.name, 18) for kind in kinds])
    axes.set_ylim(len(kinds) - 0.4, -0.6)
    axes.set_xticks([])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    if embedding.prototypes is not None:
        for code, prototype in enumerate(embedding.prototypes):
            axes.axvline(prototype[0], color=class_look(code).colour, linewidth=1.2, zorder=1)


def _prototypes(axes: Any, embedding: Embedding) -> None:
    if embedding.prototypes is None:
        return
    for code, prototype in enumerate(embedding.prototypes):
        if not np.isfinite(prototype).all():
            continue
        look = class_look(code)
        axes.plot(
            *[[value] for value in prototype],
            marker="*",
            markersize=16,
            color=look.colour,
            markeredgecolor="black",
            markeredgewidth=0.9,
            path_effects=[withStroke(linewidth=3.5, foreground="white")],
            zorder=10,
        )
        text = axes.text if embedding.dimension == 3 else axes.annotate
        label = textwrap.shorten(embedding.classes[code], 16)
        style: dict[str, Any] = {"fontsize": 9.5, "weight": "bold", "zorder": 11, "color": "black"}
        style["path_effects"] = [withStroke(linewidth=2.5, foreground="white")]
        if embedding.dimension == 3:
            text(*prototype, f"  {label}", **style)
        else:
            text(label, tuple(prototype), (6, 5), textcoords="offset points", **style)


def _handles(embeddings: Sequence[Embedding], *, several: bool) -> list[Any]:
    kinds = list(dict.fromkeys(kind for each in embeddings for kind in _kinds(each)))
    handles: list[Any] = [
        _dot(kind.colour, kind.marker, textwrap.shorten(kind.name, 32)) for kind in kinds[:_MANY]
    ]
    if several:
        handles.append(_dot(NEUTRAL, "o", "training point", alpha=_PALE))
        handles.append(_dot(NEUTRAL, "o", "test point", alpha=_SOLID))
    if any(each.prototypes is not None and each.dimension > 1 for each in embeddings):
        handles.append(_dot(NEUTRAL, "*", "the class's own point", size=11))
    return handles


def _dot(colour: str, marker: str, label: str, *, alpha: float = 1.0, size: float = 6.0) -> Line2D:
    return Line2D(
        [],
        [],
        linestyle="",
        marker=marker,
        color=colour,
        alpha=alpha,
        markersize=size,
        label=label,
    )
