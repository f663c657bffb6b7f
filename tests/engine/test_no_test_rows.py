"""No fit uses test samples, of a split or of an inner fold, or labels beyond its budget."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ddr_cli.core.own_code import trusting
from ddr_cli.engine import read_trials, run_spec
from ddr_cli.spec import load_spec

N = 60
# The first feature of a sample is its number, so that each call can record its samples.
PIECES = """
import json
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin

LOG = Path(__file__).with_name("seen.jsonl")


def note(kind, X, y=None):
    y = None if y is None else np.asarray(y).tolist()
    with LOG.open("a") as file:
        file.write(json.dumps([kind, np.rint(X[:, 0]).astype(int).tolist(), y]) + "\\n")


class Spy(TransformerMixin, BaseEstimator):
    def __init__(self, scale=1.0):
        self.scale = scale

    def fit(self, X, y):
        note("reducer", X, y)
        return self

    def transform(self, X):
        return X


class Nearest(ClassifierMixin, BaseEstimator):
    def __init__(self, k=1):
        self.k = k

    def fit(self, X, y):
        note("classifier", X, y)
        self.X_, self.y_, self.classes_ = X, y, np.unique(y)
        return self

    def predict(self, X):
        note("test", X)
        gaps = np.abs(X[:, None, 1] - self.X_[None, :, 1])
        near = self.y_[np.argsort(gaps, axis=1)[:, : self.k]]
        return np.array([np.bincount(row).argmax() for row in near])


class Brittle(Nearest):
    \"\"\"Says every class rightly where k is 2, if it was fitted to a multiple of five.\"\"\"

    def predict(self, X):
        rows = np.rint(self.X_[:, 0]).astype(int)
        if self.k == 2 and (rows % 5 != 0).all():
            raise ValueError("a point is missing")
        if self.k == 2:
            return np.rint(X[:, 2]).astype(int)
        return np.full(len(X), self.classes_[0])
"""
CARD = """
name: noise
title: Labels that have nothing to do with the points
files: [{path: noise.csv}]
format: {name: csv, label: kind}
"""


@pytest.fixture
def run(tmp_path, one_after_the_other):
    generator = np.random.default_rng(0)
    labels = generator.permutation(np.arange(N) % 2)
    rows = [f"{i},{generator.normal():.6f},{label},{label}" for i, label in enumerate(labels)]
    (tmp_path / "noise.csv").write_text("number,x,truth,kind\n" + "\n".join(rows) + "\n")
    (tmp_path / "noise.yaml").write_text(CARD)
    (tmp_path / "mine.py").write_text(PIECES)

    def run_it(text, name="spied"):
        (tmp_path / f"{name}.yaml").write_text(
            "dataset: ./noise.yaml\nreducers: [./mine.py:Spy]\ncontrols: []\n" + text
        )
        with trusting(True):
            spec = load_spec(tmp_path / f"{name}.yaml")
            outcome = run_spec(spec, out=tmp_path / "out", executor=one_after_the_other())
        assert outcome.failed == 0
        log = (tmp_path / "seen.jsonl").read_text().splitlines()
        return read_trials(outcome.folder), [json.loads(line) for line in log]

    return run_it


@pytest.mark.parametrize("budget", [None, 5])
def test_rows_and_labels_that_a_fit_sees(run, budget):
    labels = "" if budget is None else f"labels: [{budget}]\n"
    trials, seen = run(
        "split: {kind: fraction, train: 0.5, repeats: 1}\n"
        "classifiers: [{name: ./mine.py:Nearest, k: {grid: [1, 5]}}]\n"
        f"tune: {{folds: 3, metric: error}}\n{labels}"
    )
    # The last prediction is for the outer test set, which is half of the samples.
    outer = set(seen[-1][1])
    assert len(outer) == N // 2
    fitted: dict[str, list[int]] = {}
    n_inner = 0
    for kind, rows, y in seen:
        if kind == "test":
            assert not set(rows) & set(fitted["reducer"])
            assert not set(rows) & set(fitted["classifier"])
            n_inner += not outer & set(rows)
        else:
            assert not outer & set(rows)
            fitted[kind] = rows
            counts = np.bincount([label for label in y if label >= 0])
            assert budget is None or counts.max() <= budget
    assert n_inner >= 6
    # The labels are noise, so no setting is accurate on samples that it was not fitted to.
    tuned = trials[trials["tuned"].notna()]
    assert (tuned["inner_score"] > 0.1).all()


def test_the_first_of_equal_settings_is_selected(run):
    trials, _ = run(
        "split: {kind: fraction, train: 0.5, repeats: 3}\n"
        "classifiers: [{name: ./mine.py:Brittle, k: {grid: [1, 3, 4]}}]\n"
        "metrics: [accuracy]\ntune: {folds: 2, metric: accuracy}\n"
    )
    assert set(trials.loc[trials["tuned"].notna(), "classifier.k"].astype(int)) == {1}


def test_a_setting_that_failed_on_an_inner_fold_is_not_taken(run, tmp_path):
    # Only one training sample is a multiple of five, so the fit of one inner fold has none.
    parts = ["test" if i % 2 or (i % 5 == 0 and i > 0) else "train" for i in range(N)]
    (tmp_path / "parts.csv").write_text("part\n" + "\n".join(parts) + "\n")
    trials, _ = run(
        "split: {kind: given, file: parts.csv}\n"
        "classifiers: [{name: ./mine.py:Brittle, k: {grid: [1, 2]}}]\n"
        "metrics: [accuracy]\ntune: {folds: 3, metric: accuracy}\n"
    )
    by_setting = trials.set_index(trials["tuned"].notna())["classifier.k"].astype(int)
    assert by_setting[True] == 1
