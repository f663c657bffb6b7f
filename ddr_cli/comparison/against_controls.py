"""Methods compared with their controls: scaled scores, and the effect of shuffled labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ddr_cli.comparison.runs import Run
from ddr_cli.comparison.summary import AXES, TUNED_SUFFIX, Row, Summary
from ddr_cli.spec.controls import FULL_FEATURES, SEEN, STRONG
from ddr_cli.spec.feasible import NOTHING

WITH_BASELINE = ("error", "accuracy", "balanced_accuracy")
"""Metrics whose value for the majority-class baseline follows from the sizes of the classes."""

AGREEMENTS = {"error": -1, "accuracy": 1}
"""Metrics that determine the accuracy, and the sign with which they enter it."""


def scaled(score: Any, low: Any, high: Any) -> Any:
    """Return scores scaled so that `low` is 0 and `high` is 1.

    Scores may be outside this range; the result is nan if both ends are equal. Either end may be
    better.

    >>> float(scaled(0.1, low=0.5, high=0.0))
    0.8
    """
    span = np.where(np.isclose(high, low, rtol=1e-9, atol=0), np.nan, np.subtract(high, low))
    return np.subtract(score, low) / span


@dataclass(frozen=True)
class AgainstControls:
    """A run's methods and their controls; `rows` has a row for each method at each setting.

    ``scaled`` is the mean, scaled so that `low`, the score of the majority-class baseline, is 0 and
    `high`, the score of the classifier on all features (named `strongest`), is 1. With budgets of
    labels, the scale of each budget has its own `high`; the attribute has the last one. ``seen``
    and ``held_out`` are the accuracies on permuted labels, in the set that the method was fitted to
    and in the other set. A method that ``failed`` on all ``n`` splits has only its ``mean``.
    """

    metric: str
    rows: pd.DataFrame
    low: float | None = None
    high: float | None = None
    strongest: str = ""


def against_controls(summary: Summary) -> AgainstControls | None:
    """Return a run's methods and their controls, over repeated splits; None without controls."""
    run = summary.run
    metric, family = run.spec.metrics[0], run.spec.split.kind
    if not run.spec.controls:
        return None
    methods = summary.methods
    methods = methods[(methods["metric"] == metric) & _of_kind(methods, family)]
    highs, strongest = _strongest(run, methods)
    low = run.majority(metric)
    agreements = _agreements(summary, family)
    records = []
    for index in methods.index:
        row = Row(summary, int(index))
        record: dict[str, object] = {
            "reducer": row["reducer_label"] + (TUNED_SUFFIX if row.is_tuned else ""),
            "classifier": row["classifier_label"],
            "setting": row.setting,
            "mean": row["mean"],
            "failed": row.failed,
            "n": row["n"],
        }
        records.append(record)
        if row.failed == row["n"]:
            continue
        high = highs.get(_place(row))
        if low is not None and high is not None:
            record["scaled"] = scaled(row["mean"], low, high)
        # Shuffled labels are only used at default settings, so tuned rows have no such control.
        if not row.is_tuned:
            record |= agreements.get(_key(row), {})
    if not records:
        return None
    columns = ["reducer", "classifier", "setting", "mean", "failed", "n"]
    columns += ["scaled", "seen", "held_out"]
    table = pd.DataFrame(records, columns=columns).dropna(axis="columns", how="all")
    last = list(highs.values())[-1] if highs else None
    return AgainstControls(metric, table, low, last, strongest)


def _of_kind(rows: pd.DataFrame, kind: str) -> pd.Series[bool]:
    """Return which rows are over splits of a kind, whatever the size of the training set."""
    return rows["split"].str.split("-").str[0] == kind


def _strongest(run: Run, methods: pd.DataFrame) -> tuple[dict[tuple[str, ...], float], str]:
    """Return the scores of the classifier on all features by labels and size, and its name."""
    if FULL_FEATURES not in run.spec.controls:
        return {}, ""
    names = [item.name for item in run.spec.classifiers if item.only_on == NOTHING] or STRONG
    found = methods[(methods["reducer"] == NOTHING) & methods["classifier"].isin(names)]
    if found.empty:
        return {}, ""
    found = found[found["classifier_label"] == found["classifier_label"].iloc[0]]
    axes = [name for name in AXES if name in found]
    places = list(map(tuple, found[axes].astype(str).to_numpy()))
    return dict(zip(places, found["mean"].astype(float), strict=True)), str(
        found["classifier_label"].iloc[0]
    )


def _place(row: Row) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in AXES if name in row.summary.rows)


def _agreements(summary: Summary, family: str) -> dict[tuple[object, ...], dict[str, float]]:
    found: dict[tuple[object, ...], dict[str, float]] = {}
    rows = summary.shuffled
    for index in rows.index[_of_kind(rows, family)]:
        row = Row(summary, int(index))
        if row.failed == row["n"]:
            continue
        own = found.setdefault(_key(row), {})
        if row["metric"] == SEEN:
            own["seen"] = 1 - row["mean"]
        elif row["metric"] in AGREEMENTS:
            own["held_out"] = row["mean"] if AGREEMENTS[row["metric"]] > 0 else 1 - row["mean"]
    return found


def _key(row: Row) -> tuple[object, ...]:
    return row["reducer_label"], row["classifier_label"], row.setting
