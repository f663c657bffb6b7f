"""Rows of the suite are recomputed without ddr's methods and summarised on a page."""

from pathlib import Path

import pandas as pd
import pytest

from ddr_cli.comparison.names import method_name
from ddr_cli.suite.published import results_of

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def routes(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.chdir(ROOT)
    import second_routes

    return second_routes


def test_the_page_has_the_table_of_the_rows(routes):
    rows = pd.read_csv(routes.RESULTS / f"{routes.NAME}.csv")
    page = routes.PAGE.read_text(encoding="utf-8")
    assert page == routes.with_rows(page, rows)
    rows.loc[rows["suite"] == rows["second"], "suite"] += 0.5
    assert page != routes.with_rows(page, rows)


def test_the_suite_s_errors_are_those_of_its_journals(routes):
    rows = pd.read_csv(routes.RESULTS / f"{routes.NAME}.csv")
    rows = rows[(rows["dataset"] == "wine") & ~rows["tuned"]]
    folder = results_of("lite", ROOT / "results") / "suite_lite"
    journal = pd.read_csv(folder / "wine" / "trials.csv", low_memory=False)
    journal = journal[journal["tuned"].isna() & (journal["classifier"] == "knn")]
    assert len(rows) == len(routes.METHODS) * routes.SPLITS
    first = journal[journal["split"] == "fraction-0"].set_index("reducer_label")["error"]
    assert rows["suite"].to_list() == first[rows["method"].map(method_name)].to_list()


def test_most_rows_are_equal(routes):
    rows = pd.read_csv(routes.RESULTS / f"{routes.NAME}.csv")
    assert set(rows["method"]) == set(routes.METHODS)
    assert ((rows["suite"] - rows["second"]).abs() < 1e-9).mean() > 0.8
    assert (rows["suite"] - rows["second"]).abs().median() == 0
