"""The page of findings: its tables are those of the CSV, and the suite's figures its journals'."""

from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def routes(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.chdir(ROOT)
    import second_routes

    return second_routes


def test_the_page_has_the_tables_of_the_figures(routes):
    rows = pd.read_csv(routes.RESULTS / f"{routes.NAME}.csv")
    page = routes.PAGE.read_text(encoding="utf-8")
    assert page == routes.with_tables(page, rows)
    rows.loc[0, "suite"] += 50
    assert page != routes.with_tables(page, rows)


@pytest.mark.parametrize("dataset", ["iris", "meat"])
def test_the_suite_s_figures_are_those_of_its_journals(routes, dataset):
    rows = pd.read_csv(routes.RESULTS / f"{routes.NAME}.csv")
    rows = rows[(rows["dataset"] == dataset) & rows["suite"].notna()]
    written = rows.set_index("entry")["suite"].to_dict()
    found = {entry: 100 * error for entry, error in routes.by_suite(dataset).items()}
    assert found == pytest.approx(written, abs=0.006)


def test_dense_ccdr_has_the_embedding_of_the_method(routes):
    """The second route does solve the paper's equations: of two codes each is the other's check."""
    from sklearn.datasets import load_wine

    from ddr_cli.reducers import CCDR

    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ours = CCDR(n_components=2).fit(X[::2], y[::2]).transform(X[1::2])
    theirs = routes.DenseCCDR(width=2).fit(X[::2], y[::2]).transform(X[1::2])
    size = abs(ours).max()
    assert abs(ours) / size == pytest.approx(abs(theirs) / size, abs=1e-6)
