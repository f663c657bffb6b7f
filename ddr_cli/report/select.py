"""Find the rows of our results that a paper's file speaks of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ddr_cli.papers.selectors import Near, Selector
from ddr_cli.report.names import family_name, lower_is_better, method_name, setting_text
from ddr_cli.report.runs import Run
from ddr_cli.report.summary import Summary, same_value

# A grid answers a question about a place on it when it has one within this factor.
_NEAR_FACTOR = 1.5


class UnansweredError(Exception):
    """Our results have no answer yet; the message says why, for the table."""


class NoQuestionError(UnansweredError):
    """The question makes no sense through this view, whatever is run."""


class NotSweptError(UnansweredError):
    """The rows have no value of the parameter that orders them."""


@dataclass(frozen=True)
class Row:
    """One row of one run's summary."""

    summary: Summary
    index: int

    def __getitem__(self, column: str) -> Any:
        return self.summary.rows.at[self.index, column]

    @property
    def family(self) -> str:
        """The family of splits."""
        return str(self["split"])

    @property
    def setting(self) -> str:
        """The swept parameters, such as ``β = 0.562``."""
        return setting_text(self.summary.setting(self.index))

    @property
    def title(self) -> str:
        """The method and its setting, such as ``CCDR, k-NN at β = 0.562``."""
        name = f"{self['reducer_label']}, {self['classifier_label']}"
        return f"{name} at {self.setting}" if self.setting else name

    def values(self) -> pd.DataFrame:
        """Return split, split_hash and value of its trials, in order of split."""
        return self.summary.values(self.index)


@dataclass(frozen=True)
class View:
    """A way to look at a run: through one family of its splits.

    Parameters
    ----------
    key : {"own", "resplits"}
        The paper's own split or setting, or repeated random splits.
    """

    key: str

    def family(self, run: Run) -> str | None:
        """Return the run's family of splits under this view, None if it has none."""
        split = run.spec.split
        if self.key == "own":
            return "predefined" if split.predefined else split.kind
        return None if split.kind in ("predefined", "whole") else split.kind

    def title(self, run: Run) -> str:
        """Return what a column of this view is headed with."""
        family = self.family(run)
        return "–" if family is None else family_name(family, run.planned_splits(family))


OWN, RESPLITS = View("own"), View("resplits")


def rows_for(
    summaries: Mapping[str, Summary], default: str, selector: Selector, view: View, metric: str
) -> tuple[Summary, pd.DataFrame]:
    """Return the rows that a selector matches, through one view.

    Raises
    ------
    UnansweredError
        If the run is missing or partial, or matches nothing.
    """
    name = selector.spec or default
    if name not in summaries:
        raise UnansweredError(f"no results yet: ddr run {name}")
    summary = summaries[name]
    run = summary.run
    if not run.is_complete:
        raise UnansweredError(run.progress)
    family = view.family(run)
    if family is None and run.spec.split.kind == "whole":
        raise NoQuestionError("all points are embedded: nothing to re-split")
    if family is None:
        raise UnansweredError("run on the predefined split only")
    rows = summary.rows
    rows = rows[
        (rows["reducer"] == selector.reducer)
        & (rows["classifier"] == selector.classifier)
        & (rows["split"] == family)
        & (rows["metric"] == metric)
    ]
    if selector.label is not None:
        rows = rows[rows["reducer_label"] == method_name(selector.label)]
    for column, wanted in selector.params.items():
        if column not in rows:
            raise UnansweredError(f"{name} has no parameter {column}")
        value = nearest_place(rows[column], wanted.near) if isinstance(wanted, Near) else wanted
        rows = rows[[same_value(found, value) for found in rows[column]]]
    if rows.empty:
        raise UnansweredError(f"{name} has no such row")
    return summary, rows


def single_row(
    summaries: Mapping[str, Summary], default: str, selector: Selector, view: View, metric: str
) -> Row:
    """Return the one row that a selector means.

    Raises
    ------
    UnansweredError
        If there is none or, for ``pick: only``, more than one, or some of its trials failed.
    """
    summary, rows = rows_for(summaries, default, selector, view, metric)
    if len(rows) > 1 and selector.pick == "only":
        raise UnansweredError(f"{len(rows)} rows of {summary.run.name} match, not one")
    return Row(summary, best_place(_whole(rows)["mean"], metric))


def series(
    summaries: Mapping[str, Summary],
    default: str,
    selector: Selector,
    along: str,
    view: View,
    metric: str,
) -> list[tuple[float, Row]]:
    """Return the rows that a selector means along a swept parameter, in its order.

    Raises
    ------
    UnansweredError
        As `single_row`, for each place; `NotSweptError` if the rows do not lie along it.
    """
    summary, rows = rows_for(summaries, default, selector, view, metric)
    if along not in rows or rows[along].isna().any():
        raise NotSweptError(f"{summary.run.name} does not sweep {along} of {selector.reducer}")
    found: list[tuple[float, Row]] = []
    for place, group in rows.groupby(along, sort=True):
        if len(group) > 1 and selector.pick == "only":
            raise UnansweredError(f"{len(group)} rows of {summary.run.name} match at {place}")
        row = Row(summary, best_place(_whole(group)["mean"], metric))
        found.append((float(place), row))  # type: ignore[arg-type]  # a number of the grid
    return found


def nearest_place(places: Iterable[Any], wanted: float) -> float:
    """Return the place of a grid closest to `wanted`, by ratio where all are positive.

    Raises
    ------
    UnansweredError
        If the grid has none within a factor of 1.5; a place at or below zero must be met.
    """
    numbers = sorted({float(place) for place in places if not pd.isna(place)})
    if not numbers:
        raise UnansweredError("no such parameter in the results")

    def distance(place: float) -> float:
        if place > 0 and wanted > 0:
            return abs(math.log(place / wanted))
        return math.inf if place != wanted else 0.0

    best = min(numbers, key=distance)
    if distance(best) > math.log(_NEAR_FACTOR):
        raise UnansweredError(f"the grid has no place near {wanted:g}")
    return best


def best_place(means: pd.Series[Any], metric: str) -> int:
    """Return the index label of the best mean, the first where several are equal."""
    best: Any = means.idxmin() if lower_is_better(metric) else means.idxmax()
    return int(best)


def _whole(rows: pd.DataFrame) -> pd.DataFrame:
    """Refuse rows some of whose trials did not end well: a part is not a result."""
    whole = rows[rows["n"] == rows["planned"]]
    if whole.empty:
        worst = rows.iloc[0]
        raise UnansweredError(f"{worst['n']} of {worst['planned']} trials ended well")
    return whole
