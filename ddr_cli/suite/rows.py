"""A suite's rows as one tidy table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ddr_cli.comparison.against_controls import largest_class_score
from ddr_cli.comparison.names import lower_is_better, setting_text
from ddr_cli.comparison.runs import split_sizes
from ddr_cli.core.errors import InputError
from ddr_cli.rows.log import OK
from ddr_cli.rows.manifest import read_manifest
from ddr_cli.spec.budgets import ALL, LABELS
from ddr_cli.spec.controls import SEEN
from ddr_cli.spec.feasible import WIDTH
from ddr_cli.suite.published import NO_ROWS
from ddr_cli.suite.remaining import SuitePart

_WIDTH_COLUMN = f"reducer.{WIDTH}"
_CARRIED = ("split", "split_hash", "status", "reason", "fit_seconds", "eval_seconds")
_SOMETIMES = ("tune_seconds", SEEN)

SELECTED = "selected on inner folds"
"""Instead of a classifier: the one with the best inner score of each method and split."""


def suite_rows(parts: Sequence[SuitePart]) -> pd.DataFrame:
    """Return all current rows: one per method, classifier, split, and tuned or default setting.

    Added to the journal's columns are `track`, the labels of `method` and `classifier`, `tuned`,
    `setting` (the selected values of a tuned method), `width` (n_components), `train` (the size of
    the training set in a track of sizes), `labels`, `control`, the measures' scores, `inner_loss`
    (the mean score on the inner folds, lower is better), `n_train` (the mean size of the training
    sets, missing if unknown), and `floor_<metric>`, the
    score of the majority-class baseline.
    """
    tables = [_rows_of(part) for part in parts if part.status]
    if not tables:
        raise InputError(NO_ROWS)
    return pd.concat(tables, ignore_index=True)


def _rows_of(part: SuitePart) -> pd.DataFrame:
    trials = part.trials
    sizes = split_sizes(read_manifest(part.folder), part.spec.split.kind)
    cells = [part.plan.trials[trial] for trial in trials.index]
    found: dict[str, Any] = {
        "suite": part.spec.suite.name if part.spec.suite else "",
        "version": part.spec.suite.version if part.spec.suite else 0,
        "track": part.track,
        "dataset": part.dataset,
        "fingerprint": part.plan.data.fingerprint,
        "method": [cell.reducer.label for cell in cells],
        "method_version": [
            part.spec.version_of(cell.reducer.name, cell.reducer.version) for cell in cells
        ],
        "classifier": [cell.evaluator.label for cell in cells],
        "tuned": [cell.tuning is not None for cell in cells],
        LABELS: [ALL if cell.labels is None else cell.labels for cell in cells],
        "control": [cell.role for cell in cells],
        "n_train": sizes[0] if sizes else np.nan,
    }
    found["setting"] = settings_of(trials, found["method"], part.grids)
    found["train"] = [cell.split.train for cell in cells]
    found["width"] = trials[_WIDTH_COLUMN].to_numpy() if _WIDTH_COLUMN in trials else None
    for name in (*_CARRIED, *_SOMETIMES, *part.spec.metrics):
        found[name] = trials[name].to_numpy() if name in trials else None
    found["inner_loss"] = np.nan
    if "inner_score" in trials and part.spec.tune is not None:
        lower = lower_is_better(str(part.spec.tune.metric))
        found["inner_loss"] = trials["inner_score"].to_numpy() * (1 if lower else -1)
    for metric in part.spec.classifier_metrics:
        found[f"floor_{metric}"] = largest_class_score(part.spec, metric)
    return pd.DataFrame(found)


def settings_of(
    trials: pd.DataFrame, methods: Sequence[str], grids: Mapping[str, Iterable[str]]
) -> list[str]:
    """Return the values of each method's parameters with grids and of n_components, as text."""
    open_ones = {
        label: [f"reducer.{name}" for name in dict.fromkeys([WIDTH, *names])]
        for label, names in grids.items()
    }
    values: dict[str, list[Any]] = {
        name: trials[name].astype(object).where(trials[name].notna(), None).to_list()
        for name in {name for names in open_ones.values() for name in names}
        if name in trials
    }
    return [
        setting_text(
            {
                name: values[name][row]
                for name in open_ones.get(method, ())
                if name in values and values[name][row] is not None
            }
        )
        for row, method in enumerate(methods)
    ]


def with_selected_classifier(rows: pd.DataFrame) -> pd.DataFrame:
    """Add, to tuned rows of several classifiers, those of the one that the inner folds select.

    Its time is that of all of them.
    """
    own = rows[rows["tuned"] & (rows["control"] == "") & (rows[LABELS] == ALL)]
    found = [rows]
    for _, part in own.groupby("track", sort=False):
        shared = shared_classifiers(part)
        if len(shared) < 2 or part["method"].nunique() < 2:
            continue
        part = part[part["classifier"].isin(shared)].reset_index(drop=True)
        keys = ["dataset", "split", "split_hash", "method"]
        found.append(selected(part, keys).assign(classifier=SELECTED))
    return pd.concat(found, ignore_index=True)


def selected(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return, of rows with equal keys, the one with the best inner score and the time of all."""
    # If no row has an inner score, all have failed, and any of them can be taken.
    loss = rows["inner_loss"].fillna(np.inf)
    best = rows.loc[loss.groupby([rows[key] for key in keys], sort=False).idxmin()]
    spent = rows.groupby(keys, sort=False)["tune_seconds"].sum()
    return best.assign(tune_seconds=spent.to_numpy())


def failures(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the number of failed rows by method, track, data set and reason."""
    bad = rows[rows["status"] != OK]
    by = ["method", "track", "dataset", "status", "reason"]
    return bad.groupby(by, sort=False).size().rename("rows").reset_index()


def seconds_of(rows: pd.DataFrame) -> pd.Series[float]:
    """Return the CPU seconds of each row's fit, including tuning."""
    return rows["fit_seconds"].fillna(0) + pd.to_numeric(rows["tune_seconds"]).fillna(0)


def shared_classifiers(rows: pd.DataFrame) -> list[str]:
    """Return the classifiers that score all methods."""
    counts = rows.groupby("classifier", sort=False)["method"].nunique()
    return [str(name) for name, n in counts.items() if n == counts.max()]


def long_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row per trial and metric, with self-explanatory column names."""
    metrics = [name[6:] for name in map(str, rows.columns) if name.startswith("floor_")]
    spent = seconds_of(rows)
    kept = ["suite", "version", "track", "dataset", "fingerprint", "method", "method_version"]
    kept += ["classifier", "tuned", "labels", "control", "setting", "split", "split_hash"]
    table = rows[kept].assign(
        # The rows of a submitted method have no version.
        method_version=rows["method_version"].astype("Int64"),
        status=rows["status"],
        fit_seconds=spent.round(6),
        predict_seconds=rows["eval_seconds"],
    )
    by_metric = [table.assign(metric=name, value=rows[name]) for name in metrics]
    return pd.concat(by_metric).sort_index(kind="stable").reset_index(drop=True)
