"""The README and the pages say what the committed results say, and link to what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# These are made when the site is built.
MADE = {"methods.md", "spec.md", "pieces.md", "commands.md", "card.md"}


def test_the_verdict_counts_are_the_reports():
    counts = (ROOT / "results" / "report" / "verdict_counts.md").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8")
    assert all(table in page for table in counts.strip().split("\n\n"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_file_that_a_page_links_to_is_there(page):
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)", page.read_text(encoding="utf-8"))
    lost = [link for link in links if not (page.parent / link).exists()]
    assert [link for link in lost if Path(link).name not in MADE] == []


def test_the_readme_is_a_screen_and_a_half():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 95


def test_the_picture_of_the_architecture_has_the_floors_of_the_import_contract():
    picture = (ROOT / "docs" / "images" / "architecture.svg").read_text(encoding="utf-8")
    contract = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    floors = re.findall(r'^    "ddr_cli\.(\w+)",$', contract, re.M)
    assert re.findall(r'class="name" x="34" [^>]*>(\w+)<', picture) == floors
