"""What runs keep for scores asked for later: nothing of it is lost, and scores are a run's own."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from ddr_cli.core.errors import InputError
from ddr_cli.engine import kept, make_plan, read_trials, score_run
from ddr_cli.engine.kept import KEPT, PARTS, read_kept
from ddr_cli.engine.session import RunOutcome

if TYPE_CHECKING:
    import subprocess

    from ddr_cli.spec import Spec

MakeSpec = Callable[..., "Spec"]
Run = Callable[..., RunOutcome]

KEYS: dict[str, Any] = {
    "preprocess": ["standardize"],
    "reducers": ["none", {"name": "pca"}, {"name": "ccdr", "mode": "transductive"}],
    "sweep": {"reducer.n_components": [1, 2], "classifier.n_neighbors": [1, 5]},
    "metrics": ["error", "balanced_accuracy"],
}
KEEP = {"predictions": True, "embeddings": 500}


def scores_of(folder: Path, **asked: Any) -> pd.Series[float]:
    found = score_run(folder, **asked)
    assert found.missing == 0
    return found.table.iloc[:, -1]


def test_trials_are_the_same_whatever_is_kept(make_spec: MakeSpec) -> None:
    plain, keeping = make_spec(**KEYS), make_spec("keeping", **KEYS, keep=KEEP)
    assert list(make_plan(plain).trials) == list(make_plan(keeping).trials)
    assert "keep" not in plain.resolved()


def test_a_metric_of_kept_predictions_is_the_run_s_own(make_spec: MakeSpec, run: Run) -> None:
    folder = run(make_spec(**KEYS, keep=KEEP)).folder
    trials = read_trials(folder).set_index("trial_id")
    for metric in KEYS["metrics"]:
        pd.testing.assert_series_equal(scores_of(folder, metric=metric), trials[metric])
    accuracy = scores_of(folder, metric="accuracy")
    np.testing.assert_allclose(accuracy, 1 - trials["error"])
    written = pd.read_csv(folder / "scores.csv")
    assert written["accuracy"].tolist() == accuracy.tolist()
    assert "accuracy" not in trials


def test_a_measure_of_kept_places_is_the_run_s_own(make_spec: MakeSpec, run: Run) -> None:
    measures = [{"name": "topology", "n_neighbors": 3}, "class_distance"]
    keys = KEYS | {"sweep": {"reducer.n_components": [1, 2]}, "classifiers": ["linear"]}
    folder = run(make_spec(**keys, measures=measures, keep=KEEP)).folder
    trials = read_trials(folder)
    manifest = folder / "manifest.json"
    text = manifest.read_text()
    manifest.write_text(text.replace('"fingerprint": "sha256:', '"fingerprint": "sha256:0'))
    with pytest.raises(InputError, match="not the one that was run on"):
        score_run(folder, measure="class_distance")
    manifest.write_text(text)
    for name, params in (("topology", {"n_neighbors": 3}), ("class_distance", {})):
        own = trials[trials["classifier"] == name]
        assert scores_of(folder, measure=name, params=params).tolist() == own[name].tolist()


def test_a_measure_of_kept_places_of_classes_is_the_run_s_own(
    make_spec: MakeSpec, run: Run
) -> None:
    spec = make_spec(
        reducers=["discriminative_projections"],
        classifiers=["linear"],
        measures=[{"name": "class_distance", "of": "labels"}],
        keep={"embeddings": 20},
    )
    folder = run(spec).folder
    own = read_trials(folder)["class_distance"].dropna()
    found = scores_of(folder, measure="class_distance", params={"of": "labels"})
    assert found.tolist() == own.tolist() != []


def test_places_of_some_points_are_of_either_part(make_spec: MakeSpec, run: Run) -> None:
    folder = run(make_spec(**KEYS, keep={"embeddings": 20})).folder
    group = read_kept(folder)["fraction-0"]
    assert len(group.points) == 20
    assert 0 < np.sum(group.points < len(group.train)) < 20
    assert {len(places) for places in group.places} == {0, 20}  # none leaves points as they are
    assert score_run(folder, measure="same_class").points == 20
    with pytest.raises(InputError, match=r"nothing to compute error from.*predictions: true.*--f"):
        score_run(folder, metric="error")


def test_trials_of_before_are_counted(make_spec: MakeSpec, run: Run) -> None:
    folder = run(make_spec(reducers=["none"])).folder
    with pytest.raises(InputError, match=r"has kept nothing .* 'keep: \{predictions: true\}'"):
        score_run(folder, metric="accuracy")
    journal = folder / "trials.csv"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:3]))
    assert run(make_spec(reducers=["none"], keep=KEEP)).done == 4
    found = score_run(folder, metric="accuracy")
    assert (len(found.table), found.missing) == (4, 2)


SCRIPT = """
import sys
from ddr_cli.engine import run_spec
from ddr_cli.spec import load_spec

outcome = run_spec(load_spec("specs/small.yaml"), out=".", jobs=1)
"""


def test_a_run_that_is_killed_has_kept_what_its_rows_need(
    make_spec: MakeSpec, run: Run, run_script: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    keys = KEYS | {"split": {"kind": "fraction", "train": 0.5, "repeats": 30}}
    spec = make_spec(**keys, keep=KEEP)
    process, folder = run_script(SCRIPT), tmp_path / "small"
    end = time.monotonic() + 100
    while not (folder / "trials.csv").exists() or len(read_trials(folder)) < 20:
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = read_trials(folder).set_index("trial_id")
    assert (folder / PARTS).is_dir()
    pd.testing.assert_series_equal(scores_of(folder, metric="error"), before["error"])
    outcome = run(spec)
    assert (outcome.done, outcome.skipped) == (outcome.planned - len(before), len(before))
    assert not (folder / PARTS).exists()
    after = read_trials(folder).set_index("trial_id")
    pd.testing.assert_series_equal(scores_of(folder, metric="error"), after["error"])
    assert len(scores_of(folder, measure="topology")) == 30 * 5


def test_a_merge_that_was_cut_short_is_done_again(
    make_spec: MakeSpec, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = make_spec(reducers=["none", "lda"], keep=KEEP)
    with monkeypatch.context() as patched:
        patched.setattr(kept, "shutil", SimpleNamespace(rmtree=lambda _: None))
        folder = run(spec).folder
    merged = (folder / KEPT).read_bytes()
    assert (folder / PARTS).is_dir()
    whole = scores_of(folder, metric="error")
    assert run(spec).done == 0
    assert not (folder / PARTS).exists()
    pd.testing.assert_series_equal(scores_of(folder, metric="error"), whole)
    assert len((folder / KEPT).read_bytes()) == pytest.approx(len(merged), rel=0.5)


def test_predictions_of_a_process_that_dies_later_are_kept(
    make_spec: MakeSpec, run: Run, tmp_path: Path
) -> None:
    reducer = {"name": "picky", "log": str(tmp_path / "log")}
    classifiers = ["linear", {"name": "faulty", "does": "die", "when": 1}]
    folder = run(make_spec(reducers=[reducer], classifiers=classifiers, keep=KEEP)).folder
    trials = read_trials(folder).set_index("trial_id")
    assert set(trials["status"]) == {"ok", "killed"}
    # What failed is scored as the journal scores it.
    pd.testing.assert_series_equal(scores_of(folder, metric="error"), trials["error"])
    assert len(scores_of(folder, measure="topology")) == 3


def test_shuffled_labels_have_other_true_classes(make_spec: MakeSpec, run: Run) -> None:
    spec = make_spec(reducers=["lda"], controls=["shuffled_labels"], keep=KEEP)
    folder = run(spec).folder
    trials = read_trials(folder).set_index("trial_id")
    assert set(trials["control"]) == {"", "shuffled_labels"}
    pd.testing.assert_series_equal(scores_of(folder, metric="error"), trials["error"])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"metric": "eror"}, "no metric called 'eror'.* Did you mean 'error'"),
        ({"metric": "training_error"}, "is not computed from labels predicted for test points"),
        ({"measure": "topolgy"}, "'topolgy'.* Did you mean 'topology'"),
        ({"measure": "topology", "params": {"k": 3}}, "topology: .*'k'"),
        ({"measure": "topology", "params": {"n_neighbors": 0}}, "topology: .*n_neighbors"),
    ],
)
def test_what_cannot_be_scored_is_said(
    make_spec: MakeSpec, run: Run, asked: dict[str, Any], message: str
) -> None:
    folder = run(make_spec(reducers=["none"], keep=KEEP)).folder
    with pytest.raises(InputError, match=message):
        score_run(folder, **asked)


def test_a_damaged_file_is_named(make_spec: MakeSpec, run: Run) -> None:
    folder = run(make_spec(reducers=["none"], keep=KEEP)).folder
    path = folder / KEPT
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InputError, match=r"kept\.npz is damaged .*--fresh"):
        score_run(folder, metric="error")


def test_tuned_trials_keep_what_their_choice_predicts(make_spec: MakeSpec, run: Run) -> None:
    spec = make_spec(
        reducers=[{"name": "lda", "n_components": {"grid": [1, 2]}}, "none"],
        classifiers=[{"name": "knn", "n_neighbors": {"grid": [1, 5]}}],
        tune={"folds": 2, "budget": 4},
        controls=[],
        keep=KEEP,
    )
    folder = run(spec).folder
    trials = read_trials(folder).set_index("trial_id")
    assert trials["tuned"].notna().sum() == len(trials) / 2
    pd.testing.assert_series_equal(scores_of(folder, metric="error"), trials["error"])
    values = score_run(folder, measure="same_class").table
    assert len(values) == len(trials)
    # Where the choice is a default, so are the places.
    tuned, default = values[values["tuned"].notna()], values[values["tuned"].isna()]
    same = tuned.merge(default, on=["split", "reducer", "reducer.n_components"])
    assert len(same) > 0
    assert (same["same_class_x"] == same["same_class_y"]).all()
