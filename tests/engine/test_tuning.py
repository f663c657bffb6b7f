"""Tuned trials: their candidates, selection and cost, and that test labels are never used."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from ddr_cli.comparison.summary import summary_of
from ddr_cli.engine import Datasets, describe_plan, make_plan, read_trials, run_spec
from ddr_cli.engine.work import fitting as work
from ddr_cli.engine.work.draws import Draws
from ddr_cli.engine.work.jobs import Evaluation
from ddr_cli.engine.work.tuning import SettingsSearch
from ddr_cli.evaluation.evaluators import CLASSIFIERS
from ddr_cli.numerics.scatter import data_span
from ddr_cli.reducers import discriminant
from ddr_cli.reducers.registry import REDUCERS
from ddr_cli.rows.log import OK, TrialResult
from ddr_cli.suite.remaining import method_seconds
from tests.conftest import OneAfterTheOther

SPLIT = {"kind": "fraction", "train": 0.5, "repeats": 2, "seed": 0}
KNN = {"name": "knn", "n_neighbors": {"grid": [3]}}
CHOICE = ["tuned", "inner_score"]


class Permuted(Datasets):
    """The data sets, with permuted labels of the test samples of a spec's first split."""

    def __init__(self, tested):
        super().__init__()
        self._tested = tested

    def load(self, spec, options):
        data = super().load(spec, options)
        y = data.y.copy()
        y[self._tested] = np.random.default_rng(0).permutation(y[self._tested])
        return replace(data, y=y)


def inline(spec, out, **options):
    """Run a spec in this process and return its trial log."""
    outcome = run_spec(spec, out=out, executor=OneAfterTheOther(), **options)
    assert outcome.failed == 0
    return read_trials(outcome.folder)


def numbers(folder):
    """Return a trial log without times."""
    table = read_trials(folder)
    return table.drop(columns=[name for name in table if name.endswith("_seconds")])


def tuned(table):
    return table[table["tuned"].notna()].reset_index(drop=True)


@pytest.mark.parametrize(
    ("reducer", "seen"),
    [
        ({"name": "ccdr", "beta": {"grid": [0.1, 1]}, "n_components": {"grid": [1, 2, 3]}}, 2),
        ({"name": "discriminative_projections", "mode": "transductive",
          "n_components": {"grid": [1, 2, 3]}}, 1),
    ],
)  # fmt: skip
def test_test_labels_have_no_say(make_spec, tmp_path, monkeypatch, reducer, seen):
    given = tmp_path / "specs" / "splits.csv"
    given.parent.mkdir()
    tested = np.arange(1, 150, 2)
    parts = ["test" if row % 2 else "train" for row in range(150)]
    given.write_text("part\n" + "\n".join(parts) + "\n")
    embeddings: list[bytes] = []
    embed = work.embed_split

    def remembered(*given):
        found = embed(*given)
        embeddings.append(found.train.tobytes() + found.test.tobytes())
        return found

    monkeypatch.setattr(work, "embed_split", remembered)
    spec = make_spec(
        split={"kind": "given", "file": "splits.csv"},
        reducers=[reducer],
        tune={"budget": 8},
        controls=[],
        preprocess=["standardize"],
    )
    true = inline(spec, tmp_path / "true")
    as_true, embeddings = embeddings, []
    permuted = inline(spec, tmp_path / "permuted", datasets=Permuted(tested))
    assert len(set(as_true)) > seen
    assert embeddings == as_true
    parameters = [name for name in true if name.startswith(("reducer.", "classifier."))]
    same = ["split_hash", *parameters, *CHOICE]
    pd.testing.assert_frame_equal(tuned(true)[same], tuned(permuted)[same])
    assert not tuned(true)["error"].equals(tuned(permuted)["error"])


@pytest.mark.parametrize(
    "reducer",
    [
        {"name": "lda", "n_components": {"grid": [1, 2]}},
        {"name": "ccdr", "n_components": {"grid": [1, 2, 3]}, "beta": {"grid": [0.01, 1]}},
        {"name": "nmmp", "n_components": {"grid": [1, 2, 3]},
         "n_neighbors_within": {"grid": [2, 5]}},
    ],
    ids=["lda", "ccdr", "nmmp"],
)  # fmt: skip
def test_the_choice_is_that_of_a_grid_search(make_spec, tmp_path, reducer):
    classifier = {"name": "knn", "n_neighbors": {"grid": [1, 4, 9]}}
    spec = make_spec(
        split=SPLIT,
        reducers=[reducer],
        classifiers=[classifier],
        tune={"budget": 20, "folds": 4},
        controls=[],
    )
    table = tuned(inline(spec, tmp_path))
    plan = make_plan(spec)
    data = Datasets().load(spec, plan.data.options)
    draws = Draws(plan, data)
    for (key, fits), (_, row) in zip(plan.fits.items(), table.iterrows(), strict=True):
        drawn = draws(key)
        split = drawn.split
        [fit] = [each for each in fits if each.tuning is not None]
        assert fit.tuning is not None
        folds = draws.divide(key, drawn, None, fit.tuning)
        place = {row: i for i, row in enumerate(split.train)}
        inner = [np.array([place[r] for r in fold.rows]) for fold in folds]
        pipeline = Pipeline(
            [
                ("reducer", REDUCERS.load(reducer["name"])()),
                ("classifier", CLASSIFIERS.load("knn")()),
            ]
        )
        grid = [
            {
                f"{step}__{name}": [value]
                for step, setting in zip(("reducer", "classifier"), pair, strict=True)
                for name, value in setting.params.items()
            }
            for pair in fit.tuning.candidates
        ]
        search = GridSearchCV(
            pipeline,
            grid,
            cv=[(rows[: fold.n_train], rows[fold.n_train :]) for rows, fold in
                zip(inner, folds, strict=True)],
            scoring="accuracy",
        ).fit(data.X[split.train], data.y[split.train])  # fmt: skip
        errors = 1 - search.cv_results_["mean_test_score"]
        first = int(np.flatnonzero(errors < errors.min() + 1e-9)[0])
        assert row["inner_score"] == pytest.approx(errors.min(), abs=1e-9)
        assert row["tuned"] == len(grid)
        for piece, setting in zip(
            ("reducer", "classifier"), fit.tuning.candidates[first], strict=True
        ):
            for name, value in setting.params.items():
                assert str(row[f"{piece}.{name}"]) == str(value) or value is None
        search.estimator.set_params(
            **{name: values[0] for name, values in grid[first].items()}
        ).fit(data.X[split.train], data.y[split.train])
        wrong = search.estimator.predict(data.X[split.test]) != data.y[split.test]
        assert row["error"] == pytest.approx(float(np.mean(wrong)))


@pytest.mark.usefixtures("installed")
def test_settings_share_their_fits(make_spec, tmp_path):
    fits, searches = tmp_path / "fits", tmp_path / "searches"
    spec = make_spec(
        split={**SPLIT, "repeats": 1},
        reducers=[
            {
                "name": "picky",
                "log": str(fits),
                "n_components": {"grid": [1, 2, 3, 4]},
                "limit": {"grid": [99, 98]},
            }
        ],
        classifiers=[
            {"name": "faulty", "k": {"grid": [1, 2]}, "log": str(searches)},
            {"name": "knn", "n_neighbors": {"grid": [3]}},
        ],
        tune={"folds": 3, "budget": 16},
        controls=[],
    )
    table = tuned(inline(spec, tmp_path / "out"))
    assert table["tuned"].tolist() == [16, 8]
    # One fit per limit and fold serves 4 values of n_components and both classifiers.
    planned = describe_plan(spec, out=tmp_path)
    assert planned.inner_fits == 6
    axes = "reducer.n_components 2, 1, 3, 4; reducer.limit 99, 98"  # defaults come first
    assert planned.candidates[1] == f"picky, knn: 8 settings of {axes}"
    exact = table["reducer.n_components"].unique().astype(str)
    assert Counter(fits.read_text().split()) == Counter(["2", *["4"] * 6, *exact])
    # Each of the 6 inner embeddings is searched with 4 values of n_components.
    assert Counter(searches.read_text().split())["2"] == 24


def test_the_time_limit_of_a_tuned_job_counts_every_inner_fold(make_spec, tmp_path):
    spec = make_spec(
        split={**SPLIT, "repeats": 1},
        reducers=[{"name": "pca", "n_components": 2, "whiten": {"grid": [False, True]}}],
        classifiers=[KNN],
        tune={"folds": 3, "repeats": 2, "budget": 2},
    )
    stages = []

    class Counting(OneAfterTheOther):
        def submit(self, job):
            stages.append(job.stages)
            super().submit(job)

    run_spec(spec, out=tmp_path, executor=Counting())
    # On each of 3 * 2 inner folds, both settings are fitted and scored.
    assert max(stages) >= 3 * 2 * 2 * 2


def test_fits_to_the_same_points_share_what_changes_nothing(make_spec, tmp_path, monkeypatch):
    spec = make_spec(
        split={**SPLIT, "repeats": 1},
        reducers=[
            {"name": "mfa", "n_components": {"grid": [1, 2]}, "reg": {"grid": [0.0, 0.01]}},
            {"name": "nmmp", "n_components": {"grid": [1, 2]}},
        ],
        classifiers=[{"name": "linear"}, KNN],
        tune={"folds": 3, "budget": 4},
        controls=[],
    )
    tables, counts = [], []
    for shares in (True, False):
        spans: list[Any] = []
        monkeypatch.setattr(
            discriminant, "data_span", lambda X, spans=spans: (spans.append(X), data_span(X))[1]
        )
        if not shares:
            monkeypatch.setattr(work, "sharing", lambda _: nullcontext())
        inline(spec, tmp_path / str(shares))
        tables.append(numbers(tmp_path / str(shares) / spec.name))
        counts.append(len(spans))
    pd.testing.assert_frame_equal(*tables)
    # The training set is decomposed once for all methods and settings, each fold once per method.
    assert counts[0] == 1 + 2 * 3 < counts[1]


@pytest.mark.usefixtures("installed")
def test_a_setting_that_fails_in_a_fold_is_not_chosen(make_spec, tmp_path):
    spec = make_spec(
        split=SPLIT,
        reducers=[
            {"name": "faulty", "does": "raise", "when": 2.0, "scale": {"grid": [2.0, 1.0]}},
            {"name": "picky", "limit": 3, "n_components": {"grid": [1, 2, 3, 4]}},
        ],
        classifiers=[KNN],
        tune={},
        controls=[],
    )
    table = tuned(inline(spec, tmp_path))
    chosen = table.groupby("reducer")[["reducer.scale", "reducer.n_components"]].max()
    assert chosen.loc["faulty", "reducer.scale"] == 1.0
    assert chosen.loc["picky", "reducer.n_components"] <= 3


@pytest.mark.usefixtures("installed")
def test_if_no_setting_can_be_scored_the_trial_fails_with_the_reason(make_spec, tmp_path):
    spec = make_spec(
        split=SPLIT,
        reducers=[
            {
                "name": "picky",
                "limit": 0,
                "n_components": {"grid": [1, 2]},
                "log": str(tmp_path / "l"),
            }
        ],
        classifiers=[KNN],
        tune={},
        controls=[],
    )
    folder = run_spec(spec, out=tmp_path, executor=OneAfterTheOther()).folder
    table = tuned(read_trials(folder))
    assert set(table["status"]) == {"failed"}
    assert table["reason"].str.contains("ValueError: 2 is more than 0").all()
    # Tuned parameters have no value, fixed parameters have theirs.
    assert table["reducer.n_components"].isna().all()
    assert (table["reducer.limit"] == 0).all()
    rows = summary_of(folder).rows
    assert rows["tuned"].tolist() == [False, True]
    assert rows["failed"].tolist() == [2, 2]


def test_a_class_with_one_training_point_fails_the_tuned_trials_alone(make_spec, tmp_path):
    parts = tmp_path / "specs" / "splits.csv"
    parts.parent.mkdir()
    training = {0, 1, 2, 50, 100, 101, 102}
    parts.write_text(
        "part\n" + "\n".join("train" if row in training else "test" for row in range(150)) + "\n"
    )
    spec = make_spec(
        split={"kind": "given", "file": "splits.csv"},
        reducers=["none"],
        classifiers=[KNN],
        tune={},
        controls=[],
    )
    table = read_trials(run_spec(spec, out=tmp_path, executor=OneAfterTheOther()).folder)
    assert table["status"].tolist() == ["ok", "failed"]
    assert "has 1 training sample" in table["reason"][1]


@pytest.mark.usefixtures("installed")
def test_a_worker_killed_while_it_tunes_costs_a_trial_that_can_be_run_again(
    make_spec, run, tmp_path
):
    def spec(does):
        return make_spec(
            split=SPLIT,
            reducers=[
                {"name": "faulty", "does": does, "when": 2.0, "scale": {"grid": [1.0, 2.0]},
                 "log": str(tmp_path / "log")},
            ],
            classifiers=[KNN, "linear"],
            tune={"budget": 6},
            controls=[],
        )  # fmt: skip

    killing = spec("die_once")
    first = run(killing, out=tmp_path / "killed")
    assert (first.done, first.failed) == (7, 1)
    assert set(read_trials(first.folder)["status"]) == {"ok", "killed"}
    again = run(killing, out=tmp_path / "killed", redo=["failed"])
    assert (again.done, again.failed) == (1, 0)
    # The numbers do not depend on the number of processes or on earlier rows.
    whole = run_spec(killing, out=tmp_path / "whole", executor=OneAfterTheOther()).folder
    pd.testing.assert_frame_equal(numbers(again.folder), numbers(whole))
    journal = whole / "trials.csv"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(line for i, line in enumerate(lines) if i % 3 != 2))
    run_spec(killing, out=tmp_path / "whole", executor=OneAfterTheOther())
    pd.testing.assert_frame_equal(numbers(again.folder), numbers(whole))


def test_a_trial_is_known_by_its_candidates(make_spec):
    def ids(**changes):
        keys = {
            "reducers": [{"name": "pca", "n_components": {"grid": [1, 2, 3]}, "label": "A"}],
            "classifiers": [KNN],
            "tune": {"budget": 8},
            "controls": [],
        }
        found = make_plan(make_spec(split=SPLIT, **{**keys, **changes})).trials
        default = {one for one, trial in found.items() if trial.tuning is None}
        return default, found.keys() - default

    before = ids()
    assert ids(tune={"budget": 9}) == before  # the candidates stay the same
    grid = {"grid": [1, 2, 3]}
    assert ids(reducers=[{"name": "pca", "n_components": grid, "label": "B"}]) == before
    for change in (
        {"tune": {"folds": 4}},
        {"tune": {"repeats": 2}},
        {"tune": {"metric": "accuracy"}, "metrics": ["error", "accuracy"]},
        {"reducers": [{"name": "pca", "n_components": {"grid": [3, 2, 1]}}]},
        {"classifiers": [{"name": "knn", "n_neighbors": {"grid": [3, 5]}}]},
    ):
        default, own = ids(**change)
        assert default == before[0] or change.keys() == {"classifiers"}
        assert not own & before[1], change


def test_labelled_points_alone_are_divided(make_spec, tmp_path):
    spec = make_spec(
        split={"kind": "per_class", "train": 20, "repeats": 2},
        reducers=[
            {"name": "discriminative_projections", "n_components": {"grid": [1, 2]}},
            {"name": "lda", "n_components": {"grid": [1, 2]}},
            {"name": "pca", "n_components": {"grid": [1, 2]}},
        ],
        classifiers=[{"name": "knn", "n_neighbors": {"grid": [1]}}],
        labels=[4, "all"],
        tune={"folds": 2},
        controls=[],
    )
    table = tuned(inline(spec, tmp_path))
    assert len(table) == 3 * 2 * 2
    few = table[table["labels"] == 4]["inner_score"] * 12
    # Each fold tests half of the 12 labelled samples.
    assert np.allclose(few, few.round())


def test_the_summary_has_tuned_rows_beside_the_default_ones(make_spec, tmp_path):
    spec = make_spec(
        split={**SPLIT, "repeats": 4},
        reducers=["none", {"name": "lda", "n_components": {"grid": [1, 2]}}],
        classifiers=[KNN],
        tune={},
        controls=[],
    )
    table = inline(spec, tmp_path)
    rows = summary_of(tmp_path / spec.name).rows
    assert rows["reducer_label"].tolist() == ["no reduction"] * 2 + ["LDA"] * 2
    assert rows["tuned"].tolist() == [False, True] * 2
    assert rows["n"].tolist() == [4] * 4
    last = table[table["tuned"].notna() & (table["reducer"] == "lda")]
    taken = last["reducer.n_components"].value_counts().sort_index()
    assert rows["chosen"].iloc[3] == f"dim = {taken.idxmax()} ({taken.max()} of 4)"
    assert rows["mean"].iloc[3] == pytest.approx(last["error"].mean())


def test_a_tuned_trial_has_what_its_search_took_and_found():
    fits = [SimpleNamespace(evaluations=[Evaluation("a", i, None, "knn", {})]) for i in (0, 1)]
    job: Any = SimpleNamespace(candidates=fits, metric="error", n_folds=2)
    search = SettingsSearch(job)
    for error in (0.25, 0.75):
        search.add([TrialResult("a", OK, "", {"error": error}, 2.0, 0.25, 0)])
        search.add([TrialResult("a", OK, "", {"error": error / 2}, 1.0, 0.25, 1)])
    (found,) = search.with_choice([TrialResult("a", OK, "", candidate=1)])
    assert (found.inner_score, found.tune_seconds) == (0.25, 7.0)


def test_a_method_took_what_its_search_fit_and_evaluation_took():
    fit: Any = SimpleNamespace(
        trials={"a": None}, tuning=object(), reducer=SimpleNamespace(label="lda")
    )
    times = {"a": (2.0, 1.0, 4.0)}
    assert method_seconds([fit], times) == {"lda": 7.0}
