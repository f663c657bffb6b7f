"""Rows of controls have their own file, so that `trials.csv` only has rows of methods."""

from __future__ import annotations

import pandas as pd
import pytest

import ddr_cli
from ddr_cli.core.errors import InputError
from ddr_cli.engine import describe_plan, read_trials, run_status
from ddr_cli.engine.progress import Progress
from ddr_cli.rows import log

CONTROLS = ["none", "full_features", "shuffled_labels"]
LDA = {"name": "lda", "n_components": 2}


def cells(path):
    """Return the rows of a file by trial id, without their times."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    return table.drop(columns=["fit_seconds", "eval_seconds"]).set_index("trial_id")


def failures(results):
    """Return the failed trials of the run with their reasons, to print when a test fails."""
    rows = read_trials(results / "small", which="all")
    return rows.loc[rows["status"] != "ok", ["split", "reducer", "status", "reason"]].to_string()


@pytest.fixture
def spec(make_spec):
    return make_spec(reducers=[LDA], controls=CONTROLS)


@pytest.fixture
def folder(spec, run):
    return run(spec).folder


def to_old_format(folder):
    """Rewrite a folder in the old format: one file, a column of controls, and no labels."""
    methods, controls = (
        pd.read_csv(folder / name, dtype=str, keep_default_na=False)
        for name in ("trials.csv", "controls.csv")
    )
    old = pd.concat([methods, controls]).drop(columns=["reducer_label", "classifier_label"])
    old["control"] = old["control"].replace("full_features", "")
    old = old.sort_values("split", kind="stable")
    old.to_csv(folder / "trials.csv", index=False, lineterminator="\n")
    (folder / "controls.csv").unlink()


def test_the_mean_of_a_method_in_trials_csv_is_its_mean(folder):
    trials, controls = (pd.read_csv(folder / n) for n in ("trials.csv", "controls.csv"))
    by_summary = ddr_cli.Results(folder).summary.query("metric == 'error' and reducer == 'lda'")
    means = trials[trials["reducer"] == "lda"].groupby("classifier")["error"].mean()
    for _, row in by_summary[by_summary["control"] == ""].iterrows():
        assert means[row["classifier"]] == pytest.approx(row["mean"])
    assert means.max() < 0.2
    assert set(trials["classifier"]) == {"knn", "linear"}
    assert trials["control"].isna().all()
    kinds = controls.groupby("control")[["reducer", "classifier"]].agg(lambda all_: set(all_))
    assert kinds.loc["shuffled_labels", "reducer"] == {"lda"}
    assert kinds.loc["full_features", "reducer"] == {"none"}
    assert kinds.loc["full_features", "classifier"] == {"random_forest"}
    assert len(trials) == 2 * 2 * 3
    assert len(controls) == (2 + 1) * 3


def test_a_run_without_controls_has_the_same_columns(make_spec, run, folder):
    plain = run(make_spec("plain", reducers=[LDA], metrics=["error", "training_error"])).folder
    for name in ("trials.csv", "controls.csv"):
        with_controls, without = (set(pd.read_csv(each / name).columns) for each in (folder, plain))
        # Only the control on all features has parameters of a random forest.
        assert {each for each in with_controls if "." not in each} == {
            each for each in without if "." not in each
        }
    assert len(pd.read_csv(plain / "controls.csv")) == 0


def test_results_have_the_methods_rows_and_on_request_the_controls(folder):
    results = ddr_cli.Results(folder)
    assert set(results.trials["control"]) == {""}
    assert set(results.controls["control"]) == {"shuffled_labels", "full_features"}
    assert list(results.controls.columns) == list(results.trials.columns)
    assert len(read_trials(folder, which="all")) == len(results.trials) + len(results.controls)
    assert f"{len(results.trials) + len(results.controls)} trials" in repr(results)


def test_the_label_is_that_of_the_summary(make_spec, run):
    reducers = [LDA, {"name": "lda", "n_components": 1, "label": "narrow"}]
    results = ddr_cli.Results(run(make_spec(reducers=reducers)).folder)
    columns = ["reducer_label", "classifier_label"]
    assert set(results.trials["reducer_label"]) == {"LDA (dim = 2)", "narrow"}
    of_trials, of_summary = (
        set(map(tuple, table[columns].to_numpy())) for table in (results.trials, results.summary)
    )
    assert of_trials == of_summary
    # A label is not part of a trial's id, so the rows stay and get the new label.
    reducers[1]["label"] = "one column"
    outcome = run(make_spec(reducers=reducers))
    assert outcome.done == 0
    labels = set(ddr_cli.Results(outcome.folder).trials["reducer_label"])
    assert labels == {"LDA (dim = 2)", "one column"}


def test_a_folder_of_before_is_read_and_a_run_updates_it(spec, run, folder):
    before = {name: cells(folder / name) for name in ("trials.csv", "controls.csv")}
    to_old_format(folder)
    assert len(ddr_cli.Results(folder).controls) == 2 * 3
    assert describe_plan(spec, out=folder.parent).remaining == 0
    assert run_status(folder).remaining == 0
    assert run(spec).done == 0
    for name, rows in before.items():
        pd.testing.assert_frame_equal(cells(folder / name), rows)


def test_a_folder_of_before_resumes(spec, run, folder):
    before = {name: cells(folder / name) for name in ("trials.csv", "controls.csv")}
    to_old_format(folder)
    lines = (folder / "trials.csv").read_text().splitlines(keepends=True)
    (folder / "trials.csv").write_text("".join(lines[:10]) + "00torn")
    assert run(spec).skipped == 9
    for name, rows in before.items():
        pd.testing.assert_frame_equal(cells(folder / name), rows)


@pytest.mark.parametrize("crash", [1, 2])
def test_a_crash_while_rows_move_loses_none_and_counts_none_twice(
    spec, run, folder, monkeypatch, crash
):
    before = {name: cells(folder / name) for name in ("trials.csv", "controls.csv")}
    to_old_format(folder)
    steps = iter(range(1, 9))
    write = log.atomic_write

    def crashing(path, content):
        if next(steps) == crash:
            raise KeyboardInterrupt
        write(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(log, "atomic_write", crashing)
        with pytest.raises(KeyboardInterrupt):
            run(spec)
    assert sorted(read_trials(folder, which="all")["trial_id"]) == sorted(
        [*before["trials.csv"].index, *before["controls.csv"].index]
    )
    assert run(spec).done == 0
    for name, rows in before.items():
        pd.testing.assert_frame_equal(cells(folder / name), rows)


@pytest.mark.parametrize("name", ["trials.csv", "controls.csv"])
@pytest.mark.parametrize("torn", ["", "0123,iri", "\0\0\0"])
def test_rows_that_one_of_the_files_lacks_are_run(spec, run, folder, name, torn):
    before = {each: cells(folder / each) for each in ("trials.csv", "controls.csv")}
    lines = (folder / name).read_text().splitlines(keepends=True)
    (folder / name).write_text("".join(lines[:3]) + torn)
    lacking = len(lines) - 3
    assert run(spec).done == lacking
    for each, rows in before.items():
        pd.testing.assert_frame_equal(cells(folder / each), rows)


def test_a_ceiling_that_becomes_a_method_moves_to_the_methods(make_spec, run, spec, folder):
    forest = {"name": "random_forest"}
    classifiers = [*({"name": "knn", "n_neighbors": 3}, {"name": "linear"}), forest]
    outcome = run(make_spec(reducers=[LDA], classifiers=classifiers, controls=CONTROLS))
    assert outcome.skipped == 12 + 9
    trials, controls = read_trials(folder), read_trials(folder, which="controls")
    assert len(trials.query("reducer == 'none' and classifier == 'random_forest'")) == 3
    assert set(controls["control"]) == {"shuffled_labels"}
    # Without the forest as a method, its rows are controls again.
    run(spec, redo=["changed"])
    assert len(read_trials(folder, which="controls").query("control == 'full_features'")) == 3
    assert set(read_trials(folder)["classifier"]) == {"knn", "linear"}


def test_a_file_that_is_no_trial_log_is_named_and_moved(spec, run, folder):
    (folder / "controls.csv").write_bytes(b"\xff\xfe" + b"a\0,\0\n\0" * 9)
    with pytest.raises(InputError, match=r"controls\.csv is not a trial log"):
        read_trials(folder)
    told = []

    class Told(Progress):
        def problem(self, text):
            told.append(text)

    outcome = run(spec, progress=Told())
    assert outcome.done == outcome.planned
    assert "controls.csv is not a trial log" in told[0]
    assert len(list((folder / "previous").glob("*/controls.csv"))) == 1


def test_controls_that_another_program_removes_are_written_again(spec, run, tmp_path):
    class Removing(Progress):
        done = False

        def advance(self, _ok, _failed):
            path = tmp_path / "small" / "controls.csv"
            if not self.done and path.read_bytes().count(b"\n") > 1:
                path.unlink()
                self.done = True

    with pytest.raises(InputError, match=r"removed or changed .*controls\.csv"):
        run(spec, progress=Removing())
    kept = len(read_trials(tmp_path / "small", which="all"))
    assert len(read_trials(tmp_path / "small", which="controls")) > 0
    outcome = run(spec)
    assert (outcome.skipped, outcome.done) == (kept, outcome.planned - kept), failures(tmp_path)


def test_replaced_controls_are_kept_in_previous(make_spec, run, folder):
    run(make_spec(reducers=[LDA], controls=["shuffled_labels"]), redo=["changed"])
    (previous,) = (folder / "previous").iterdir()
    assert sorted(path.name for path in previous.iterdir()) == ["controls.csv", "trials.csv"]
    assert set(read_trials(previous, which="controls")["control"]) == {
        "shuffled_labels",
        "full_features",
    }
    assert set(read_trials(folder, which="controls")["control"]) == {"shuffled_labels"}
