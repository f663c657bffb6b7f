"""Runs compute measures and keep embeddings."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from ddr_cli.core.errors import InputError
from ddr_cli.data import load_dataset
from ddr_cli.engine import read_trials, run_spec
from ddr_cli.engine.work.samples import Labels, Samples
from ddr_cli.engine.work.scoring import _ranked
from ddr_cli.evaluation.measures import Embedded, SameClass, Topology
from ddr_cli.reducers import LDA, PCA
from ddr_cli.spec import make_spec

MEASURES = [{"name": "same_class", "n_neighbors": 3}, {"name": "topology"}]


def spec_of(**changes):
    given = {
        "name": "judged",
        "dataset": "iris",
        "reducers": [{"name": "pca", "n_components": 3}, {"name": "lda", "n_components": 2}],
        "classifiers": None,
        "measures": MEASURES,
        "split": {"kind": "whole", "repeats": 1},
        "embeddings": {"points": 40},
        "controls": [],
    }
    return make_spec(**{**given, **changes})


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("measures")
    outcome = run_spec(spec_of(sweep={"reducer.n_components": [1, 2]}), out=out)
    assert (outcome.done, outcome.failed) == (8, 0)
    return outcome.folder


def test_every_row_has_its_own_measure_alone(run):
    trials = read_trials(run)
    assert set(trials["split"]) == {"whole-0"}
    for name, other in (("same_class", "topology"), ("topology", "same_class")):
        rows = trials[trials["classifier"] == name]
        assert rows[name].notna().all()
        assert rows[other].isna().all()


def test_repeats_on_the_same_points_differ_by_a_methods_own_randomness(tmp_path):
    projection = {"name": "sklearn.random_projection:GaussianRandomProjection", "n_components": 2}
    spec = spec_of(
        reducers=[projection, {"name": "pca", "n_components": 2}],
        measures=[{"name": "topology"}],
        split={"kind": "whole", "repeats": 3},
    )
    found = read_trials(run_spec(spec, out=tmp_path, jobs=1).folder).groupby("reducer")["topology"]
    assert found.nunique().to_dict() == {projection["name"]: 3, "pca": 1}


def test_classifiers_are_scored_next_to_measures(tmp_path):
    spec = spec_of(
        classifiers=["knn"],
        metrics=["error", "f1_macro"],
        measures=[{"name": "same_class"}],
        split={"kind": "fraction", "train": 0.5, "repeats": 1},
    )
    trials = read_trials(run_spec(spec, out=tmp_path).folder).set_index("classifier")
    assert set(trials["status"]) == {"ok"}
    assert trials.loc["knn", ["error", "f1_macro"]].notna().all(axis=None)
    assert trials.loc["knn", "same_class"].isna().all()


def test_the_numbers_are_those_of_the_pieces(run):
    data = load_dataset("iris")
    trials = read_trials(run).set_index(["reducer", "reducer.n_components", "classifier"])
    for name, reducer in (("pca", PCA), ("lda", LDA)):
        for m in (1, 2):
            points = reducer(2).fit_transform(data.X, data.y)[:, :m]
            embedded = Embedded(points, data.X, data.y, 150, data.target_names)
            found = trials.loc[name, m]
            assert found.loc["same_class", "same_class"] == SameClass(3).score(embedded)
            assert found.loc["topology", "topology"] == Topology(1).score(embedded)


def test_kept_embeddings_are_the_first_columns_of_the_fit(run):
    data = load_dataset("iris")
    files = [json.loads(path.read_text()) for path in (run / "embeddings").glob("*.json")]
    assert sorted((f["reducer"], f["n_components"]) for f in files) == [
        ("lda", 1),
        ("lda", 2),
        ("pca", 1),
        ("pca", 2),
    ]
    (wide,) = (f for f in files if f["reducer"] == "lda" and f["n_components"] == 2)
    assert len(wide["y"]) == len(wide["coordinates"]) == len(wide["part"]) == 40
    assert wide["classes"] == list(data.target_names)
    assert wide["params"]["max_condition"] == 1000
    whole = LDA(2).fit_transform(data.X, data.y)
    for point, label in zip(wide["coordinates"], wide["y"], strict=True):
        same = np.abs(whole - point).max(axis=1) < 1e-3
        assert label in data.y[same]


def test_a_lost_file_is_made_again_and_no_trial_twice(tmp_path):
    spec = spec_of()
    folder = run_spec(spec, out=tmp_path).folder
    before = {path.name: path.read_bytes() for path in (folder / "embeddings").iterdir()}
    journal = (folder / "trials.csv").read_bytes()
    (folder / "embeddings" / min(before)).unlink()
    outcome = run_spec(spec, out=tmp_path)
    assert (outcome.done, outcome.skipped) == (0, 4)
    after = {path.name: path.read_bytes() for path in (folder / "embeddings").iterdir()}
    assert after == before
    assert (folder / "trials.csv").read_bytes() == journal


def test_classifiers_and_measures_side_by_side(tmp_path):
    spec = spec_of(
        classifiers=[{"name": "knn", "n_neighbors": 3}],
        split={"kind": "fraction", "train": 0.5, "repeats": 2},
        metrics=["accuracy"],
    )
    assert spec.metrics == ("accuracy", "same_class", "topology")
    trials = read_trials(run_spec(spec, out=tmp_path).folder)
    assert len(trials) == 2 * 2 * 3
    knn = trials[trials["classifier"] == "knn"]
    assert knn["accuracy"].notna().all()
    assert knn[["same_class", "topology"]].isna().all(axis=None)


def test_three_columns_of_an_embedding_are_kept(tmp_path):
    spec = spec_of(reducers=["none"], embeddings={"points": 10})
    folder = run_spec(spec, out=tmp_path).folder
    (file,) = (json.loads(path.read_text()) for path in (folder / "embeddings").iterdir())
    assert len(file["coordinates"][0]) == 3
    assert file["n_components"] == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"classifiers": ["knn"]}, "classifiers.*whole"),
        ({"metrics": ["error"]}, "remove 'metrics'"),
        ({"measures": ["knn"]}, "no measure called"),
        ({"measures": [], "classifiers": []}, "at least one classifier or measure"),
        ({"embeddings": {"points": 3}}, "10"),
        ({"split": {"kind": "whole", "train": 0.5}}, "omit 'train'"),
    ],
)
def test_a_spec_for_measures_with_unsuitable_keys_is_refused(changes, message):
    with pytest.raises(InputError, match=message):
        spec_of(**changes)


def test_rankings_are_of_classifiers_with_decision_values(tmp_path):
    spec = make_spec(
        name="ranked",
        dataset="pca_example",
        reducers=["none"],
        classifiers=["linear", "knn"],
        split={"kind": "fraction", "train": 0.5, "repeats": 1},
        metrics=["error", "mean_average_precision"],
    )
    rows = read_trials(run_spec(spec, out=tmp_path).folder).set_index("classifier")
    assert rows["error"].notna().all()
    assert 0.5 < rows.at["linear", "mean_average_precision"] <= 1
    assert np.isnan(rows.at["knn", "mean_average_precision"])
    three = spec.model_copy(update={"dataset": spec_of().dataset, "name": "three"})
    failed = read_trials(run_spec(three, out=tmp_path).folder)
    assert "needs two classes, not 3" in failed.set_index("classifier").at["linear", "reason"]


def test_two_columns_of_decision_values_rank_by_their_difference():
    X = np.random.default_rng(0).normal(size=(12, 2))
    split = Samples(X, Labels(np.arange(12) % 2, ("a", "b"), groups=np.arange(12) // 4))
    both = SimpleNamespace(decision_function=lambda X: X)
    one = SimpleNamespace(decision_function=lambda X: X[:, 1] - X[:, 0])
    assert _ranked(both, X, split) == _ranked(one, X, split)
