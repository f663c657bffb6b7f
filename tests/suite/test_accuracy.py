"""A suite with an accuracy and two classifiers: what its commands show, from the trial logs."""

import csv
import json
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

import ddr_cli
from ddr_cli.cli.app import app
from tests.conftest import OneAfterTheOther

SUITE = """
title: A suite with an accuracy
version: 7
repeats: 2
classifiers: [{name: knn, n_neighbors: 1}, {name: linear}]
metrics: [accuracy]
widths: [1, 2]
methods: {none: , pca: , lda: }
datasets:
  iris: {split: {kind: fraction, train: 0.3}}
  wine: {split: {kind: labelled, train: 40, test: 50}}
tracks:
  inductive: {tune: {folds: 2, budget: 2}}
  few_labels: {datasets: [iris], labels: [2, all]}
"""
SELECTED = "selected on inner folds"


def ddr(*words):
    done = CliRunner().invoke(app, [*map(str, words)], prog_name="ddr", catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def run_suite(folder):
    """Write the suite and its results to a folder."""
    (folder / "small.yaml").write_text(SUITE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ddr_cli.engine.run.make_executor", lambda *_: OneAfterTheOther())
        ddr("suite", "run", folder / "small.yaml", "--out", folder, "--quiet")
    return folder


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    return run_suite(tmp_path_factory.mktemp("accuracy"))


def log(folder, run):
    with (folder / "suite_small" / run / "trials.csv").open() as file:
        return list(csv.DictReader(file))


def change(path, changed):
    """Write a trial log again, each row with the new cells that `changed` returns for it."""
    with path.open() as file:
        rows = [row | changed(row) for row in csv.DictReader(file)]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def with_other_samples(row):
    """Return another hash of the split for LDA's rows of the second split."""
    is_changed = (row["reducer"], row["split"]) == ("lda", "fraction-1")
    return {"split_hash": row["split_hash"][::-1]} if is_changed else {}


def board(folder, *words):
    words = ("table", folder / "small.yaml", "--out", folder, "--json", *words)
    return {row["method"]: row for row in json.loads(ddr("suite", *words))}


def exported(folder):
    ddr("suite", "page", folder / "small.yaml", "--rows", folder / "rows.csv", "--out", folder)
    with (folder / "rows.csv").open() as file:
        return list(csv.DictReader(file))


def costs(folder):
    """Return what is shown about the time that is left."""
    told = ddr("status", folder / "small.yaml", "--out", folder, "--hours", "1")
    return " ".join(told.split())


def test_the_inner_folds_select_the_classifier_with_the_highest_accuracy(ran):
    values, seconds = {}, {}
    for dataset in ("iris", "wine"):
        pairs = {}
        for row in log(ran, dataset):
            if row["tuned"]:
                pairs.setdefault((row["reducer"], row["split"]), []).append(row)
        for (method, _), pair in pairs.items():
            best = max(pair, key=lambda row: float(row["inner_score"]))
            values.setdefault(method, []).append(float(best["accuracy"]))
            spent = sum(float(row["tune_seconds"]) for row in pair)
            seconds.setdefault(method, []).append(spent + float(best["fit_seconds"]))
    found = board(ran, "--classifier", SELECTED)
    assert found.keys() == values.keys()
    for method, row in found.items():
        assert row["mean"] == pytest.approx(np.mean(values[method]))
        assert row["seconds"] == pytest.approx(np.mean(seconds[method]))


def test_rows_of_other_samples_are_another_split(ran, tmp_path):
    shutil.copytree(ran, tmp_path, dirs_exist_ok=True)
    change(tmp_path / "suite_small" / "iris" / "trials.csv", with_other_samples)
    before, after = (
        ddr_cli.leaderboard(folder / "small.yaml", out=folder) for folder in (ran, tmp_path)
    )
    assert before.splits == {"iris": 2, "wine": 2}
    assert after.splits == {"iris": 1, "wine": 2}


def test_a_track_with_budgets_of_labels_has_the_leaderboard_of_all_labels(ran):
    found = board(ran, "--track", "few_labels")
    for method, row in found.items():
        own = [
            float(each["accuracy"])
            for each in log(ran, "iris-few_labels")
            if (each["reducer"], each["classifier"], each["labels"]) == (method, "knn", "all")
        ]
        assert len(own) == 2
        assert row["mean"] == pytest.approx(np.mean(own))


def test_exported_rows_carry_the_suite_and_its_version(ran):
    rows = exported(ran)
    assert {(row["suite"], row["version"]) for row in rows} == {("small", "7")}
    logs = [log(ran, name) for name in ("iris", "wine", "iris-few_labels")]
    values = sorted(float(row["accuracy"]) for each in logs for row in each)
    assert sorted(float(row["value"]) for row in rows) == pytest.approx(values)


def test_the_time_of_a_fit_that_trials_share_counts_once(ran, tmp_path):
    shutil.copytree(ran, tmp_path, dirs_exist_ok=True)
    folder = tmp_path / "suite_small" / "iris-few_labels"
    change(folder / "trials.csv", lambda _: {"fit_seconds": "600", "eval_seconds": "0"})
    manifest = json.loads((folder / "manifest.json").read_text())
    # Without sessions, the rows' times are not scaled to those of the sessions.
    (folder / "manifest.json").write_text(json.dumps(manifest | {"sessions": []}))
    # On each of two splits, LDA has a fit for each number of labels; the others have one fit.
    assert "few_labels iris 1 h 20 min" in costs(tmp_path)
