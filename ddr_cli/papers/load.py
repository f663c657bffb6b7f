"""Find and read the papers' files."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ddr_cli.core.document import Rules
from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.core.marked_yaml import read_document
from ddr_cli.core.models import validated
from ddr_cli.papers.schema import Paper

_FOLDER = Path(__file__).resolve().parent
_RULES = Rules(max_bytes=2**20, max_values=50_000)


def paper_names() -> list[str]:
    """Return the names of all papers, sorted."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml"))


@cache
def load_paper(name: str) -> Paper:
    """Return the paper called `name`.

    Raises
    ------
    InputError
        If there is none, or its file breaks the schema; the message names the place.
    """
    path = _FOLDER / f"{name}.yaml"
    if name not in paper_names():
        raise InputError(
            f"There is no paper called '{name}'.{did_you_mean(name, paper_names())} "
            f"Known: {', '.join(paper_names())}."
        )
    return read_paper(path)


def read_paper(path: Path) -> Paper:
    """Return the paper in the file at `path`; see `load_paper`."""
    paper = validated(read_document(path, _RULES), Paper, "a paper")
    if paper.name != path.stem:
        raise InputError(f"{path.name} is named after no paper: it says name: {paper.name}.")
    return paper
