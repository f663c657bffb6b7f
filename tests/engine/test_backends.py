"""An executor is a class with a few methods, and gives the same rows as worker processes."""

import pandas as pd
import pytest

from ddr_cli.engine import read_trials, run_spec


def test_another_back_end_gives_the_same_numbers(make_spec, run, tmp_path, one_after_the_other):
    spec = make_spec(
        preprocess=["standardize"],
        reducers=["none", {"name": "ccdr", "n_components": 2, "n_neighbors": 4}, "noisy"],
    )
    other = one_after_the_other()
    mine = run_spec(spec, out=tmp_path / "mine", executor=other)
    tables = [
        read_trials(outcome.folder).drop(columns=["fit_seconds", "eval_seconds"])
        for outcome in (mine, run(spec))
    ]
    pd.testing.assert_frame_equal(*tables, check_exact=True)
    assert mine.done == mine.planned
    # A split is released after its last fit, and the data set at the end.
    assert [path.stem for path in other.released].count("data") == 1
    assert other.released[-1].stem == "data"
    assert len(set(other.released)) == len(other.released) == 3 + 1


@pytest.mark.usefixtures("installed")
def test_no_piece_of_another_package_sees_where_the_data_are(
    make_spec, run, monkeypatch, tmp_path, one_after_the_other
):
    monkeypatch.setenv("DDR_DATA", str(tmp_path))
    faulty = {"name": "faulty", "does": "peek"}
    spec = make_spec(
        preprocess=[faulty], reducers=["none", faulty], classifiers=[faulty | {"when": 1}]
    )
    outcome = run(spec, executor=one_after_the_other())
    assert (outcome.done, outcome.failed) == (6, 0)
