"""The stored embeddings of a run as tables for its chart and its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ddr_cli.charts import style
from ddr_cli.charts.embeddings import embeddings
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
from ddr_cli.engine.kept_samples import generated_samples
from ddr_cli.rows import embeddings as kept_files
from ddr_cli.rows.embeddings import KeptEmbedding
from ddr_cli.spec.components import Item

_MOST_SCORES = 4
_NO_DIRECTION = (np.nan, np.nan)


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
    coordinates: NDArray[np.float64]
    prototypes: NDArray[np.float64] | None
    direction: NDArray[np.float64] | None = None
    mark: str = ""

    @property
    def dimension(self) -> int:
        """How many coordinates are drawn."""
        return int(self.coordinates.shape[1])

    @cached_property
    def samples(self) -> pd.DataFrame:
        """The samples: coordinates, ``test``, and the name and look of a class or sub-class."""
        kept = self.kept
        columns = ["x", "y", "z"][: self.dimension]
        rows = pd.DataFrame(self.coordinates, columns=columns).reindex(columns=["x", "y", "z"])
        rows["test"] = [part == "test" for part in kept.part]
        y = np.asarray(kept.y, dtype=np.int64)
        subclasses = np.asarray(kept.subclasses if kept.subclass_names else np.full(len(y), -1))
        looks = _group_looks(kept, y, subclasses)
        # A class with several sub-classes is shown as these.
        keys = [
            (code, sub) if (code, sub) in looks else (code, -1)
            for code, sub in zip(y.tolist(), subclasses.tolist(), strict=True)
        ]
        order = {key: place for place, key in enumerate(looks)}
        rows["code"] = [order[key] for key in keys]
        return rows.join(pd.DataFrame([looks[key] for key in keys]))

    @property
    def centres(self) -> pd.DataFrame:
        """The prototypes of classes: coordinates, ``name`` and ``colour``."""
        columns = ["x", "y", "z"][: self.dimension]
        rows = pd.DataFrame(self.prototypes, columns=columns).reindex(columns=["x", "y", "z"])
        names = self.kept.classes[: len(rows)]
        return rows.assign(
            name=names, colour=[style.class_look(i).colour for i in range(len(rows))]
        )


def _group_looks(
    kept: KeptEmbedding, y: NDArray[np.int64], subclasses: NDArray[np.int64]
) -> dict[tuple[int, int], dict[str, str]]:
    """Return the names and looks of groups: a marker per class, a colour per sub-class."""
    found: dict[tuple[int, int], dict[str, str]] = {}
    for code, name in enumerate(kept.classes):
        marker = style.class_look(code).marker
        own = np.unique(subclasses[(y == code) & (subclasses >= 0)]).tolist()
        for sub in own if len(own) > 1 else [-1]:
            short = str(kept.subclass_names[sub]) if sub >= 0 and kept.subclass_names else str(name)
            group = short if sub < 0 else f"{short} (class {name})"
            colour = style.class_look(len(found)).colour
            found[code, sub] = {"group": group, "short": short, "colour": colour, "marker": marker}
    unlabelled = {"group": "unlabelled", "short": "unlabelled"}
    found[-1, -1] = unlabelled | {"colour": style.NEUTRAL, "marker": "."}
    return found


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
    points = generated_samples(summary.run.spec, identity)
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
        coordinates[:, :shown],
        None if prototypes is None else np.asarray(prototypes, dtype=float)[:, :shown],
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


def draw_embeddings(summary: Summary, shown: Sequence[DrawnEmbedding], finding: str) -> Figure:
    """Draw stored embeddings, with the values measured on them."""
    note = _scores_note(summary)
    panels = [
        {
            "title": each.title,
            "scores": "\n".join(filter(None, [", ".join(each.scores), each.mark])),
            **dict(
                zip(
                    ("dx", "dy"),
                    each.direction if each.direction is not None else _NO_DIRECTION,
                    strict=True,
                )
            ),
        }
        for each in shown
    ]
    told = (", ".join(filter(None, [each["title"], each["scores"]])) for each in panels)
    words = style.Words(
        summary.run.title,
        finding,
        f"One marker per sample, one panel per method: {'; '.join(told)}. {note}".strip(),
        legend=[style.legend_entry(note)] if note else [],
    )
    samples, centres = (
        pd.concat([getattr(each, name).assign(panel=place) for place, each in enumerate(shown)])
        for name in ("samples", "centres")
    )
    return embeddings(samples, words, panels=pd.DataFrame(panels), centres=centres)


def _scores_note(summary: Summary) -> str:
    """Return what the scores below the titles are: means over splits, or medians over starts."""
    rows = summary.methods
    if rows.empty or rows["planned"].max() < 2:
        return ""
    row = rows.iloc[0]
    middle = "medians" if row["split"] == "whole" else "means"
    return f"numbers in titles: {middle} over {family_name(row['split'], int(row['planned']))}"
