"""The README's figures and verdicts are those of the committed results."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_its_verdict_counts_are_the_reports():
    counts = (ROOT / "results" / "report" / "verdict_counts.md").read_text(encoding="utf-8")
    assert counts.strip() in README


def test_every_file_it_links_to_is_there():
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).exists()] == []
