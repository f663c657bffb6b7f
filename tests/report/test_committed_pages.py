"""The committed pages of the papers and of the leaderboard are those of the committed rows."""

from pathlib import Path

import pandas as pd
import pytest

from ddr_cli.papers.schema import load_paper, paper_names

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
    # Every verdict of a table with a row and a column stands in the page, too.
    for artefact in load_paper(name).artefacts:
        table = REPORT / "tables" / f"{name}_{artefact.id}.md"
        if artefact.kind == "readings" or not table.is_file():
            continue
        if all(each.reading for each in artefact.entries):
            continue
        verdicts = [line for line in table.read_text().split("\n") if "|  | verdict |" in line]
        assert all(line in page for line in verdicts)


def test_the_leaderboards_page_has_the_rows_of_its_csv():
    folder = REPORT / "suite_lite"
    page = (folder / "leaderboard.md").read_text(encoding="utf-8")
    table = pd.read_csv(folder / "leaderboard.csv")
    for row in table.itertuples():
        rank = f"| {row.place} | {row.rank_low:.0f} to {row.rank_high:.0f} |"
        assert any(
            line.startswith(rank) and f"| {row.method} | {row.score:.3f} |" in line
            for line in page.splitlines()
        )
    assert (folder / "leaderboard.png").is_file()
