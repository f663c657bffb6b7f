"""A page as blocks: texts, grids, charts and sections. Each renderer shows them in its own form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd
from markupsafe import Markup

Look = Literal["good", "even", "bad", "dim"]


@dataclass(frozen=True)
class Badge:
    """A text with a look: a colour and, in HTML, a `sign` before it and a `link`."""

    text: str
    look: Look
    sign: str = ""
    link: str = ""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Text:
    """A paragraph, or a list if there are several texts; `kind` is its class in HTML.

    In HTML, words between backticks are code; `Markup` is shown there as it is, and nowhere else.
    """

    words: str | Sequence[str]
    kind: str = ""


@dataclass(frozen=True)
class Grid:
    """Rows and columns, with a title above them and notes below.

    The cells of `frame` are texts, badges or tuples of both, a line each; in HTML also `Markup`,
    and in CSV numbers. The first column and those in `left` are aligned left, the others right.
    `total` is a last row below a line. In a terminal, a `narrow` grid has no lines between its
    columns, and its numbers are never broken. In Markdown and LaTeX, the second cell of the `best`
    rows is bold, and `best_note` says why.

    In HTML, the rows of a `grouped` grid belong to the row above them if their first cell is empty.
    The filter of a page finds a row or a group by its `items`, and its `details` are folded.
    """

    frame: pd.DataFrame
    title: str = ""
    notes: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    total: tuple[str, ...] = ()
    narrow: bool = False
    best: frozenset[int] = frozenset()
    best_note: str = ""
    grouped: bool = False
    items: Sequence[Mapping[str, str]] = ()
    details: Sequence[Sequence[str]] = ()

    @property
    def heads(self) -> list[str]:
        """The names of the columns."""
        return [*map(str, self.frame.columns)]

    @property
    def is_left(self) -> list[bool]:
        """Whether each column is aligned left."""
        return [place == 0 or name in self.left for place, name in enumerate(self.heads)]

    @property
    def below(self) -> tuple[str, ...]:
        """The notes, and why rows are bold."""
        return (*self.notes, self.best_note) if self.best_note else self.notes


def text_grid(frame: pd.DataFrame, title: str = "") -> Grid:
    """Return a grid whose columns are all aligned left."""
    return Grid(frame, title, left=tuple(map(str, frame.columns)))


def text_of(cell: object) -> str:
    """Return the cell of a grid as text."""
    return "\n".join(map(str, cell)) if isinstance(cell, tuple) else str(cell)


@dataclass(frozen=True)
class Chart:
    """A drawing with a caption; `points` are those of embeddings, for linked scatter plots."""

    title: str
    drawing: Markup
    caption: Sequence[Block] = ()
    points: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Section:
    """Blocks below a title, which may be folded; `kind` is its class in HTML.

    A section with an `id` is in the contents of its page, and the filter finds it by its `item`.
    """

    title: str
    blocks: Sequence[Block]
    id: str = ""
    kind: str = ""
    folded: bool = False
    item: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """Blocks below a title; `top` is the name of its beginning in the contents."""

    title: str
    blocks: Sequence[Block]
    top: str
    footer: str


Block = Text | Grid | Chart | Section
