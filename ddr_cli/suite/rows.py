"""A suite's rows as one tidy table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ddr_cli.comparison.names import lower_is_better, method_name, setting_text
from ddr_cli.comparison.runs import split_number, split_sizes
from ddr_cli.core.errors import InputError
from ddr_cli.rows.log import OK, TRIAL_FILE, read_trials
from ddr_cli.rows.manifest import MANIFEST, Manifest, read_manifest
from ddr_cli.spec.budgets import ALL, LABELS
from ddr_cli.spec.controls import SEEN
from ddr_cli.spec.feasible import WIDTH
from ddr_cli.spec.sweeps import TRAIN
from ddr_cli.suite.definition import Suite
from ddr_cli.suite.published import NO_ROWS

_WIDTH_COLUMN = f"reducer.{WIDTH}"
_CARRIED = ("split", "split_hash", "status", "reason", "fit_seconds", "eval_seconds")
_SOMETIMES = ("tune_seconds", SEEN)

SELECTED = "selected on inner folds"
"""Instead of a classifier: the one with the best inner score of each method and split."""


def folders_of(
    suite: Suite, folder: Path, *, tracks: Sequence[str] = (), only: Sequence[str] = ()
) -> dict[Path, Manifest]:
    """Return the manifests of the folders that have rows of this suite's version and data."""
    found = {}
    for name, (_, dataset) in suite.parts(tracks=tracks, datasets=only).items():
        if not all((folder / name / file).is_file() for file in (MANIFEST, TRIAL_FILE)):
            continue
        manifest = read_manifest(folder / name)
        made_for = (manifest.spec.get("suite") or {}).get("version")
        fingerprints = {suite.fingerprint_of(dataset), manifest.data and manifest.data.fingerprint}
        if made_for == suite.version and len(fingerprints - {None}) < 2:
            found[folder / name] = manifest
    return found


def suite_rows(suite: Suite, folders: Mapping[Path, Manifest]) -> pd.DataFrame:
    """Return the rows in these folders of the suite's methods in their present versions.

    There is one per method, classifier, split, and tuned or default setting.

    Added to the trial log's columns are `track`, the labels of `method` and `classifier`, `tuned`,
    `setting` (the selected values of a tuned method), `width` (n_components), `train` (the size of
    the training set in a track of sizes), `labels`, `control`, the measures' scores, `inner_loss`
    (the mean score on the inner folds, lower is better), `n_train` (the mean size of the training
    sets, missing if unknown), the parameters that are tuned, and `floor_<metric>`, the score of the
    majority-class baseline.
    """
    tables = [table for each in folders.items() if len(table := rows_in(*each))]
    if not tables:
        raise InputError(NO_ROWS)
    rows = pd.concat(tables, ignore_index=True)
    known = {*suite.methods, *(name for track in suite.tracks.values() for name in track.controls)}
    now = {name: suite.version_of(name) for name in rows["method"].unique() if name in known}
    version = rows["method_version"]
    return rows[version.isna() | (version == rows["method"].map(now))].reset_index(drop=True)


def rows_in(folder: Path, manifest: Manifest) -> pd.DataFrame:
    """Return the rows of one folder, as `suite_rows` does."""
    spec, trials = manifest.spec, read_trials(folder, which="all")
    own = trials["reducer_label"].map(_labels(spec["reducers"])).to_list()
    scorers = _labels([*spec["classifiers"], *spec["measures"]])
    grids = {each["label"]: [*each["grids"]] for each in spec["reducers"]}
    sizes = split_sizes(manifest, spec["split"]["kind"])

    def column(name: str) -> pd.Series[Any]:
        found: pd.Series[Any] = trials.get(name, pd.Series(None, trials.index, dtype=object))
        return found

    found: dict[str, Any] = {
        **_origin(manifest),
        "method": own,
        "method_version": [manifest.versions.get(name) for name in own],
        "classifier": trials["classifier_label"].map(scorers),
        "tuned": column("tuned").notna(),
        LABELS: column(LABELS).astype(object).fillna(ALL),
        "control": trials["control"],
        "n_train": sizes[0] if sizes else np.nan,
        "setting": settings_of(trials, own, grids),
        "train": column(TRAIN),
        "width": column(_WIDTH_COLUMN),
        **{name: column(name) for name in (*_CARRIED, *_SOMETIMES, *spec["metrics"])},
        "inner_loss": column("inner_score").astype(float),
    }
    for name in dict.fromkeys(f"reducer.{name}" for each in grids.values() for name in each):
        found[name] = column(name).astype(object)
    if spec["tune"] and not lower_is_better(str(spec["tune"]["metric"])):
        found["inner_loss"] *= -1
    # A measure has values in its own column only.
    scored = trials["classifier"].isin([each["name"] for each in spec["classifiers"]])
    for metric in spec["metrics"]:
        if trials.loc[scored, metric].notna().any():
            found[f"floor_{metric}"] = manifest.majority.get(metric)
    return pd.DataFrame(found, index=trials.index)


def _labels(items: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the label of each method by its name in tables."""
    return {method_name(each["label"]): each["label"] for each in items}


def _origin(manifest: Manifest) -> dict[str, Any]:
    suite, data = manifest.spec["suite"], manifest.data
    return {
        "suite": suite["name"],
        "version": suite["version"],
        "track": suite["track"],
        "dataset": data.name if data else "",
        "fingerprint": data.fingerprint if data else "",
    }


def finished_splits(rows: pd.DataFrame) -> dict[str, int]:
    """Return, by data set, the number of leading splits that all its methods have finished."""
    finished = {}
    for dataset, own in rows.groupby("dataset", sort=False):
        counts = pd.crosstab(own["split"], own["method"])
        whole = (counts == counts.max()).all(axis=1)
        finished[str(dataset)] = int(whole[sorted(whole.index, key=split_number)].cumprod().sum())
    return finished


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
