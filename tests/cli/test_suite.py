"""`ddr suite` plans, runs, stops, changes and resumes a small suite."""

import json
import re
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace

import pytest

from ddr_cli import join_suite
from ddr_cli.core.extras import missing_library, nothing_fitted
from ddr_cli.suite.definition import load_suite
from ddr_cli.suite.remaining import SuitePart

SUITE = """
title: A small suite
version: 1
repeats: 2
classifiers: [{name: knn, n_neighbors: 3}]
metrics: [error]
preprocess: [standardize]
widths: [1, 2]
methods:
  none:
  lda:
  ccdr: {beta: {grid: [0.1, 0.5]}}
datasets:
  iris: {split: {kind: fraction, train: 0.5}}
  wine: {split: {kind: labelled, train: 60, test: 50}}
groups: {all: [iris, wine]}
tracks:
  inductive:
    tune: {folds: 2, budget: 4}
  transductive: {mode: transductive, methods: [ccdr], datasets: [wine]}
"""


MINE = """
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

class Means(TransformerMixin, BaseEstimator):
    def fit(self, X, y):
        self.means_ = np.array([X[y == name].mean(axis=0) for name in np.unique(y)])
        return self

    def transform(self, X):
        return X @ self.means_.T
"""


@pytest.fixture
def small(work):
    """Return the results folder of the suite `small.yaml`."""
    (work / "small.yaml").write_text(SUITE)
    return work / "results" / "suite_small"


@pytest.fixture
def here(monkeypatch, one_after_the_other):
    """Run all jobs in this process."""
    monkeypatch.setattr("ddr_cli.engine.run.make_executor", lambda *_: one_after_the_other())


def rows_of(folder):
    return (folder / "trials.csv").read_text().splitlines()[1:]


@pytest.mark.usefixtures("here")
def test_a_suite_is_planned_run_in_rounds_and_gone_on_with(ddr_here, small, work, monkeypatch):
    monkeypatch.setattr("ddr_cli.engine.progress._EVERY_SECONDS", 0)
    before = ddr_here("status", "small.yaml", "--hours", "1", "--out", "results")
    assert before.returncode == 0
    assert "7 of 7 times are unknown" in before.stdout
    # The first split of the first data set uses up this budget.
    begun = ddr_here("suite", "run", "small.yaml", "--hours", "1e-9", "--jobs", "1", "--quiet")
    assert begun.returncode == 0
    assert len(rows_of(small / "iris")) == 6
    assert not (small / "wine").exists()
    assert {line.split(",")[2] for line in rows_of(small / "iris")} == {"fraction-0"}
    # The time of a data set without rows is the mean of the others; a track without rows is
    # unknown.
    partly = ddr_here("status", "small.yaml", "--hours", "1")
    assert "3 of 7 times are means" in partly.stdout
    assert "3 of 7 times are estimated" in partly.stdout
    assert "1 of 7 times are unknown" in partly.stdout
    done = ddr_here("suite", "run", "small.yaml", "--backend", "local")
    assert done.returncode == 0
    assert "26 of 26 trials of 3 specs" in done.stdout
    names = [line.split(":")[0] for line in done.stderr.splitlines() if " trials" in line]
    # Every data set gets its first split before any data set gets its second.
    assert list(dict.fromkeys(names)) == ["wine", "wine-transductive", "iris"]
    whole = rows_of(small / "iris")
    assert ddr_here("suite", "run", "small.yaml", "--quiet", "--redo", "failed").returncode == 0
    # Only what is left to fit needs the libraries of the methods.
    with monkeypatch.context() as patched:
        lack = "ddr_cli.suite.definition.missing_of"
        patched.setattr(lack, lambda *_: missing_library("no-such-thing"))
        again = ddr_here("suite", "run", "small.yaml")
        assert (again.returncode, "26 of 26 trials" in again.stdout) == (0, True)
        refused = ddr_here("suite", "run", "small.yaml", "--redo", "failed")
        assert (refused.returncode, "needs no-such-thing" in refused.stderr) == (2, True)
    assert rows_of(small / "iris") == whole
    after = ddr_here("status", "small.yaml", "--hours", "1")
    assert "7 of 7 times are means of existing rows (100% of the total)" in after.stdout
    assert "leave 1 h 0 min" in after.stdout
    assert json.loads((small / "suite.json").read_text())["suite"]["version"] == 1
    table = ddr_here("suite", "table", "small.yaml", "--defaults", "--metric", "error")
    assert ": 2 data sets" in table.stdout
    assert "including the tuning" not in table.stdout
    alone = ddr_here("suite", "table", "small.yaml", "--track", "transductive")
    assert " 1 ccdr" in alone.stdout
    assert " lda" not in alone.stdout
    tuned = ddr_here("suite", "table", "small.yaml")
    assert re.search(r"^ 1 +1 to [123] (lda|none|ccdr) ", tuned.stdout, flags=re.MULTILINE)
    assert "best of all methods" in tuned.stdout
    assert "CPU seconds of a fit, including the tuning" in tuned.stdout
    export = ddr_here("suite", "page", "small.yaml", "--rows", "rows.csv")
    assert export.stdout.startswith("A table of 26 rows")
    nowhere = ddr_here("suite", "page", "small.yaml", "--rows", ".")
    assert (nowhere.returncode, ".csv or .tar.xz" in nowhere.stderr) == (2, True)
    frozen = ddr_here("suite", "page", "small.yaml", "--rows", "small.tar.xz")
    assert frozen.stdout.startswith("An archive of 14 files")
    page = ddr_here("suite", "page", "small.yaml")
    assert page.returncode == 0
    assert "results/report/suite_small/index.html" in page.stdout
    lda = (work / "results" / "report" / "suite_small" / "methods" / "lda.html").read_text()
    assert "LDA" in lda
    assert "ignores test labels: yes, tested on iris, wine" in lda
    (work / "mine.py").write_text(MINE)
    words = ("suite", "add", "./mine.py:Means", "small.yaml")
    refused = ddr_here(*words)
    assert (refused.returncode, "use --trust" in refused.stderr) == (2, True)
    assert not (small.parent / "suite_small_Means").exists()
    added = ddr_here(*words, "--trust", "--hours", "1")
    assert added.returncode == 0
    assert "Means, tuned, knn: rank " in added.stdout.splitlines()[-1]
    assert re.search(r"rank \d of 4 \(95 % interval \d to \d\) on 2 data sets", added.stdout)
    assert "compared with none (baseline): median difference" in added.stdout
    hashes = {
        folder: {line.split(",")[3] for line in rows_of(folder / "wine")}
        for folder in (small, small.parent / "suite_small_Means")
    }
    assert len(set(map(frozenset, hashes.values()))) == 1
    # Both data sets were audited before the run.
    assert "audit on 2 data sets: " in added.stdout
    assert added.stdout.count("ignores other test samples: yes;") == 1
    audits = (small.parent / "suite_small_Means" / "audit.csv").read_text()
    assert [line.split(",")[0] for line in audits.splitlines()] == ["method", "Means", "Means"]
    # An edited method is audited again. This one subtracts the mean of the test samples.
    (work / "mine.py").write_text(MINE.replace("X @", "(X - X.mean(axis=0)) @"))
    batch = ddr_here(*words, "--trust")
    assert batch.returncode == 0
    assert "ranks Means in the track transductive" in batch.stderr
    assert "rank 2 of 2 on 1 data set" in batch.stdout or "rank 1 of 2" in batch.stdout
    assert "ignores other test samples: no, not on iris, wine" in batch.stdout
    assert (small.parent / "suite_small_Means" / "wine-transductive" / "trials.csv").is_file()


TWO_AND_TEN = """
title: Two classes and ten
version: 1
repeats: 1
classifiers: [{name: knn, n_neighbors: 3}]
metrics: [error]
preprocess: [standardize]
widths: [1, 2]
methods: {none: , lda: }
datasets:
  breast_cancer: {split: {kind: labelled, train: 60, test: 50}}
  digits: {split: {kind: labelled, train: 100, test: 50}, preprocess: [variance_threshold]}
tracks:
  inductive: {tune: {folds: 2, budget: 4}}
"""


@pytest.mark.usefixtures("here")
def test_an_untouched_template_joins_on_two_classes_and_on_ten(ddr_here, work):
    (work / "both.yaml").write_text(TWO_AND_TEN)
    assert ddr_here("suite", "run", "both.yaml", "--quiet").returncode == 0
    assert ddr_here("new", "method", "my_method").returncode == 0
    words = ("suite", "add", "./my_method.py:MyMethod", "both.yaml", "--trust")
    assert ddr_here(*words).returncode == 0
    found = join_suite("./my_method.py:MyMethod", "both.yaml", trust=True).table.set_index("method")
    assert set(found.index) == {"none", "lda", "MyMethod"}
    assert found.loc["MyMethod", ["datasets", "failed"]].tolist() == [2, 0.0]


@pytest.mark.usefixtures("here")
def test_nothing_to_do_is_no_failure_although_trials_failed_before(ddr_here, small, work):
    fails = "open('log', 'a').write('x'); raise ValueError('no')"
    (work / "mine.py").write_text(MINE.replace("return self", fails))
    text = SUITE.replace("  lda:\n", "  mine: {name: './mine.py:Means'}\n")
    (work / "small.yaml").write_text(text)
    words = ("suite", "run", "small.yaml", "--only", "iris", "--quiet", "--trust")
    assert ddr_here(*words).returncode == 1
    assert sum(",failed," in line for line in rows_of(small / "iris")) == 4
    assert ddr_here(*words).returncode == 0
    fits = len((work / "log").read_text())
    assert ddr_here(*words, "--redo", "failed").returncode == 1
    assert len((work / "log").read_text()) <= 2 * fits


@pytest.mark.usefixtures("here")
def test_what_is_stale_is_listed_and_made_again_alone(ddr_here, small, work):
    text = SUITE.replace("ccdr: {beta", "ours: {name: ccdr, beta").replace("[ccdr]", "[ours]")
    (work / "small.yaml").write_text(text)
    assert ddr_here("suite", "run", "small.yaml", "--only", "iris", "--quiet").returncode == 0
    kept = {line for line in rows_of(small / "iris") if ",lda," in line}
    text = text.replace("beta: {grid: [0.1, 0.5]}", "beta: 0.2")
    (work / "small.yaml").write_text(text)
    found = json.loads(ddr_here("status", "small.yaml", "--json").stdout)
    assert found["iris"]["ours"] == {
        "planned": 4, "done": 0, "failed": 0, "stale": 4, "missing": 4,
    }  # fmt: skip
    assert found["iris"]["lda"]["stale"] == 0
    again = ddr_here("suite", "run", "small.yaml", "--only", "iris", "--track", "inductive")
    assert again.returncode == 0
    assert kept <= set(rows_of(small / "iris"))
    assert len(rows_of(small / "iris")) == 12
    (previous,) = (small / "iris" / "previous").iterdir()
    assert len(rows_of(previous)) == 12
    # A new version of the suite makes all rows of the old version stale.
    (work / "small.yaml").write_text(text.replace("version: 1", "version: 2"))
    status = ddr_here("status", "small.yaml")
    assert "12 stale rows" in status.stdout


@pytest.mark.usefixtures("here")
def test_a_data_set_that_cannot_be_had_is_told_and_the_others_are_run(ddr_here, small, work):
    text = SUITE.replace("kind: labelled, train: 60, test: 50", "kind: fraction, train: 0.1")
    text = text.replace("repeats: 2", "repeats: 1").replace("wine", "thyroid")
    (work / "small.yaml").write_text(text)
    done = ddr_here("suite", "run", "small.yaml", "--track", "inductive", "--quiet")
    assert done.returncode == 3
    assert "Error: thyroid: " in done.stderr
    assert len(rows_of(small / "iris")) == 6


def test_a_split_is_done_when_all_of_its_trials_have_a_row(tmp_path):
    fit = SimpleNamespace(trials={"a": None, "b": None}, reducer=SimpleNamespace(label="pca"))
    plan = SimpleNamespace(fits={"first": [fit]})
    for rows, left in (({}, ["pca"]), ({"a": "ok"}, ["pca"]), ({"a": "ok", "b": "failed"}, [])):
        assert SuitePart(None, plan, tmp_path, rows, {}).to_do("first") == left


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ("  lda:", "  lad:", "11:3: methods.lad", "Did you mean 'lda'?"),
        ("wine]}", "wien]}", "16:22: groups.all", "Did you mean 'wine'?"),
        ("train: 60", "train: 600", "15:9: datasets.wine", "600 of 178 samples"),
        ("budget: 4", "bugdet: 4", "19:22: tracks.inductive.tune.bugdet", "Did you mean 'budget'?"),
        (
            "    tune:",
            "    dimensions: [2]\n    tune:",
            "19:5: tracks.inductive.dim",
            "remove tune",
        ),
        ("version: 1", "name: x", "3:1: name", "needs version"),
    ],
)
def test_a_wrong_suite_says_where(ddr_here, work, old, new, place, message):
    (work / "wrong.yaml").write_text(SUITE.replace(old, new))
    done = ddr_here("status", "wrong.yaml")
    assert done.returncode == 2
    assert f"wrong.yaml:{place}" in done.stderr
    assert message in done.stderr


@pytest.mark.usefixtures("small")
def test_names_and_rows_that_are_not_there(ddr_here):
    for words, message in (
        (["small.yaml", "--only", "iri"], "Did you mean 'iris'?"),
        (["small.yaml", "--track", "few"], "Choose one of: inductive, transductive."),
        (["lit"], "Did you mean 'lite'?"),
        (["small.yaml", "--backend", "dask", "--scheduler", "nowhere"], "nowhere"),
        (["small.yaml", "--track", "transductive", "--only", "iris"], "No data set"),
    ):
        done = ddr_here("suite", "run", *words)
        assert (done.returncode, message in done.stderr) == (2, True), (words, done.stderr)
    done = ddr_here("suite", "add", "mmc", "small.yaml")
    assert (done.returncode, "'ddr suite run'" in done.stderr) == (2, True)
    done = ddr_here("suite", "add", "lda", "small.yaml")
    assert (done.returncode, "already has a method 'lda'" in done.stderr) == (2, True)
    assert "has no results yet" in ddr_here("suite", "table", "small.yaml").stderr


def test_the_lite_suite_can_be_planned_without_its_extras(ddr_here, work, monkeypatch):
    def none_is_there(distribution):
        raise PackageNotFoundError(distribution)

    monkeypatch.setattr("ddr_cli.core.extras.version", none_is_there)
    with nothing_fitted():
        text = load_suite("lite").path.read_text(encoding="utf-8")
    thawed = re.sub(r"\nfrozen:\n(  .*\n)*", "\n", text)
    (work / "thawed.yaml").write_text(thawed)
    refused = ddr_here("suite", "run", "thawed.yaml")
    assert refused.returncode == 2
    assert "methods.umap: umap needs umap-learn" in refused.stderr
    # `ddr status` and `ddr plan` fit nothing, so they need no optional library.
    assert ddr_here("plan", "lite").returncode == 0
    planned = ddr_here("status", "lite", "--hours", "1", "--out", "nowhere")
    assert planned.returncode == 0
    with nothing_fitted():
        lite = load_suite("lite")
        specs = list(lite.specs())
    assert "times are unknown" in planned.stdout
    words = ("lite", "--only", "iris", "--out", "nowhere")
    assert "has no results yet" in ddr_here("suite", "table", *words).stderr
    added = ddr_here("suite", "add", "sklearn.decomposition:FastICA", *words, "--trust")
    assert "'ddr suite fetch'" in added.stderr
    assert len({spec.name for spec in specs}) == len(specs)
    assert (len(lite.datasets) >= 25, len(lite.methods) >= 30) == (True,) * 2
    assert all(spec.labels for spec in lite.specs(tracks=["few_labels"]))


FROZEN = """
frozen:
  date: 2026-11-28
  why: the rows were computed in another century.
  versions: {lda: %d}
"""


@pytest.mark.usefixtures("here")
def test_a_frozen_suite_keeps_its_rows_and_takes_no_others(ddr_here, small, work, monkeypatch):
    from ddr_cli.reducers import LDA

    words = ("small.yaml", "--only", "iris")
    assert ddr_here("suite", "run", *words, "--quiet").returncode == 0
    before = rows_of(small / "iris")
    now = LDA._traits.version
    monkeypatch.setattr(LDA, "_traits", replace(LDA._traits, version=now + 1))
    assert "4 stale rows" in ddr_here("status", "small.yaml").stdout
    (work / "small.yaml").write_text(SUITE + FROZEN % now)
    assert "stale" not in ddr_here("status", "small.yaml").stdout.splitlines()[-1]
    refused = ddr_here("suite", "run", *words)
    assert (refused.returncode, "frozen since 2026-11-28" in refused.stderr) == (2, True)
    assert rows_of(small / "iris") == before
    table = ddr_here("suite", "table", *words).stdout
    assert "frozen on 2026-11-28: the rows were computed in another century" in table
    assert ddr_here("suite", "page", "small.yaml").returncode == 0
    page = work / "results" / "report" / "suite_small"
    for name in ("index.html", "leaderboard.md"):
        assert "rozen on 2026-11-28" in (page / name).read_text()
    # A method that is added to it is computed by what is here now.
    (work / "mine.py").write_text(MINE)
    added = ddr_here("suite", "add", "./mine.py:Means", "small.yaml", "--trust")
    assert added.returncode == 0
    assert "rank " in added.stdout
