"""Every option of `ddr run` and `ddr sweep`, mostly run in this process."""

import json
import re
from types import SimpleNamespace

import pytest

from ddr_cli.cli.run import _show
from ddr_cli.engine import RunOutcome

SPEC = """
title: A test
dataset: iris
split: {kind: fraction, train: 0.5, repeats: 2}
reducers: [none, {name: pca, n_components: 2}]
classifiers: [{name: knn, n_neighbors: 3}]
controls: []
"""

PRINTING = """
import os

class Mine:
    def fit(self, X, y):
        print("by Python")
        os.write(1, b"by C")
        return self
    def transform(self, X): return X[:, :1]
"""


@pytest.fixture
def small(work):
    """Return the results folder of the spec `small.yaml`."""
    (work / "small.yaml").write_text(SPEC)
    return work / "results" / "small"


def statuses(folder):
    lines = (folder / "trials.csv").read_text().splitlines()
    place = lines[0].split(",").index("status")
    return [line.split(",")[place] for line in lines[1:]]


def test_trials_that_failed_before_an_interruption_are_kept_too(tmp_path, capsys):
    for name in ("trials.csv", "manifest.json", "summary.csv", "figure.svg", "figure.png"):
        (tmp_path / name).touch()
    outcome = RunOutcome(tmp_path, planned=6, done=0, failed=2, skipped=0, interrupted=True)
    options = SimpleNamespace(quiet=True, as_json=False)
    _show(outcome, options, one_of_several=False, summaries={})
    said = capsys.readouterr().err
    assert "Interrupted: 2 of 6 trials are saved" in said
    assert "2 of 6 trials failed" in said


def test_a_time_limit_that_nothing_keeps_and_a_second_try(ddr_here, small):
    slow = ddr_here("run", "small.yaml", "--jobs", "2", "--timeout", "0.001", "--quiet")
    assert slow.returncode == 1
    assert "--redo failed" in slow.stderr
    assert set(statuses(small)) == {"timeout"}
    for option in ([], ["--reasons"]):
        assert "took longer than 0.001 s" in ddr_here("status", *option).stdout
    kept = ddr_here("run", "small.yaml", "--quiet")
    assert (kept.returncode, set(statuses(small))) == (1, {"timeout"})
    good = ddr_here("run", "small.yaml", "--redo", "failed", "--memory-limit", "8GB", "--quiet")
    assert (good.returncode, good.stderr) == (0, "")
    assert statuses(small) == ["ok"] * 4
    sessions = json.loads((small / "manifest.json").read_text())["sessions"]
    assert [(each["jobs"], each["timeout"]) for each in sessions] == [(2, 0.001), (1, None)]
    assert sessions[1]["memory_limit"] == 8_000_000_000


@pytest.mark.usefixtures("small")
def test_failed_trials_are_not_counted_as_done(ddr_here, work):
    (work / "own.py").write_text("class Mine:\n    def fit(self, X, y): raise ValueError\n")
    with (work / "own.py").open("a") as file:
        file.write("    def transform(self, X): return X\n")
    (work / "small.yaml").write_text(SPEC.replace("[none,", '[none, "./own.py:Mine",'))
    for _ in range(2):
        done = ddr_here("run", "small.yaml", "--trust")
        assert "2 of 6 trials failed" in done.stderr
    assert "small: 4 of 6 trials are already done." in done.stdout


def test_starting_over_keeps_the_old_run(ddr_here, small):
    assert ddr_here("run", "small.yaml", "--quiet").returncode == 0
    old = (small / "trials.csv").read_text()
    options = ("--redo", "all", "--set", "reducer.n_components=1", "--repeats", "1")
    assert ddr_here("run", "small.yaml", *options, "--quiet").returncode == 0
    (previous,) = (small / "previous").iterdir()
    assert (previous / "trials.csv").read_text() == old
    assert len(statuses(small)) == 2


def test_a_piece_is_run_again_and_what_is_no_journal_is_set_aside(ddr_here, small):
    assert ddr_here("run", "small.yaml", "--quiet").returncode == 0
    done = ddr_here("run", "small.yaml", "--redo", "knm")
    assert done.returncode == 2
    assert "Did you mean 'knn'?" in done.stderr
    done = ddr_here("run", "small.yaml", "--redo", "knn", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list((small / "previous").iterdir())) == 1
    whole = (small / "trials.csv").read_bytes()
    (small / "trials.csv").write_bytes(whole.decode().encode("utf-16"))
    for command in (["plan", "small.yaml"], ["report", "results", "--check"]):
        done = ddr_here(*command)
        assert "not a trial log" in done.stdout + done.stderr
    done = ddr_here("run", "small.yaml", "--quiet")
    assert done.returncode == 0
    assert "not a trial log" in done.stderr
    assert len((small / "trials.csv").read_bytes().splitlines()) == len(whole.splitlines())


def test_results_go_where_out_says(ddr_here, small, work):
    for options in (("--param", "n_components", "--values", "1"), ("--data-dir", ".")):
        command = "sweep" if "--param" in options else "run"
        words = ("small.yaml", *options, "--out", "elsewhere", "--repeats", "1", "-q")
        done = ddr_here(command, *words)
        assert (done.returncode, done.stdout) == (0, "")
    assert (work / "elsewhere").is_dir()
    assert not small.exists()


@pytest.mark.usefixtures("small")
def test_all_cores_are_minus_one_as_in_scikit_learn(ddr_here):
    import joblib

    from ddr_cli.engine import RunSettings

    assert RunSettings(jobs=-1).jobs == joblib.cpu_count()
    none = ddr_here("run", "small.yaml", "--jobs", "0")
    assert (none.returncode, "-1 for all cores" in none.stderr) == (2, True)


@pytest.mark.usefixtures("small")
def test_results_are_printed_as_json(ddr_here):
    done = ddr_here("run", "small.yaml", "--json")
    assert done.returncode == 0
    (rows,) = json.loads(done.stdout).values()
    assert {"reducer_label", "mean", "n"} <= rows[0].keys()
    again = ddr_here("run", "small.yaml", "--json")
    assert again.stdout == done.stdout
    report = ddr_here("report", "results", "--json")
    assert json.loads(report.stdout)["runs"]["small"] == rows


def test_what_a_method_prints_goes_to_stderr(ddr, work):
    (work / "small.yaml").write_text(SPEC.replace("[none,", '["./own.py:Mine",'))
    (work / "own.py").write_text(PRINTING)
    for words in (("check", "./own.py:Mine"), ("run", "small.yaml")):
        done = ddr(*words, "--trust", "--json")
        assert json.loads(done.stdout), done.stderr
        assert "by Python" in done.stderr
        assert "by C" in done.stderr
    network = ("check", "sklearn.neural_network:MLPClassifier", "--json", "--set", "max_iter=2")
    assert json.loads(ddr(*network, "--set", "verbose=true").stdout)


@pytest.mark.usefixtures("small")
def test_a_sweep_says_its_size_and_draws_its_curve(ddr_here):
    words = ("sweep", "small.yaml", "--param", "classifier.n_neighbors", "--values", "1,3")
    done = ddr_here(*words)
    assert done.returncode == 0
    assert "8 of 8 trials to do, over 2 splits" in done.stderr
    assert "A test: error against classifier.n_neighbors" in " ".join(done.stdout.split())


def test_plan_and_status_estimate_the_same_time(ddr_here, small):
    assert ddr_here("run", "small.yaml", "--quiet").returncode == 0
    journal = small / "trials.csv"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:3]))
    (status,) = json.loads(ddr_here("status", "--json").stdout)
    plan = json.loads(ddr_here("plan", "small.yaml", "--json").stdout)
    assert plan["seconds_left"] == status["seconds_left"] > 0
    assert (plan["remaining"], status["remaining"]) == (2, 2)
    said = re.search("about .* left", ddr_here("plan", "small.yaml").stdout)
    assert said is not None
    assert said.group() in ddr_here("status").stdout


def test_a_plan_says_what_data_is_missing(ddr_here, small):
    done = ddr_here("plan", "landsat_ccdr")
    assert done.returncode == 0
    assert "landsat/sat.tst; 'ddr data fetch landsat'" in done.stdout
    assert "not here" not in ddr_here("plan", "small.yaml").stdout
    several = ddr_here("plan", "landsat_ccdr", "small.yaml").stdout
    assert several.count("landsat is missing") == 1
    assert not small.exists()


def test_a_scheduler_that_is_not_there_is_a_mistake(ddr_here, small, monkeypatch):
    monkeypatch.setattr("ddr_cli.engine.work.dask._ANSWER_SECONDS", 0.3)
    address = "tcp://127.0.0.1:1"
    done = ddr_here("run", "small.yaml", "--backend", "dask", "--scheduler", address)
    assert done.returncode == 2
    assert f"'{address}' can't be reached" in " ".join(done.stderr.split())
    assert not small.exists()


OWN = """
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin


class Bad(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.asarray(X)[:, :1]
"""


def test_an_edited_method_is_run_again_and_the_rows_of_its_rivals_stay(ddr_here, small, work):
    (work / "bad.py").write_text(OWN)
    spec = SPEC.replace("[none,", "[none, './bad.py:Bad',") + "embeddings: {}\n"
    (work / "small.yaml").write_text(spec)
    run = ("run", "small.yaml", "--trust", "--quiet")
    assert ddr_here(*run).returncode == 0
    old = (small / "trials.csv").read_bytes()
    (work / "bad.py").write_text(OWN.replace(":1]", "2:]"))
    refused = ddr_here(*run)
    assert refused.returncode == 2
    assert "the version of Bad" in refused.stderr
    assert "'--redo changed'" in refused.stderr
    assert "holds 2 rows of another version" in refused.stderr
    assert "keeps the other 4" in refused.stderr
    refused = ddr_here(*run, "--redo", "Bad", "--set", "split.train=0.6")
    assert "(changed: split.train: 0.5 -> 0.6)" in refused.stderr
    assert (small / "trials.csv").read_bytes() == old
    assert not (small / "previous").exists()
    done = ddr_here(*run, "--redo", "changed")
    assert (done.returncode, done.stderr) == (0, "")
    before, now = (
        [line for line in text.splitlines() if b":Bad" not in line]
        for text in (old, (small / "trials.csv").read_bytes())
    )
    assert now == before
    ids = [
        {line.split(b",")[0] for line in text.splitlines() if b":Bad" in line}
        for text in (old, (small / "trials.csv").read_bytes())
    ]
    assert [len(each) for each in ids] == [2, 2]
    assert ids[0].isdisjoint(ids[1])
    (previous,) = (small / "previous").iterdir()
    assert (previous / "trials.csv").read_bytes() == old
    # The embedding of the edited method replaces the old one, which moves to `previous`.
    assert len(list((small / "embeddings").glob("Bad-*"))) == 1
    assert len(list((previous / "embeddings").iterdir())) == 1
    assert ddr_here(*run).returncode == 0


def test_a_raised_version_is_named_and_another_changed_piece_is_refused(
    ddr_here, small, monkeypatch
):
    from ddr_cli.evaluation.evaluators import CLASSIFIERS, EvaluatorTraits
    from ddr_cli.reducers.registry import REDUCERS, Traits

    assert ddr_here("run", "small.yaml", "--quiet").returncode == 0
    old = (small / "trials.csv").read_text()
    raised = Traits(version=99, supervised=False)
    monkeypatch.setattr(REDUCERS.load("pca"), "__ddr_traits__", lambda _: raised)
    refused = ddr_here("run", "small.yaml", "--redo", "none")
    assert "the version of pca" in refused.stderr
    assert ddr_here("run", "small.yaml", "--redo", "pca", "--quiet").returncode == 0
    kept = [line for line in old.splitlines() if ",pca," not in line]
    now = (small / "trials.csv").read_text().splitlines()
    assert [line for line in now if ",pca," not in line] == kept
    assert len(now) == len(old.splitlines())
    # The version of every row has now changed, so the message cannot name the component.
    knn = CLASSIFIERS.load("knn")
    monkeypatch.setattr(knn, "__ddr_traits__", lambda _: EvaluatorTraits(version=99), raising=False)
    refused = ddr_here("run", "small.yaml", "--redo", "pca")
    assert refused.returncode == 2
    assert "a reducer, classifier or data set" in refused.stderr
