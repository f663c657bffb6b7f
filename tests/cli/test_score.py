"""`ddr score` as a user sees it."""

from __future__ import annotations

import shutil

import pytest

from ddr_cli.engine import run_spec
from ddr_cli.spec import load_spec

SPEC = """
dataset: iris
split: {kind: fraction, train: 0.5, repeats: 2}
reducers: [none, {name: pca}]
sweep: {reducer.n_components: [1, 2]}
classifiers: [{name: knn, n_neighbors: 3}]
keep: {predictions: true, embeddings: 50}
controls: []
"""


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    place = tmp_path_factory.mktemp("complete")
    (place / "small.yaml").write_text(SPEC)
    return run_spec(load_spec(place / "small.yaml"), out=place, jobs=1).folder


@pytest.fixture
def done(complete, work):
    return shutil.copytree(complete, work / "results" / "small")


def test_a_metric_and_a_measure_are_shown_and_written(ddr_here, done):
    journal = (done / "trials.csv").read_bytes()
    shown = ddr_here("score", "results/small", "--metric", "accuracy")
    assert shown.returncode == 0, shown.stderr
    assert "accuracy in %" in shown.stdout
    assert [line.split("│")[1].strip() for line in shown.stdout.splitlines() if "knn" in line] == [
        "none",
        "pca",
        "pca",
    ]
    words = ("--measure", "topology", "--set", "n_neighbors=5", "--offline")
    shown = ddr_here("score", "results/small", *words)
    assert shown.returncode == 0, shown.stderr
    assert "over splits, 50 points of each" in " ".join(shown.stdout.split())
    assert len((done / "scores.csv").read_text().splitlines()) == 1 + 6
    assert (done / "trials.csv").read_bytes() == journal


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "--metric NAME or --measure NAME"),
        (("--metric", "error", "--measure", "topology"), "--metric NAME or --measure NAME"),
        (("--metric", "error", "--set", "k=1"), "metrics have none"),
        (("--measure", "topology", "--set", "k"), "--set k is not of the form KEY=VALUE"),
        (("--metric", "errror"), "Did you mean 'error'?"),
    ],
)
def test_a_mistake_is_one_sentence(ddr_here, done, words, message):
    shown = ddr_here("score", str(done), *words)
    assert (shown.returncode, "Traceback" in shown.stderr) == (2, False)
    assert message in " ".join(shown.stderr.split())


def test_a_folder_without_a_run(ddr_here, work):
    shown = ddr_here("score", str(work), "--metric", "error")
    assert shown.returncode == 2
    assert "run a spec first" in shown.stderr


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("predictions: true, embeddings: 50", "predictions: false", "nothing is kept"),
        ("embeddings: 50", "embeddings: 5", "embeddings"),
        ("classifiers: [{name: knn, n_neighbors: 3}]", "measures: [topology]", "no predictions"),
        ("keep:", "labels: [2, all]\nkeep:", "leave out embeddings or labels"),
        ("embeddings: 50", "embedding: 50", "Did you mean 'embeddings'?"),
    ],
)
def test_what_cannot_be_kept_is_refused_at_once(ddr_here, work, old, new, message):
    (work / "small.yaml").write_text(SPEC.replace(old, new))
    shown = ddr_here("validate", "small.yaml")
    assert shown.returncode == 2
    assert shown.stderr.startswith("Error: 1 problem in small.yaml:\n  small.yaml:")
    assert message in " ".join(shown.stderr.split())
