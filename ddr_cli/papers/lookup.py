"""The rows of our results to which a paper's file refers, in one of two views."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import pandas as pd

from ddr_cli.comparison.names import lower_is_better, method_name
from ddr_cli.comparison.runs import Run
from ddr_cli.comparison.summary import Row, Summary, same_value
from ddr_cli.papers.questions import (
    Near,
    NotApplicableError,
    NotSweptError,
    Selector,
    Swap,
    UnansweredError,
)

# A grid value is near a requested value if they differ by at most this factor.
_NEAR_FACTOR = 1.5

View = Literal["own", "resplits"]
VIEWS: tuple[View, View] = ("own", "resplits")
"""A view of a run: in the paper's own split or setting, or over repeated random splits."""

HEADINGS: Mapping[View, str] = {"own": "the paper's setting", "resplits": "re-splits"}

EntryT = TypeVar("EntryT")
VerdictT = TypeVar("VerdictT")


@dataclass(frozen=True)
class Judged(Generic[EntryT, VerdictT]):
    """An entry of a paper's file with its verdict in each view."""

    entry: EntryT
    own: VerdictT
    resplits: VerdictT

    def through(self, view: View) -> VerdictT:
        """Return the verdict in a view."""
        return self.own if view == "own" else self.resplits


def family_of(run: Run, view: View) -> str | None:
    """Return the run's family of splits in a view, None if it has none."""
    split = run.spec.split
    if view == "own":
        return "predefined" if split.predefined else split.kind
    return None if split.kind in ("predefined", "whole") else split.kind


@dataclass(frozen=True)
class Lookup:
    """Rows of one metric in one view; `default` is the run for selectors that name none.

    Over re-splits, `over` states which rows replace others.

    Its methods raise an `UnansweredError` if a run is missing or partial, nothing matches, or some
    trials of the matching rows failed.
    """

    summaries: Mapping[str, Summary]
    default: str
    view: View
    metric: str
    over: Swap | None = None

    def row(self, selector: Selector) -> Row:
        """Return the single row that a selector selects."""
        summary, rows = self._matching(selector)
        if len(rows) > 1 and selector.pick == "only":
            raise UnansweredError(
                f"{len(rows)} rows of {summary.run.name} match this entry; exactly one must match"
            )
        return self._best(summary, rows)

    def series(self, selector: Selector, along: str) -> list[tuple[float, Row]]:
        """Return the rows that a selector selects along a swept parameter, in its order."""
        summary, rows = self._matching(selector)
        places = summary.cells.get(along)
        if places is None or any(pd.isna(places[row]) for row in rows):
            raise NotSweptError(f"{summary.run.name} does not sweep {along} of {selector.reducer}")
        found: list[tuple[float, Row]] = []
        groups: dict[Any, list[int]] = {}
        for row in rows:
            groups.setdefault(places[row], []).append(row)
        for place, group in sorted(groups.items()):
            if len(group) > 1 and selector.pick == "only":
                raise UnansweredError(
                    f"{len(group)} rows of {summary.run.name} match this entry at {place}; "
                    "exactly one must match"
                )
            found.append((float(place), self._best(summary, group)))
        return found

    def _matching(self, selector: Selector) -> tuple[Summary, list[int]]:
        if self.view == "resplits" and self.over is not None:
            selector = self.over.applied(selector, self.default) or selector
        name = selector.spec or self.default
        if name not in self.summaries:
            raise UnansweredError(f"the spec {name} has no results; run it with 'ddr run {name}'")
        summary = self.summaries[name]
        run = summary.run
        if not run.is_complete:
            raise UnansweredError(f"the run of {name} is incomplete ({run.progress})")
        family = family_of(run, self.view)
        if family is None and run.spec.split.kind == "whole":
            raise NotApplicableError("all samples are embedded, so there is no held-out data")
        if family is None:
            raise UnansweredError("we ran only the predefined split, so there are no re-splits")
        names = (selector.reducer, selector.classifier, family, self.metric)
        rows = summary.by_names.get(names, [])
        if selector.label is not None:
            labels, label = summary.cells["reducer_label"], method_name(selector.label)
            rows = [row for row in rows if labels[row] == label]
        for column, value in selector.params.items():
            if column not in summary.cells:
                raise UnansweredError(f"the results of {name} have no column {column}")
            there, meant = summary.cells[column], value
            if isinstance(value, Near):
                meant = nearest_place([there[row] for row in rows], value.near)
            rows = [row for row in rows if same_value(there[row], meant)]
        if not rows:
            raise UnansweredError(f"no row in the results of {name} has this method and setting")
        return summary, rows

    def _best(self, summary: Summary, rows: Sequence[int]) -> Row:
        # Rows with missing or failed trials are rejected.
        found = [summary.row(row) for row in rows]
        complete = [row for row in found if row["n"] == row["planned"] and not row.failed]
        if not complete:
            worst = found[0]
            well = min(worst["n"], worst["planned"] - worst.failed)
            raise UnansweredError(f"only {well} of {worst['planned']} trials of this row succeeded")
        best = min if lower_is_better(self.metric) else max
        return best(complete, key=lambda row: row["mean"])


def nearest_place(places: Iterable[Any], target: float) -> float:
    """Return the grid value closest to `target`, by ratio if all are positive.

    It must be within a factor of 1.5; a value at or below zero must be equal.
    """
    numbers = sorted({float(place) for place in places if not pd.isna(place)})
    if not numbers:
        raise UnansweredError(f"the results have no grid of values in which to find {target:g}")

    def distance(place: float) -> float:
        if place > 0 and target > 0:
            return abs(math.log(place / target))
        return math.inf if place != target else 0.0

    best = min(numbers, key=distance)
    if distance(best) > math.log(_NEAR_FACTOR):
        raise UnansweredError(f"the grid has no value near {target:g}")
    return best
