"""The embeddings that a run kept, each matched with what the run measured on it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ddr_cli.comparison.names import method_name, metric_name, number, parameter_name, plain
from ddr_cli.comparison.runs import split_family
from ddr_cli.comparison.summary import Item, Summary, find_item, same_value, swept_columns
from ddr_cli.core.errors import InputError
from ddr_cli.engine.embeddings import FOLDER

if TYPE_CHECKING:
    from numpy.typing import NDArray


_MOST_SCORES = 4


@dataclass(frozen=True, eq=False)
class Embedding:
    """One reducer's points on the first split.

    Parameters
    ----------
    title : str
        The method, with its swept parameters and what is left out of its dimensions.
    scores : tuple of str
        What the run says of it, such as ``error 5.30 %``.
    classes : tuple of str
        The names of the classes.
    y : ndarray of shape (n,)
        The class of each point, as an index of `classes`; -1 where it has none.
    is_test : ndarray of bool, shape (n,)
        Which points are test points.
    coordinates : ndarray of shape (n, 1), (n, 2) or (n, 3)
        The points.
    prototypes : ndarray or None
        A point per class.
    subclass_names : tuple of str or None
        The names of the sub-classes of merged classes.
    subclasses : ndarray of shape (n,) or None
        The sub-class of each point.
    """

    title: str
    scores: tuple[str, ...]
    classes: tuple[str, ...]
    y: NDArray[np.int64]
    is_test: NDArray[np.bool_]
    coordinates: NDArray[np.float64]
    prototypes: NDArray[np.float64] | None
    subclass_names: tuple[str, ...] | None
    subclasses: NDArray[np.int64] | None

    @property
    def dimension(self) -> int:
        """How many coordinates are drawn."""
        return int(self.coordinates.shape[1])


def read_embeddings(summary: Summary) -> list[Embedding]:
    """Return the embeddings that a run kept, in the order of the spec's reducers.

    Raises
    ------
    InputError
        If one of the files is damaged.
    """
    run = summary.run
    found = []
    for path in sorted((run.folder / FOLDER).glob("*.json")):
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            params = {f"reducer.{name}": value for name, value in content["params"].items()}
            setting = {"reducer": content["reducer"], "reducer.mode": content["mode"], **params}
            matched = find_item(run, "reducer", setting)
            if matched is None:
                # What an earlier version of the spec has left behind.
                continue
            place, item = matched
            key = (place, int(content["n_components"]), path.name)
            found.append((key, _embedding(summary, item, content)))
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise InputError(
                f"{path} is damaged ({error}). Delete it and run the spec again: 'ddr run "
                f"{run.name}' makes it anew."
            ) from None
    return [each for _, each in sorted(found, key=lambda item: item[0])]


def _embedding(summary: Summary, item: Item, content: Mapping[str, Any]) -> Embedding:
    coordinates = np.asarray(content["coordinates"], dtype=float)
    if coordinates.ndim != 2 or not 1 <= coordinates.shape[1] <= 3:
        raise ValueError("its coordinates are no table of one to three columns")
    y = np.asarray(content["y"], dtype=np.int64)
    if len(y) != len(coordinates) or len(content["part"]) != len(y):
        raise ValueError("it has not as many labels as points")
    whole = int(content["n_components"])
    # Three of many directions are no space of their own; the first two are the plane that the
    # method thinks most of.
    shown = coordinates.shape[1] if whole <= 3 else 2
    prototypes, names = content.get("prototypes"), content.get("subclass_names")
    return Embedding(
        _title(summary, item, content, shown, whole),
        tuple(_scores(summary, item, content)),
        tuple(str(name) for name in content["classes"]),
        y,
        np.asarray([part == "test" for part in content["part"]]),
        coordinates[:, :shown],
        None if prototypes is None else np.asarray(prototypes, dtype=float)[:, :shown],
        None if names is None else tuple(str(name) for name in names),
        None if names is None else np.asarray(content["subclasses"], dtype=np.int64),
    )


def _title(summary: Summary, item: Item, content: Mapping[str, Any], shown: int, whole: int) -> str:
    swept = [
        f"{parameter_name(name, short=True)} = {plain(content['params'][key])}"
        for name in swept_columns(summary.run)
        if (key := name.partition(".")[2]) in content["params"] and name.startswith("reducer.")
    ]
    left_out = [f"first {shown} of {whole} dimensions"] if shown < whole else []
    return ", ".join([method_name(item.label), *swept, *left_out])


def _scores(summary: Summary, item: Item, content: Mapping[str, Any]) -> list[str]:
    """Return the means of the splits' family that the embedding belongs to."""
    params = {f"reducer.{name}": value for name, value in content["params"].items()}
    params |= {"reducer.mode": content["mode"], "reducer.n_components": content["n_components"]}
    rows = summary.rows[
        (summary.rows["reducer"] == item.name)
        & (summary.rows["split"] == split_family(content["split"]))
    ]
    for name, value in params.items():
        # A method without the number of dimensions as a parameter has none in the table.
        if name in rows and name.partition(".")[2] in {*content["params"], "mode"}:
            rows = rows[[same_value(found, value) for found in rows[name]]]
    several = rows["classifier_label"].nunique() > 1
    scores = []
    for label, metric, mean in zip(
        rows["classifier_label"], rows["metric"], rows["mean"], strict=True
    ):
        words = metric_name(metric)
        # A measure is named after its metric, or nearly so.
        told = several and words not in label and not summary.run.spec.measures
        scores.append(f"{label} {words}" if told else words)
        scores[-1] += f" {number(mean, metric)}"
    return _first(scores)


def _first(scores: Sequence[str]) -> list[str]:
    """Return what fits under a title; with a swept judge there may be too many."""
    return list(scores) if len(scores) <= _MOST_SCORES else []
