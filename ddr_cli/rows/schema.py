"""The tables that the rooms hand each other; read this first.

A run is planned (`PLAN`), its finished trials are `ROWS`, their means are a `SUMMARY`; a paper's
numbers and claims become `VERDICTS`, and a suite's methods a `BOARD`. Each table is a mapping of
its columns to a type and a sentence. Everything that is shown is made of one of these tables.
"""

from __future__ import annotations

Columns = dict[str, tuple[type, str]]

IDENTITY = ("trial_id", "dataset", "split", "split_hash", "reducer", "classifier")
# The spec can change these without changing a trial.
NAMING = ("reducer_label", "classifier_label", "control")
DESCRIBING = (*IDENTITY, *NAMING)
# A trial log has only those of these columns that its spec uses.
OPTIONAL = ("split.train", "labels", "tuned", "inner_score", "tune_seconds")
OUTCOME = ("status", "reason", "fit_seconds", "eval_seconds")

PLAN: Columns = {
    "trial_id": (str, "hash of everything that determines the trial's numbers"),
    "dataset": (str, "name of the data set's card"),
    "split": (str, "kind and number of the split, such as resample-7"),
    "reducer": (str, "name of the method; its parameters are reducer.*"),
    "classifier": (str, "name of the classifier or measure; its parameters are classifier.*"),
    "reducer_label": (str, "the method's name in tables"),
    "classifier_label": (str, "the classifier's name in tables"),
    "control": (str, "the control that the trial is; empty for a method"),
    "split.train": (float, "size of the training set, if the spec varies it"),
    "labels": (str, "labelled training samples per class, or all"),
    "tuned": (int, "number of candidate settings, if the trial is tuned"),
}

ROWS: Columns = PLAN | {
    "split_hash": (str, "hash of the split's samples; equal hashes mean equal samples"),
    "inner_score": (float, "mean score of the selected setting on the inner folds"),
    "tune_seconds": (float, "CPU time of tuning"),
    "status": (str, "ok, failed or timeout"),
    "reason": (str, "why the trial failed"),
    "fit_seconds": (float, "CPU time of the embedding's fit, which trials may share"),
    "eval_seconds": (float, "CPU time of the classifier or measure"),
}
"""And one column per metric; a failed trial has the scores of the majority-class baseline."""

SUMMARY: Columns = {
    "dataset": (str, "name of the data set's card"),
    "reducer": (str, "name of the method; its parameters are reducer.*"),
    "reducer_label": (str, "the method's name in tables"),
    "classifier": (str, "name of the classifier or measure; its parameters are classifier.*"),
    "classifier_label": (str, "the classifier's name in tables"),
    "control": (str, "the control that the row is; empty for a method"),
    "split": (str, "family of splits, such as resample"),
    "metric": (str, "name of the metric"),
    "n": (int, "trials with a score"),
    "failed": (int, "failed trials among them"),
    "planned": (int, "trials that the spec has"),
    "mean": (float, "mean over splits"),
    "sd": (float, "standard deviation over splits (n - 1)"),
    "low": (float, "lower end of the interval of single splits"),
    "high": (float, "upper end of the interval of single splits"),
    "mean_low": (float, "lower end of the corrected interval of the mean"),
    "mean_high": (float, "upper end of the corrected interval of the mean"),
}
