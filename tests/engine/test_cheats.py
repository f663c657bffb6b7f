"""No cheat has a lower error than its honest version or changes the rows of other methods."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.datasets import load_iris

from ddr_cli.core import own_code
from ddr_cli.core.errors import InputError
from ddr_cli.core.sealed.sandbox import VARIABLE, use_sandbox
from ddr_cli.engine import read_trials
from ddr_cli.engine.contracts import check_piece
from tests.engine.cheats import (
    DETECTED,
    GALLERY,
    IMPOSSIBLE,
    NAME,
    SEED,
    Entry,
    closed_by_sandbox,
    is_classifier,
    table,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the cheats fork processes")

PAGE = Path(__file__).parents[2] / "docs" / "trust.md"
KNN = {"name": "knn", "n_neighbors": 1}
ATTACKS = ("JournalDigits", "JournalRow", "KillParent")
KEY = ["split", "reducer", "classifier"]


def named(names):
    return [f"./cheats.py:{name}" for name in names]


def chosen(choose):
    return [name for name, entry in GALLERY.items() if choose(entry)]


def specs():
    """Return the reducers, classifiers, number of splits and further keys of each spec, by name."""
    both = {"metrics": ["error", "f1_macro"]}

    def once(entry: Entry) -> bool:
        return entry.splits == 1 and not entry.alone and not is_classifier(entry)

    def twice(entry: Entry) -> bool:
        return entry.splits == 2 and not entry.alone

    found = {
        "honest": (["none", "lda", *named(["Honest"])], [KNN], 2, {}),
        "once": ([*named([*chosen(once), "Honest"]), "none", "lda"], [KNN], 1, {}),
        "twice": ([*named([*chosen(twice), "Honest"]), "none", "lda"], [KNN], 2, {}),
        "classifiers": (
            ["none"],
            [
                *named(chosen(lambda entry: is_classifier(entry) and not entry.alone)),
                *named(["HonestClassifier"]),
                KNN,
            ],
            1,
            both,
        ),
        "Certain": (["none"], named(["Certain"]), 1, {"metrics": ["error", "neg_log_loss"]}),
    }
    for name in chosen(lambda entry: entry.alone and not is_classifier(entry)):
        reducers = ["none", *named([name]), "lda", *named(["Honest"])]
        found[name] = (reducers, [KNN], GALLERY[name].splits, {})
    closed = [each.piece.__name__ for each in closed_by_sandbox() if is_classifier(each)]
    everything = (named(["Everything"]), [*named([*closed, "HonestClassifier"]), KNN], 1, both)
    found["inside"] = everything
    return found


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Return the only folder that the runs use, with the data, the specs and the code."""
    root = tmp_path_factory.mktemp("cheats")
    for name in ("tmp", f"data/{NAME}", "results/other"):
        (root / name).mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("cheats.py"), root)
    X, y = load_iris(return_X_y=True)
    np.savez(root / "data" / NAME / f"{NAME}.npz", X=X, y=y)
    card = {"name": NAME, "title": "Iris", "files": [{"path": f"{NAME}.npz"}], "format": "npz"}
    (root / f"{NAME}.yaml").write_text(yaml.safe_dump(card))
    for name, (reducers, classifiers, repeats, more) in specs().items():
        split = {"kind": "fraction", "train": 0.5, "repeats": repeats, "seed": SEED}
        spec = {"title": "A test", "dataset": f"./{NAME}.yaml", "split": split, "controls": []}
        spec |= {"reducers": reducers, "classifiers": classifiers, **more}
        (root / f"{name}.yaml").write_text(yaml.safe_dump(spec))
    return root


def ddr_run(root, *names):
    """Run specs in their own session, so that a cheat only sees processes of this session."""
    places = {"DDR_DATA": str(root / "data"), "TMPDIR": str(root / "tmp")}
    package = str(Path(__file__).parents[2])
    done = subprocess.run(
        [
            *(sys.executable, "-m", "ddr_cli", "run", *(f"{name}.yaml" for name in names)),
            *("--trust", "--quiet", "--out", "results"),
            *(["--sandbox"] if any(name.startswith("inside") for name in names) else []),
        ],
        cwd=root,
        env={**os.environ, **places, "PYTHONPATH": package},
        capture_output=True,
        text=True,
        start_new_session=True,
        timeout=300,
        check=False,
    )
    tables = {}
    for name in names:
        assert (root / "results" / name / "trials.csv").exists(), done.stderr
        tables[name] = read_trials(root / "results" / name)
    return SimpleNamespace(tables=tables, stderr=done.stderr)


@pytest.fixture(scope="module")
def runs(root):
    """Return the rows of the runs without the sandbox, by the spec's name."""
    return ddr_run(root, *(name for name in specs() if name not in ("inside", *ATTACKS)))


@pytest.fixture(scope="module")
def honest(runs):
    """Return the rows of an honest run, by split, reducer and classifier."""
    return runs.tables["honest"].set_index(KEY)


def rows_of(table, name):
    piece = f"./cheats.py:{name}"
    return table[(table["reducer"] == piece) | (table["classifier"] == piece)]


def assert_goal(rows, name, without, honest_rows):
    """Assert that a cheat has no lower errors than `honest_rows`, and fails if it is detected."""
    rows = rows_of(rows, name)
    assert len(rows)
    assert (rows["error"].to_numpy() >= honest_rows["error"].to_numpy()[: len(rows)]).all(), rows
    if without == DETECTED:
        assert (rows["status"] != "ok").all(), rows


def assert_others_unchanged(table, honest, names=("none", "lda")):
    others = table[table["reducer"].isin(names) & (table["classifier"] == "knn")]
    assert len(others)
    before = honest.loc[pd.MultiIndex.from_frame(others[KEY])]
    for column in ("trial_id", "split_hash", "error", "status", "reason"):
        assert others[column].tolist() == before[column].tolist()
    assert np.isfinite(others[["fit_seconds", "eval_seconds"]]).all(axis=None)


TOGETHER = chosen(lambda entry: not entry.alone and entry.without in (IMPOSSIBLE, DETECTED))


@pytest.mark.parametrize("name", TOGETHER)
def test_a_cheat_is_not_better_than_without_it(runs, name):
    entry = GALLERY[name]
    kind = "classifiers" if is_classifier(entry) else {1: "once", 2: "twice"}[entry.splits]
    table = runs.tables[kind]
    plain = "HonestClassifier" if is_classifier(entry) else "Honest"
    assert (rows_of(table, plain)["status"] == "ok").all()
    assert_goal(table, name, entry.without, rows_of(table, plain))
    if is_classifier(entry):
        assert (rows_of(table, name)["f1_macro"] <= rows_of(table, plain)["f1_macro"].max()).all()


def test_honest_methods_have_rows_to_lose(honest):
    errors = honest["error"].groupby("reducer").mean()
    assert errors["./cheats.py:Honest"] > 0.4
    assert errors["lda"] < 0.1


@pytest.mark.parametrize("name", ["once", "twice", "classifiers", "Overwrite", "OverwriteData"])
def test_no_cheat_changes_a_row_of_another_method(runs, honest, name):
    assert_others_unchanged(runs.tables[name], honest)


@pytest.mark.parametrize("name", ["Overwrite", "OverwriteData"])
def test_overwritten_arrays_cost_the_cheat(runs, name):
    rows = rows_of(runs.tables["honest"], "Honest")
    # The engine writes the arrays of the data set again before it uses them.
    assert_goal(runs.tables[name], name, DETECTED if name == "Overwrite" else IMPOSSIBLE, rows)


def test_overwritten_arrays_cost_no_other_method_of_ones_own(runs, honest):
    assert_others_unchanged(runs.tables["Overwrite"], honest, ["./cheats.py:Honest"])


def test_probabilities_that_are_none_are_no_score(runs):
    (reason,) = runs.tables["Certain"]["reason"]
    assert "predict_proba" in reason


def test_a_method_that_learns_from_the_test_set_is_transductive(root, monkeypatch):
    monkeypatch.setattr(own_code, "_trusted", {"*"})
    (checked,) = check_piece(f"{root}/cheats.py:Batch")
    failing = {each.contract: each.meaning for each in checked.failing}
    assert "transductive" in failing["ignores other test samples"]


def test_a_result_folder_has_what_the_engine_wrote(root, runs):
    expected = {each.name for each in (root / "results" / "honest").iterdir()}
    for name, rows in runs.tables.items():
        reducers, classifiers, repeats, _ = specs()[name]
        assert len(rows) == len(reducers) * len(classifiers) * repeats
        assert rows["trial_id"].is_unique
        if (rows["status"] != "ok").all():
            continue
        written = {each.name for each in (root / "results" / name).iterdir()}
        assert written - {"tracebacks.jsonl"} == expected
    # Unpickling the returned object would have created this file.
    assert not (root / "tmp" / "ran").exists()


@pytest.fixture(scope="module")
def attacked(root):
    """Return the rows of runs whose trial log is edited or whose processes are killed."""
    return ddr_run(root, *ATTACKS)


@pytest.mark.parametrize(
    "name",
    [
        "JournalDigits",
        "JournalRow",
    ],
)
def test_a_journal_has_the_engines_rows(runs, attacked, honest, name):
    table = attacked.tables[name]
    assert_others_unchanged(table, honest, ["none", "lda", "./cheats.py:Honest"])
    assert_goal(table, name, IMPOSSIBLE, rows_of(runs.tables["honest"], "Honest"))


def test_rows_that_others_append_end_the_run(attacked):
    assert re.search("JournalRow.*Another program removed", attacked.stderr)


def test_killing_the_process_that_started_it_loses_no_rows(runs, attacked, honest):
    table = attacked.tables["KillParent"]
    assert_others_unchanged(table, honest, ["none", "lda", "./cheats.py:Honest"])
    assert_goal(table, "KillParent", DETECTED, rows_of(runs.tables["honest"], "Honest"))


@pytest.fixture(scope="module")
def boxed(root, runs):  # noqa: ARG001 (it removes what they wrote)
    """Return the rows of the run in the sandbox."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(VARIABLE, "")
        try:
            use_sandbox()
        except InputError as error:
            pytest.skip(str(error))
    (root / "planted.py").unlink(missing_ok=True)
    other = root / "results" / "other"
    for each in other.iterdir():
        each.unlink()
    return ddr_run(root, "inside").tables["inside"]


def test_no_cheat_succeeds_in_the_sandbox(boxed, runs):
    rows = boxed.set_index("classifier")
    plain, weak = rows.loc["./cheats.py:HonestClassifier"], rows.loc["knn"]
    # If a cheat had found labels, the reason would name it.
    assert [plain["reason"], weak["reason"]] == ["", ""]
    assert weak["error"] == rows_of(runs.tables["once"], "Honest")["error"].item()
    for entry in filter(is_classifier, closed_by_sandbox()):
        assert_goal(boxed, entry.piece.__name__, entry.inside, plain.to_frame().T)


@pytest.mark.usefixtures("boxed")
def test_in_the_sandbox_nothing_is_written(root):
    assert not (root / "planted.py").exists()
    assert not list((root / "results" / "other").iterdir())
    assert not (root / "results" / "inside" / "previous").exists()


def test_the_page_has_the_gallery():
    assert table() in PAGE.read_text(encoding="utf-8")
