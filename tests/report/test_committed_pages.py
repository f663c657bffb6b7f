"""The committed pages of the papers and of the leaderboard match the committed rows."""

from pathlib import Path

import pandas as pd
import pytest

from ddr_cli.core.extras import nothing_fitted
from ddr_cli.papers.schema import load_paper, paper_names
from ddr_cli.suite.benchmark import benchmark_of
from ddr_cli.suite.definition import load_suite
from ddr_cli.suite.pages import markdown_page
from ddr_cli.suite.remaining import folder_of

REPORT = Path(__file__).parents[2] / "results" / "report"


@pytest.mark.parametrize("name", paper_names())
def test_a_papers_page_has_its_tables_figures_and_claims(name):
    page = (REPORT / f"{name}.md").read_text(encoding="utf-8")
    pictures = [
        line.rpartition("(")[2].rstrip(")") for line in page.split("\n") if line[:2] == "!["
    ]
    assert pictures
    assert [path for path in pictures if not (REPORT / path).is_file()] == []
    for claim in load_paper(name).claims:
        assert claim.sentence.replace("|", "\\|") in page
    # The page also has every verdict of a table with rows and columns.
    for artefact in load_paper(name).artefacts:
        table = REPORT / "tables" / f"{name}_{artefact.id}.md"
        if artefact.kind == "readings" or not table.is_file():
            continue
        if all(each.reading for each in artefact.entries):
            continue
        verdicts = [line for line in table.read_text().split("\n") if "|  | verdict |" in line]
        assert all(line in page for line in verdicts)


def test_the_leaderboard_is_that_of_the_current_rows():
    """The leaderboard excludes methods with stale rows; `ddr suite page lite` renews it."""
    with nothing_fitted():
        suite = load_suite("lite")
        bench = benchmark_of(suite, folder_of(suite, REPORT.parent))
    folder = REPORT / "suite_lite"
    page = (folder / "leaderboard.md").read_text(encoding="utf-8")
    board = bench.board()
    assert board is not None
    assert page == markdown_page(bench, board)
    assert f"version {suite.version};" in page
    table = pd.read_csv(folder / "leaderboard.csv")
    assert set(table["version"]) == {suite.version}
    assert table["method"].to_list() == board.table["method"].to_list()
    assert table["score"].to_numpy() == pytest.approx(board.table["score"].to_numpy())
    assert (folder / "leaderboard.png").is_file()
