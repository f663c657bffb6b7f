"""What a suite reports about failed methods, rows of another version, and checked claims."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

import ddr_cli
from ddr_cli.core.errors import InputError
from ddr_cli.core.own_code import trusting
from ddr_cli.engine.run import RunSettings
from ddr_cli.reducers import LDA
from ddr_cli.reducers.registry import AuthorCheck, Traits
from ddr_cli.suite.definition import Erratum, Suite, load_suite
from ddr_cli.suite.leaderboard import leaderboard
from ddr_cli.suite.own_method import Joined, join
from ddr_cli.suite.remaining import parts_of, run_suite
from ddr_cli.suite.rows import folders_of, suite_rows
from ddr_cli.suite.tables import trust_notes

SUITE = """
title: Methods with troubles
version: 1
repeats: 1
timeout: 5
classifiers: [{name: knn, n_neighbors: 3}]
methods:
  none:
  breaks: {name: ./mine.py:Breaks}
  sleeps: {name: ./mine.py:Sleeps}
  nothing: {name: ./mine.py:Nothing}
datasets:
  iris: {split: {kind: fraction, train: 0.5}}
tracks: {inductive: {}}
"""
MINE = """
import time
from sklearn.base import BaseEstimator, TransformerMixin

class Breaks(TransformerMixin, BaseEstimator):
    def fit(self, X, y):
        raise MemoryError("no room for so many points")

class Sleeps(TransformerMixin, BaseEstimator):
    def fit(self, X, y):
        time.sleep(600)

class Nothing(TransformerMixin, BaseEstimator):
    def fit(self, X, y):
        return self

    def transform(self, X):
        return None
"""


def test_failures_and_timeouts_are_scored_as_the_majority_class(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "troubles.yaml").write_text(SUITE)
    with trusting(True):
        suite = load_suite(tmp_path / "troubles.yaml")
        folder = tmp_path / "suite_troubles"
        run_suite(suite, parts_of(suite, folder), RunSettings(out=folder, quiet=True))
        rows = suite_rows(suite, folders_of(suite, folder))
        board = leaderboard(rows, tuned=False)
        errata = [Erratum(date="2030-01-01", what="swapped labels", rows="iris", fixed="lda 9")]
        notes = trust_notes(board, rows, suite.model_copy(update={"errata": errata}))
    table = board.table.set_index("method")
    # Each class has 25 training samples, so the majority-class baseline errs on two of three.
    assert table.loc[["breaks", "sleeps"], "mean"].tolist() == pytest.approx([2 / 3, 2 / 3])
    assert table.loc[["breaks", "sleeps", "none"], "failed"].tolist() == [1, 1, 0]
    assert table.loc["breaks", "score"] == pytest.approx(0)
    assert notes[0].startswith("failures, each scored as the majority-class baseline")
    assert "breaks on 1 split of iris (" in notes[0]
    assert "no room for so many points" in notes[0]
    assert "array of real numbers, but has the type NoneType" in notes[0]
    assert "sleeps on 1 split of iris (took longer than 5 s" in notes[0]
    assert notes[1:] == [
        "implementations that the authors of the method have checked: none of 4",
        "erratum of 2030-01-01: swapped labels (iris; fixed in lda 9)",
    ]


def methods_now(tiny_suite):
    suite, folder = tiny_suite.suite, tiny_suite.folder
    (part,) = parts_of(suite, folder)
    folders = folders_of(suite, folder)
    return part, set(suite_rows(suite, folders)["method"]) if folders else set()


def test_rows_of_a_method_s_older_version_are_in_no_table_and_made_again_alone(
    tiny_suite, monkeypatch
):
    whole = LDA.__ddr_traits__
    checked = AuthorCheck("R. Fisher", "2030-01-01", "the code", whole(LDA()).version)

    def raised(self: LDA) -> Traits:
        return replace(whole(self), version=whole(self).version + 1, checked=checked)

    before = (tiny_suite.folder / "iris" / "trials.csv").read_text().splitlines()
    monkeypatch.setattr(LDA, "__ddr_traits__", raised)
    part, there = methods_now(tiny_suite)
    assert part.tallies.loc["lda", ["planned", "done"]].tolist() == [1, 0]
    assert part.tallies.loc[["lda", "none"], "stale"].tolist() == [1, 0]
    assert there == {"none"}
    tiny_suite.run()
    part, there = methods_now(tiny_suite)
    assert (part.tallies.loc["lda", "stale"], there) == (0, {"none", "lda"})
    after = (tiny_suite.folder / "iris" / "trials.csv").read_text().splitlines()
    assert [line in after for line in before if ",none," in line] == [True]
    assert not any(line in after for line in before if ",lda," in line)
    rows = suite_rows(tiny_suite.suite, folders_of(tiny_suite.suite, tiny_suite.folder))
    notes = trust_notes(leaderboard(rows, tuned=False), rows, tiny_suite.suite)
    assert "lda (checked by R. Fisher, 2030-01-01: the code (version" in notes[0]
    assert "before its numbers changed)" in notes[0]
    assert notes[1] == "errata: none known"


def test_rows_of_other_data_are_in_no_table(tiny_suite, monkeypatch):
    from ddr_cli.engine.plan.datasets import Datasets

    known = Datasets.identify

    def changed(self: Datasets, spec: Any) -> Any:
        return known(self, spec).model_copy(update={"fingerprint": "another"})

    monkeypatch.setattr(Datasets, "identify", changed)
    monkeypatch.setattr(Suite, "fingerprint_of", lambda *_: "another")
    part, there = methods_now(tiny_suite)
    assert there == set()
    assert part.tallies["stale"].tolist() == [1, 1]


@pytest.mark.usefixtures("tiny_suite")
def test_python_has_the_leaderboard_and_a_method_joins(tmp_path):
    path = tmp_path / "tiny.yaml"
    # The suite tunes no method.
    board = ddr_cli.leaderboard(path, out=tmp_path)
    assert not board.tuned
    assert set(board.table["method"]) == {"none", "lda"}
    joined = ddr_cli.join_suite("mmc", path, out=tmp_path, datasets=["iris"])
    assert set(joined.table["method"]) == {"none", "lda", "mmc"}
    suite = load_suite(path)
    with pytest.raises(InputError, match=r"^mmc .*Repeat the call"):
        _ = Joined(suite, "mmc", "inductive", None, None, pd.DataFrame(), {}).rows
    made = json.loads((tmp_path / "suite_tiny_mmc" / "suite.json").read_text())
    assert made["suite"]["version"] == 1


UNDEFINED = """
from sklearn.base import BaseEstimator, TransformerMixin

class Undefined(TransformerMixin, BaseEstimator):
    def fit(self, X, y):
        return self

    def transform(self, X):
        return X - float("inf") * (X > X.min())
"""


def test_a_method_that_returns_undefined_values_is_not_audited(tiny_suite, tmp_path):
    (tmp_path / "mine.py").write_text(UNDEFINED)
    settings, told = RunSettings(out=tmp_path, quiet=True), []
    with trusting(True):
        method = f"{tmp_path / 'mine.py'}:Undefined"
        joined = join(tiny_suite.suite, method, settings, told=told.append)
    assert [each for each in told if "infinite or undefined values" in each] == told[:1]
    # Neither accused of using test labels nor ranked as transductive.
    assert (joined.audits, joined.track) == ([], "inductive")
    assert joined.rows.set_index("method").loc["Undefined", "status"] == "failed"
