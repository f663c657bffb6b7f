"""The verdicts as words with a look and a meaning, and the fixed texts of the report's page."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from ddr_cli.core.validation import Frozen, validated
from ddr_cli.core.yaml_loader import read_document
from ddr_cli.papers.schema import OneLine
from ddr_cli.show.html import slug
from ddr_cli.show.page import Badge, Look


class Word(Frozen):
    """A verdict: its look (good if it agrees with the paper), its sign and its meaning."""

    look: Look
    sign: str
    means: OneLine


class Words(Frozen):
    """The verdicts, and the texts of the page by their place."""

    verdicts: dict[str, Word]
    page: dict[str, tuple[OneLine, ...]]


@cache
def words() -> Words:
    """Return the words of the page."""
    path = Path(__file__).with_name("texts") / "page.yaml"
    return validated(read_document(path), Words, "the words of the page")


def look_of(verdict: str) -> Look:
    """Return whether a verdict agrees with the paper, nearly does, differs, or says nothing."""
    return words().verdicts[verdict].look


def badge(row: Any, *, link: bool = True) -> Badge:
    """Return the verdict in a row; one that does not count is dim and has the reason."""
    return verdict_badge(row.verdict, link=link) if row.counted else Badge(row.shown, "dim")


def verdict_badge(verdict: str, *, link: bool = True) -> Badge:
    """Return a verdict, with a link to its meaning on the page."""
    word = words().verdicts[verdict]
    return Badge(verdict, word.look, word.sign, f"#{anchor(verdict)}" if link else "")


def anchor(verdict: str) -> str:
    """Return the name of a verdict's place on the page."""
    return f"v-{slug(verdict)}"
