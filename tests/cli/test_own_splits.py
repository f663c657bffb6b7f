"""A user's own table with groups and splits, from its card to a table of results."""

import json
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

from ddr_cli.core.errors import InputError
from ddr_cli.data import load_dataset
from ddr_cli.engine import Datasets, RunSettings, read_trials
from ddr_cli.engine.progress import Progress
from ddr_cli.engine.run import SpecRun
from ddr_cli.evaluation.splits import split_hash
from ddr_cli.spec import load_spec, make_spec

SPEC = """\
title: A table with subjects
dataset: ./mine.yaml
split: {kind: fraction, train: 0.5}
reducers: [none]
classifiers: [{name: knn, n_neighbors: 3}, linear]
metrics: [error]
"""


@pytest.fixture
def table(work):
    """Return the user's table, also written to ``mine.csv``; only subject s0 has class c."""
    generator = np.random.default_rng(0)
    kind = np.array(list("ab") * 30)
    frame = pd.DataFrame(generator.normal(size=(60, 3)), columns=["x", "y", "z"]).round(3)
    frame["subject"] = [f"s{number}" for number in generator.permutation(np.arange(60) % 6)]
    frame["part"] = np.where(np.arange(60) < 40, "train", "test")
    frame["kind"] = np.where(frame["subject"] == "s0", "c", kind)
    frame.to_csv(work / "mine.csv", index=False)
    return frame


@pytest.fixture
def card(table, ddr_here):
    """Write the card of the table, without the class that only one subject has."""
    table[table["kind"] != "c"].to_csv("mine.csv", index=False)
    done = ddr_here(
        *("new", "data", "mine.csv", "--format", "csv", "--label", "kind"),
        *("--groups", "subject", "--set", "parts=[part]"),
    )
    assert done.returncode == 0
    assert "50 samples x 3 features; a 24, b 26; 5 groups" in done.stdout


@pytest.fixture
def write(work):
    """Return a function that writes the spec with another split and returns its file name."""

    def put(split, *change):
        text = SPEC.replace("{kind: fraction, train: 0.5}", split)
        (work / "x.yaml").write_text(text.replace(*change) if change else text)
        return "x.yaml"

    return put


def sizes(folder):
    (found,) = json.loads((folder / "manifest.json").read_text())["sizes"].values()
    return found


@pytest.mark.usefixtures("card")
def test_the_card_knows_groups_and_parts(work):
    for _ in ("read", "from the cache"):
        dataset = load_dataset(work / "mine.yaml")
        assert dataset.feature_names == ("x", "y", "z")
        assert dataset.group_names == ("s1", "s2", "s3", "s4", "s5")
        assert dataset.groups is not None
        assert np.bincount(dataset.groups).tolist() == [10] * 5
        assert dataset.parts is not None
        assert dataset.parts["part"].train.tolist() == list(range(len(dataset.parts["part"].train)))
    assert "groups: 5" in (work / "mine.yaml").read_text()


@pytest.mark.usefixtures("card")
def test_no_subject_is_on_both_sides(work, write, ddr_here):
    spec = write("{kind: grouped, folds: leave_one_out}")
    assert "x: 10 trials on " in ddr_here("plan", spec).stdout
    assert "10 trials on mine, 5 splits" in ddr_here("plan", spec).stdout
    assert ddr_here("run", spec, "-q").returncode == 0
    groups = load_dataset(work / "mine.yaml").groups
    wanted = [
        split_hash(np.flatnonzero(groups != g), np.flatnonzero(groups == g)) for g in range(5)
    ]
    trials = read_trials(work / "results" / "x")
    assert trials.groupby("split")["split_hash"].first().tolist() == wanted
    assert sizes(work / "results" / "x") == {"train": 40, "test": 10}
    summary = pd.read_csv(work / "results" / "x" / "summary.csv")
    assert set(summary["split"]) == {"grouped"}
    assert (summary["n"] == 5).all()
    assert (summary["planned"] == 5).all()
    assert summary["interval"].iloc[0].endswith("of 5 splits by groups")


@pytest.mark.usefixtures("card")
def test_folds_are_all_run_and_their_mean_size_counts(work, write, ddr_here):
    spec = write("{kind: kfold, folds: 4, repeats: 2}")
    assert ddr_here("run", spec, "-q").returncode == 0
    trials = read_trials(work / "results" / "x")
    assert sorted(set(trials["split"])) == [f"kfold-{index}" for index in range(8)]
    assert sizes(work / "results" / "x") == {"train": 37.5, "test": 12.5}
    assert "8 folds" in pd.read_csv(work / "results" / "x" / "summary.csv")["interval"].iloc[0]
    assert ddr_here("compare", "results/x").returncode == 0
    (work / "results" / "x" / "summary.csv").unlink()
    before = (work / "results" / "x" / "trials.csv").read_bytes()
    assert ddr_here("run", spec, "-q").returncode == 0
    assert (work / "results" / "x" / "trials.csv").read_bytes() == before


@pytest.mark.usefixtures("card")
def test_a_column_and_a_file_of_the_same_rows_are_one_split(work, table, write, ddr_here):
    kept = table[table["kind"] != "c"]
    other = np.where(kept["part"] == "train", "test", "train")
    pd.DataFrame({"own": kept["part"], "other": other}).to_csv(work / "splits.csv", index=False)
    assert ddr_here("run", write("{kind: given, column: part}"), "-q", "--out", "a").returncode == 0
    assert ddr_here("run", write("{kind: given, file: splits.csv}"), "-q").returncode == 0
    column, file = read_trials(work / "a" / "x"), read_trials(work / "results" / "x")
    assert len(file) == 2 * len(column)
    first = file[file["split"] == "given-0"]
    assert set(first["split_hash"]) == set(column["split_hash"])
    assert sorted(first["error"]) == sorted(column["error"])
    assert not set(first["trial_id"]) & set(column["trial_id"])

    # A changed file is another split, so its trials have other ids.
    (work / "splits.csv").write_text((work / "splits.csv").read_text().replace("test", "", 1))
    done = ddr_here("run", "x.yaml", "-q")
    assert done.returncode == 2
    assert "--redo changed" in done.stderr


IMPOSSIBLE = [
    (
        "{kind: kfold, folds: 25}",
        "3:29: split.folds: ... class a has 24 ... choose 24 folds ... keep",
    ),
    ("{kind: resampled}", "3:15: split.kind: ... Did you mean 'resample'"),
    ("{kind: kfold}", "3:8: split.folds: ... needs 'folds'"),
    ("{kind: kfold, folds: 3, train: 0.5}", "3:39: split.train: ... from 'folds'"),
    ("{kind: grouped, folds: 6}", "3:31: split.folds: mine has only 5 groups ... at most 5"),
    ("{kind: grouped}", "3:8: split.train: ... 'grouped' needs either"),
    ("{kind: grouped, train: 0.99}", "3:31: split.train: ... 0.99 ... 5 of 5 groups"),
    (
        "{kind: grouped, folds: leave_one_out, repeats: 2}",
        "3:55: split.repeats: ... must be 5",
    ),
    ("{kind: grouped, folds: leave_one}", "3:31: split.folds: ... or 'leave_one_out'"),
    ("{kind: given}", "3:8: split: ... needs either 'file'"),
    ("{kind: given, file: no.csv}", "3:28: split.file: no.csv ... No such file"),
    ("{kind: given, file: short.csv}", "3:28: split.file: short.csv has 2 ... needs 50"),
    (
        "{kind: given, file: wrong.csv}",
        "3:28: split.file: wrong.csv, line 3, column 'a' ... 'tset'",
    ),
    ("{kind: given, column: prat}", "3:30: split.column: ... 'prat' ... 'parts' ... mean 'part'"),
    ("{kind: kfold, folds: 3, column: part}", "3:40: split.column: ... kind: given"),
]


@pytest.mark.usefixtures("card")
def test_an_impossible_split_is_refused_before_the_run(work, write, ddr_here):
    (work / "short.csv").write_text("a\ntrain\ntest\n")
    (work / "wrong.csv").write_text("a\ntrain\ntset\n")
    for split, told in IMPOSSIBLE:
        done = ddr_here("plan", write(split))
        assert done.returncode == 2
        (line,) = done.stderr.rstrip().split("\n  ")[1:]
        assert [part for part in f"x.yaml:{told}".split(" ... ") if part not in line] == []


@pytest.mark.usefixtures("table")
def test_a_class_of_one_subject_is_refused_before_the_first_trial(work, write, ddr_here):
    ddr_here(
        *("new", "data", "mine.csv", "--format", "csv", "--label", "kind"),
        *("--groups", "subject", "--set", "ignore=[part]"),
    )
    spec = write("{kind: grouped, folds: 3}")
    assert ddr_here("plan", spec).returncode == 0  # the card does not list groups' classes
    run = SpecRun(load_spec(spec), RunSettings(out=work / "results"), Datasets())
    with pytest.raises(InputError, match="Only group s0 contains class c"):
        run.run(Mock(), Progress())
    assert not (work / "results").exists()


def test_groups_are_needed(write, ddr_here):
    done = ddr_here("plan", write("{kind: grouped, folds: 3}", "./mine.yaml", "iris"))
    assert done.returncode == 2
    assert "x.yaml:3:15: split.kind: the data set 'iris'" in done.stderr


@pytest.mark.usefixtures("card")
def test_a_metric_needs_what_a_classifier_gives(write, ddr_here):
    spec = write("{kind: kfold, folds: 2}", "[error]", "[error, f1_macro, neg_log_loss]")
    done = ddr_here("plan", spec)
    assert done.returncode == 2
    assert "x.yaml:6:28: metrics: the classifier linear has no predict_proba" in done.stderr
    assert "classifier linear" in done.stderr
    spec = write("{kind: kfold, folds: 2}", "[error]", "[error, roc_au]")
    refused = ddr_here("plan", spec).stderr
    assert "Did you mean 'roc_auc'?" in refused
    with pytest.raises(InputError, match=r"roc_auc .* 3 classes"):
        make_spec(
            dataset="iris",
            classifiers=["linear"],
            metrics=["roc_auc"],
            reducers=["none"],
            split={"kind": "kfold", "folds": 2},
        )


@pytest.mark.usefixtures("card")
def test_an_undefined_metric_fails_its_trial_alone(work, table, write, ddr_here):
    kept = table[table["kind"] != "c"]
    # No test sample of the second split has class b.
    good = np.where(np.arange(len(kept)) % 2, "train", "test")
    bad = np.where((kept["kind"] == "a") & (good == "test"), "test", "train")
    pd.DataFrame({"good": good, "bad": bad}).to_csv(work / "splits.csv", index=False)
    spec = write(
        "{kind: given, file: splits.csv}", "[error]", "[error, roc_auc, matthews_corrcoef]"
    )
    assert ddr_here("run", spec, "-q").returncode == 1
    trials = read_trials(work / "results" / "x").set_index("split")
    assert (trials.loc["given-0", "status"] == "ok").all()
    assert trials.loc["given-0", "roc_auc"].between(0, 1).all()
    assert (trials.loc["given-1", "status"] == "failed").all()
    assert trials.loc["given-1", "reason"].str.contains("roc_auc is undefined").all()
