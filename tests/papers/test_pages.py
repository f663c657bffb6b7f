"""The pages on the papers only state numbers that a table or the paper's file contains."""

import re
from pathlib import Path

import pytest

from ddr_cli.papers.schema import paper_names

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "papers"


@pytest.mark.parametrize("name", paper_names())
def test_each_paper_has_a_page_whose_figures_are_in_its_tables(name):
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    links = [(PAGES / link).resolve() for link in re.findall(r"\]\(([^)#:]+)\)", text)]
    assert len(links) >= 2
    assert [link for link in links if not link.is_file()] == []
    held = "".join(link.read_text(encoding="utf-8") for link in links)
    held += (ROOT / "ddr_cli" / "papers" / f"{name}.yaml").read_text(encoding="utf-8")
    figures = re.findall(r"\d+\.\d+(?= %)", text)
    assert [figure for figure in figures if figure not in held] == []
