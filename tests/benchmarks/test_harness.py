"""The benchmarks' harness: fits of the exponent, the table of goals, what a peer's mark means."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Return the benchmarks' modules, which import one another by their bare names."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    names = ("checks", "measure", "page", "reasons", "tables", "works")
    modules = {name: __import__(name) for name in names}
    yield SimpleNamespace(**modules)
    for name in names:
        sys.modules.pop(name, None)


def rows(method: str, seconds: dict[int, float], wrong: str = "") -> list[dict[str, object]]:
    fixed = {"work": "LFDA", "method": method, "d": 100, "MB": 20.0, "runs": 5}
    fixed |= {"answer": "eigen-residual 0.2", "wrong": wrong}
    return [{**fixed, "n": n, "seconds": spent} for n, spent in seconds.items()]


def test_exponent_is_that_of_a_power(house: SimpleNamespace) -> None:
    n = np.array([500, 1000, 4000])
    assert house.tables.exponent(n, 3e-7 * n**1.7) == pytest.approx(1.7)
    assert np.isnan(house.tables.exponent([500], [1.0]))


def test_goals_are_judged_at_their_size_and_against_their_peer(house: SimpleNamespace) -> None:
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
    shown = house.page.compact(table)
    assert shown.loc[0, "peer"] == "metric-learn: 0.25 s, 20 MB (**wrong**)"
    assert shown.loc[0, "n × d"] == "5,000 × 100"
    assert shown.loc[1, "peer"] == ""


def test_a_peer_without_a_goal_has_a_row(house: SimpleNamespace) -> None:
    measured = pd.DataFrame([*rows("ddr", {100: 0.1}), *rows("metric-learn", {100: 0.2})])
    table = house.tables.against_goals(measured)
    assert list(table["peer"]) == ["metric-learn"]
    assert list(table["met"]) == [""]


def test_eigen_residual_tells_a_solution_from_another_scale(house: SimpleNamespace) -> None:
    from ddr_cli.reducers import LFDA

    X, y = house.works.gaussians(90, d=5, classes=3)
    right, other = (LFDA(2, n_neighbors=k).fit(X, y).components_ for k in (7, 2))
    found = house.checks.lfda(X, y, {"ddr": [right], "other": [other]})
    assert [is_right for _, _, is_right in found.values()] == [True, False]


def test_a_fit_is_measured_in_a_process_of_its_own(house: SimpleNamespace) -> None:
    worker = house.measure.Worker()
    found = house.measure.in_turn({"scikit-learn, brute": worker}, "12 neighbours", 60, runs=2)
    with pytest.raises(RuntimeError, match="12 neighbours, scikit-learn, brute, n = 5: ValueError"):
        worker.measure("12 neighbours", "scikit-learn, brute", 5)
    worker.close()
    [runs] = found.values()
    assert [run.answer.shape for run in runs] == [(60, 12)] * 2
    assert house.measure.summary(runs)["runs"] == 2


def test_a_goal_that_is_met_needs_no_reason(
    house: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reasons = {"CCDR, n = 10,000": "It is dear.", "NMMP, n = 50,000": "It is large."}
    monkeypatch.setattr(house.page, "REASONS", reasons)
    met = {"CCDR": "yes", "NMMP": "no"}
    rows = [
        {"work": w, "n": n, "goal": "≤ 4 s", "met": met[w]}
        for w, n in (("CCDR", 10_000), ("NMMP", 50_000))
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "goals.csv", index=False)
    shown = house.page.why_not(tmp_path)
    assert shown == "- **NMMP, n = 50,000.** It is large."
