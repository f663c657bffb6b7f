"""Draws stored embeddings: a panel per method, a colour and a marker per class."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from ddr_cli.comparison.names import (
    family_name,
    method_name,
    metric_name,
    number,
    parameter_name,
    plain,
)
from ddr_cli.comparison.runs import split_family
from ddr_cli.comparison.summary import Summary, find_item, same_value, swept_columns
from ddr_cli.figures.style import (
    NEUTRAL,
    UNDER_TEXT,
    class_look,
    legend_below,
    legend_entry,
    name_lines,
    new_figure,
    set_title,
)
from ddr_cli.rows import embeddings as kept_files
from ddr_cli.rows.embeddings import KeptEmbedding
from ddr_cli.rows.manifest import DataIdentity
from ddr_cli.spec import Spec
from ddr_cli.spec.components import Item

# If a figure has more points than this, they are drawn as a bitmap inside the SVG: as separate
# shapes, they would make the file megabytes large.
_MOST_SHAPES = 3000
_PALE, _SOLID = 0.35, 0.85
_COLUMNS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 3, 6: 3, 7: 4, 8: 4}
_MANY = 60
_NEAR = 0.06  # share of the panel
_MOST_SCORES = 4
_SOFT = "#333333"
_GENERATED = "generated"  # the licence in the cards of generated data
_OWN_POINT: dict[str, Any] = {
    "marker": "o",
    "markersize": 13,
    "markerfacecolor": "white",
    "markeredgewidth": 2.4,
}


@dataclass(frozen=True, eq=False)
class DrawnEmbedding:
    """One reducer's stored samples, the columns that are drawn, and the texts about it.

    `title` is the method with its swept parameters and the number of dimensions left out; `scores`
    has the measured values, such as ``error 5.30 %``. With a `direction`, the coordinates are those
    of the data, and the direction in their plane is the one that the method found.
    """

    title: str
    scores: tuple[str, ...]
    kept: KeptEmbedding
    y: NDArray[np.int64]
    is_test: NDArray[np.bool_]
    coordinates: NDArray[np.float64]
    prototypes: NDArray[np.float64] | None
    subclasses: NDArray[np.int64] | None
    direction: NDArray[np.float64] | None = None
    mark: str = ""

    @property
    def dimension(self) -> int:
        """How many coordinates are drawn."""
        return int(self.coordinates.shape[1])


def drawn_embeddings(
    summary: Summary, marks: Mapping[str, str] | None = None
) -> list[DrawnEmbedding]:
    """Return the stored embeddings of a run, in the order of the spec's reducers.

    The original data come first: the samples of ``none``, or generated data. Below a method is its
    rating from a paper's table of ratings, `marks`.
    """
    found = []
    for name, kept in kept_files.read_embeddings(summary.run.folder):
        params = {f"reducer.{key}": value for key, value in kept.params.items()}
        setting = {"reducer": kept.reducer, "reducer.mode": kept.mode, **params}
        matched = find_item(summary.run, "reducer", setting)
        # An embedding without a match was stored by an earlier version of the spec.
        if matched is not None:
            place, item = matched
            first = kept.reducer != "none"
            each = _embedding(summary, item, kept, (marks or {}).get(method_name(item.label), ""))
            found.append(((first, place, kept.n_components, name), each))
    return _with_data(summary, [each for _, each in sorted(found, key=lambda entry: entry[0])])


def _with_data(summary: Summary, found: list[DrawnEmbedding]) -> list[DrawnEmbedding]:
    """Add the original samples of generated data, and directions in their plane."""
    identity = summary.run.manifest.data
    if identity is None or not found:
        return found
    points = _generated_points(summary.run.spec, identity)
    # Embeddings stored by an earlier version of the spec may be of other samples.
    if points is None or any(each.kept.split_hash != points[0] for each in found):
        return found
    X = points[1]
    if X.shape[1] == 2:
        return [_in_plane(each, X) for each in found]
    if any(each.kept.reducer == "none" for each in found):
        return found
    first, n = found[0], min(X.shape[1], 2)
    title = f"the data: features 1 and 2 of {X.shape[1]}"
    data = replace(first, title=title, scores=(), mark="", coordinates=X[:, :n], prototypes=None)
    return [data, *found]


def _generated_points(spec: Spec, data: DataIdentity) -> tuple[str, NDArray[np.float64]] | None:
    """Return the features of the samples whose embeddings are stored, with the hash of their split.

    None for measured data, because a figure reads no data files.
    """
    # Importing these modules loads scikit-learn.
    from ddr_cli.data import load_card, load_dataset
    from ddr_cli.engine.plan.plan import make_plan
    from ddr_cli.engine.work.draws import Draws
    from ddr_cli.engine.work.schedule import kept_rows
    from ddr_cli.spec.components import ClassifierSpec, ReducerSpec
    from ddr_cli.spec.sweeps import TRAIN

    card = load_card(spec.card)
    if card.licence != _GENERATED or card.generate is None or spec.embeddings is None:
        return None
    dataset = load_dataset(spec.card, options=data.options)
    if dataset.fingerprint != data.fingerprint:
        return None
    # The samples do not depend on the methods. Placeholders are used because the methods of a spec
    # for an older `ddr` may have had other parameters.
    pieces = {"reducers": (ReducerSpec(name="none"),), "classifiers": (ClassifierSpec(name="knn"),)}
    sweep = {name: values for name, values in spec.sweep.items() if name == TRAIN}
    update = {**pieces, "measures": (), "controls": (), "tune": None, "sweep": sweep}
    plan = make_plan(spec.model_copy(update=update), data)
    split, seed, _ = Draws(plan, dataset)(next(iter(plan.fits)))
    rows = np.concatenate([split.train, split.test])
    kept = np.asarray(kept_rows(spec.embeddings.points, len(rows), seed), dtype=np.intp)
    return split.hash, np.asarray(dataset.X[rows[kept]], dtype=float)


def _in_plane(embedding: DrawnEmbedding, X: NDArray[np.float64]) -> DrawnEmbedding:
    """Return a linear embedding in one dimension as a direction in the plane of the data."""
    if embedding.dimension != 1:
        return embedding
    centred, places = X - X.mean(axis=0), embedding.coordinates[:, 0]
    direction = np.linalg.lstsq(centred, places - places.mean(), rcond=None)[0]
    left = places - places.mean() - centred @ direction
    length = np.linalg.norm(direction)
    # Coordinates are stored with five digits, so a linear map fits them only approximately.
    if not length or np.abs(left).max() > 1e-3 * np.ptp(places):
        return embedding
    return replace(embedding, coordinates=X, prototypes=None, direction=direction / length)


def _embedding(summary: Summary, item: Item, kept: KeptEmbedding, mark: str) -> DrawnEmbedding:
    swept = [
        f"{parameter_name(name, short=True)} = {plain(kept.params[key])}"
        for name in swept_columns(summary.run)
        if (key := name.partition(".")[2]) in kept.params and name.startswith("reducer.")
    ]
    titles = [method_name(item.label), *swept]
    coordinates = np.asarray(kept.coordinates, dtype=float)
    # An embedding with more than three dimensions is drawn as the plane of its first two, which the
    # method ranks highest.
    shown = coordinates.shape[1] if kept.n_components <= 3 else 2
    if shown < kept.n_components:
        titles.append(f"first {shown} of {kept.n_components} dimensions")
    prototypes = kept.prototypes
    return DrawnEmbedding(
        ", ".join(titles),
        tuple(_scores(summary, item, kept)),
        kept,
        np.asarray(kept.y, dtype=np.int64),
        np.asarray([part == "test" for part in kept.part]),
        coordinates[:, :shown],
        None if prototypes is None else np.asarray(prototypes, dtype=float)[:, :shown],
        None if kept.subclass_names is None else np.asarray(kept.subclasses, dtype=np.int64),
        mark=mark,
    )


def _scores(summary: Summary, item: Item, kept: KeptEmbedding) -> list[str]:
    """Return the values measured on the family of splits that the embedding belongs to."""
    rows = summary.methods
    rows = rows[(rows["reducer"] == item.name) & (rows["split"] == split_family(kept.split))]
    params = {"mode": kept.mode, **kept.params}
    if "n_components" in params:
        # Only methods with the parameter n_components have it in the table.
        params["n_components"] = kept.n_components
    for name, value in params.items():
        if f"reducer.{name}" in rows:
            rows = rows.loc[[same_value(each, value) for each in rows[f"reducer.{name}"]]]
    several = rows["classifier_label"].nunique() > 1
    scores = []
    for row in map(summary.row, rows.index):
        label, words = row["classifier_label"], metric_name(row["metric"])
        # The label of a measure already describes its metric.
        named = several and words not in label and not summary.run.spec.measures
        # Runs on all samples differ only in a method's random start, so their median is shown.
        middle = float(row.values.median() if row["split"] == "whole" else row["mean"])
        text = f"{label} {words}" if named else words
        scores.append(f"{text} {number(middle, row['metric'])}")
    # Scores are shown only if they fit under the title; a swept classifier can have too many.
    return scores if len(scores) <= _MOST_SCORES else []


def scores_note(summary: Summary) -> str:
    """Return what the scores below the titles are: means over splits, or medians over starts."""
    rows = summary.methods
    if rows.empty or rows["planned"].max() < 2:
        return ""
    row = rows.iloc[0]
    middle = "medians" if row["split"] == "whole" else "means"
    return f"numbers in titles: {middle} over {family_name(row['split'], int(row['planned']))}"


@dataclass(frozen=True, eq=False)
class PointGroup:
    """Samples with the same look: a class, or a sub-class with the marker of its class."""

    name: str
    short: str
    colour: str
    marker: str
    members: NDArray[np.bool_]


def draw_embeddings(
    title: str, finding: str, embeddings: Sequence[DrawnEmbedding], note: str = ""
) -> Figure:
    """Draw a panel per embedding: one dimension as strips, two as a plane, three in perspective.

    Training samples are pale if there are test samples too; prototypes are rings. `note` describes
    the numbers below the panels' titles.
    """
    columns = _COLUMNS.get(len(embeddings), 4)
    lines = -(-len(embeddings) // columns)
    width = {1: 6.4, 2: 8.4, 3: 10.6}.get(columns, 12.6)
    # Strips of one-dimensional embeddings need less height than other panels.
    strips = [len(point_groups(each)) if each.dimension == 1 else np.inf for each in embeddings]
    tallest = min(0.2 + 0.16 * max(strips), 0.96)
    figure = new_figure(width, 1.3 + tallest * lines * width / columns)
    small = width / columns < 3.4
    points = sum(len(each.y) for each in embeddings)
    several = any(each.is_test.any() and not each.is_test.all() for each in embeddings)
    for place, each in enumerate(embeddings, start=1):
        flat = {"projection": "3d"} if each.dimension == 3 else {}
        axes: Any = figure.add_subplot(lines, columns, place, **flat)
        _panel(axes, each, rasterized=points > _MOST_SHAPES, size=3.4 if small else 4.2)
        _heading(axes, each, width / columns)
    told = [filter(None, [each.title, *each.scores, each.mark]) for each in embeddings]
    panels = "; ".join(map(", ".join, told))
    words = f"One marker per sample, one panel per method: {panels}. {note}".strip()
    set_title(figure, title, finding, words)
    handles = _handles(embeddings, several=several)
    legend_below(figure, [*handles, *([legend_entry(note)] if note else [])])
    return figure


def _heading(axes: Any, embedding: DrawnEmbedding, width: float) -> None:
    wrapped = "\n".join(textwrap.wrap(embedding.title, int(width * 11)))
    told = (", ".join(embedding.scores), embedding.mark)
    scores = "\n".join(line for text in told for line in textwrap.wrap(text, int(width * 13)))
    if embedding.dimension == 3:
        # The text is placed above the cube's far corner, where there is room, because the layout
        # reserves none for titles of 3D panels.
        place: dict[str, Any] = {"transform": axes.transAxes, "va": "top"}
        axes.text2D(0.0, 1.0, wrapped, **place, weight="bold", size=9.5)
        drop = 0.06 * (wrapped.count("\n") + 1)
        axes.text2D(0.0, 1.0 - drop, scores, **place, size=8, color=_SOFT)
        return
    # Title and scores are separate texts, because only the title is bold.
    lines = scores.count("\n") + 1 if scores else 0
    axes.set_title(wrapped, loc="left", weight="bold", pad=6 + 10.5 * lines)
    if scores:
        # The offset is in points, because the size of the panel is not known yet.
        where = {"xycoords": "axes fraction", "textcoords": "offset points"}
        look = {"fontsize": 8, "color": _SOFT, "annotation_clip": False}
        axes.annotate(scores, (0, 1), (0, 4), **where, **look)


def point_groups(embedding: DrawnEmbedding) -> list[PointGroup]:
    """Return the groups of samples with their looks: a marker per class, a colour per sub-class."""
    found: list[PointGroup] = []
    subclasses, names = embedding.subclasses, embedding.kept.subclass_names
    for code, name in enumerate(embedding.kept.classes):
        members, marker = embedding.y == code, class_look(code).marker
        own: Sequence[int] = ()
        if subclasses is not None:
            own = np.unique(subclasses[members & (subclasses >= 0)]).tolist()
        if len(own) < 2 or names is None:
            found.append(PointGroup(name, name, class_look(len(found)).colour, marker, members))
            continue
        for subclass in own:
            part, text = names[subclass], f"{names[subclass]} (class {name})"
            colour, inside = class_look(len(found)).colour, members & (subclasses == subclass)
            found.append(PointGroup(text, part, colour, marker, inside))
    if (embedding.y < 0).any():
        found.append(PointGroup("unlabelled", "unlabelled", NEUTRAL, ".", embedding.y == -1))
    return found


def _parts(embedding: DrawnEmbedding) -> Iterator[tuple[NDArray[np.bool_], float]]:
    """Yield training and test samples with their opacity, the more important ones last."""
    if embedding.is_test.any() and not embedding.is_test.all():
        yield ~embedding.is_test, _PALE
        yield embedding.is_test, _SOLID
    else:
        yield np.ones(len(embedding.y), dtype=bool), _SOLID if len(embedding.y) < 800 else 0.65


def _panel(axes: Any, embedding: DrawnEmbedding, *, rasterized: bool, size: float) -> None:
    groups = point_groups(embedding)
    places = _places(embedding, groups)
    for rows, opacity in _parts(embedding):
        for group in groups:
            look = {"marker": group.marker, "color": group.colour, "alpha": opacity}
            look |= {"linestyle": "", "markersize": size, "rasterized": rasterized}
            look |= {"markeredgewidth": 0.25, "markeredgecolor": "white"}
            axes.plot(*places[rows & group.members].T, **look)
    axes.grid(visible=False)
    if embedding.dimension == 1:
        _strips(axes, embedding, groups)
        return
    # The coordinates have no unit, and only relative positions matter, so there are no ticks.
    axes.set(xticks=[], yticks=[])
    if embedding.dimension == 2:
        axes.spines[:].set_visible(True)
        axes.spines[:].set_color("#bbbbbb")
    else:
        axes.set_zticks([])
        axes.set_box_aspect((1, 1, 1), zoom=1.05)
        # If markers were sorted by depth, samples could hide the prototypes.
        axes.computed_zorder = False
        axes.view_init(elev=22, azim=-60)
    if embedding.direction is not None:
        _show_direction(axes, embedding.coordinates, embedding.direction)
    _prototypes(axes, embedding)


def _show_direction(axes: Axes, X: NDArray[np.float64], direction: NDArray[np.float64]) -> None:
    """Draw the line that samples are projected onto, without changing the panel's limits."""
    axes.set_aspect("equal", adjustable="datalim")
    axes.apply_aspect()
    ends = tuple(X.mean(axis=0)), tuple(X.mean(axis=0) + direction)
    outline = withStroke(linewidth=3.5, foreground="white")
    axes.axline(*ends, color="black", linewidth=1.6, path_effects=[outline], zorder=6)


def _places(embedding: DrawnEmbedding, groups: Sequence[PointGroup]) -> NDArray[np.float64]:
    """Return the positions of samples; one-dimensional ones are scattered over a strip."""
    if embedding.dimension > 1:
        return embedding.coordinates
    # A low-discrepancy sequence fills a strip evenly and is the same in every run.
    jitter = (np.arange(len(embedding.y)) * 0.6180339887498949) % 1.0 - 0.5
    lane = np.zeros(len(embedding.y))
    for place, group in enumerate(groups):
        lane[group.members] = place
    return np.column_stack([embedding.coordinates[:, 0], lane + 0.7 * jitter])


def _strips(axes: Axes, embedding: DrawnEmbedding, groups: Sequence[PointGroup]) -> None:
    name_lines(axes, [textwrap.fill(group.short, 18) for group in groups])
    axes.set_xticks([])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    if embedding.prototypes is not None:
        for code, prototype in enumerate(embedding.prototypes):
            axes.axvline(prototype[0], color=class_look(code).colour, linewidth=1.2, zorder=1)


def _prototypes(axes: Any, embedding: DrawnEmbedding) -> None:
    if embedding.prototypes is None:
        return
    names: dict[int, list[str]] = {}
    reach = _NEAR * np.ptp(embedding.coordinates, axis=0)
    for code, prototype in enumerate(embedding.prototypes):
        if not np.isfinite(prototype).all():
            continue
        at = [[value] for value in prototype]
        axes.plot(*at, **_OWN_POINT, markeredgecolor=class_look(code).colour, zorder=10)
        axes.plot(*at, marker="+", markersize=8, color="black", zorder=10.5)
        # Names of classes at almost the same place would cover each other.
        near = (i for i in names if (abs(embedding.prototypes[i] - prototype) < reach).all())
        names.setdefault(next(near, code), []).append(embedding.kept.classes[code])
    for code, together in names.items():
        prototype, label = embedding.prototypes[code], textwrap.shorten(", ".join(together), 24)
        style: dict[str, Any] = {"fontsize": 9.5, "weight": "bold", "zorder": 11, "color": "black"}
        style["bbox"] = UNDER_TEXT
        if embedding.dimension == 3:
            axes.text(*prototype, f"  {label}", **style)
            continue
        # The name is written towards the middle, so that it is not cut off at the panel's edge.
        left = prototype[0] > np.mean(axes.get_xlim())
        style |= {"ha": "right", "xytext": (-8, 6)} if left else {"xytext": (8, 6)}
        axes.annotate(label, tuple(prototype), textcoords="offset points", **style)


def _handles(embeddings: Sequence[DrawnEmbedding], *, several: bool) -> list[Any]:
    shown = (group for each in embeddings for group in point_groups(each))
    groups = dict.fromkeys((group.name, group.colour, group.marker) for group in shown)
    dot: dict[str, Any] = {"marker": "o", "markersize": 6.0, "alpha": 1.0}
    handles = [
        legend_entry(name, **dot | {"color": colour, "marker": marker})
        for name, colour, marker in list(groups)[:_MANY]
    ]
    dot["color"] = NEUTRAL
    if several:
        handles.append(legend_entry("training sample", **dot | {"alpha": _PALE}))
        handles.append(legend_entry("test sample", **dot | {"alpha": _SOLID}))
    if any(each.direction is not None for each in embeddings):
        handles.append(legend_entry("direction of the embedding", color="black", linestyle="-"))
    if any(each.prototypes is not None and each.dimension > 1 for each in embeddings):
        ring = {**_OWN_POINT, "markersize": 9, "markeredgecolor": NEUTRAL}
        handles.append(legend_entry("position of a class", **ring))
    return handles
