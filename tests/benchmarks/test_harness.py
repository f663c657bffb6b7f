"""Goals are checked at their size, and correct results are distinguished from incorrect ones."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def house(monkeypatch):
    """Return the benchmarks' modules, which import one another without a package name."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    names = ("checks", "measure", "tables", "works")
    yield SimpleNamespace(**{name: __import__(name) for name in names})
    for name in names:
        sys.modules.pop(name, None)


def rows(method, seconds, wrong=""):
    fixed = {"work": "LFDA", "method": method, "d": 100, "MB": 20.0, "runs": 5}
    fixed |= {"answer": "eigen-residual 0.2", "wrong": wrong}
    return [{**fixed, "n": n, "seconds": spent} for n, spent in seconds.items()]


def test_goals_are_judged_at_their_size_and_against_their_peer(house):
    measured = pd.DataFrame(
        [
            *rows("ddr", {2500: 0.05, 5000: 0.2}),
            *rows("metric-learn", {2500: 0.2, 5000: 0.25}, "wrong"),
        ]
    )
    table = house.tables.against_goals(measured)
    assert list(table["goal"]) == ["≤ 1 × metric-learn", "≤ 0.13 s"]
    assert list(table["met"]) == ["yes", "no"]
    assert list(table["exponent"]) == [2.0, 2.0]
    assert table.loc[0, "ratio"] == pytest.approx(0.8)


def test_eigen_residual_tells_a_solution_from_another_scale(house):
    from ddr_cli.reducers import LFDA

    X, y = house.works.gaussians(90, d=5, classes=3)
    right, other = (LFDA(2, n_neighbors=k).fit(X, y).components_ for k in (7, 2))
    found = house.checks.lfda(X, y, {"ddr": [right], "other": [other]})
    assert [is_right for _, _, is_right in found.values()] == [True, False]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited by /proc")
def test_a_fit_that_exceeds_a_limit_is_ended_and_the_next_is_measured(house):
    worker = house.measure.Worker(warm=False)
    try:
        with pytest.raises(house.measure.LimitError, match="more than 1 s"):
            worker.measure("growth", "nca", 4000, (1, 4000))
        with pytest.raises(house.measure.LimitError, match="more than 50 MB"):
            worker.measure("growth", "kernel_pca", 4000, (20, 50))
        assert worker.measure("growth", "pca", 1000, (20, 4000)).seconds < 1
    finally:
        worker.close()
