"""A single record type for all tables, with output for terminal, HTML, Markdown, LaTeX and CSV."""

from __future__ import annotations

from collections.abc import Sequence
from csv import QUOTE_ALL
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd
from markupsafe import Markup, escape

from ddr_cli.core.spreadsheet import as_cell
from ddr_cli.report.latex import floating, tabular, text_size

if TYPE_CHECKING:
    from rich.table import Table as TerminalTable

_SHORT_HEAD = 7
# Characters that a column of a terminal table adds: a line, and a space on either side.
_PADDING = 3
# Ten digits are more than any result needs, and hide the last bits, which depend on the platform.
_FLOAT_FORMAT = "%.10g"


@dataclass(frozen=True)
class Table:
    """Rows and columns, with a title above them and notes below.

    The cells of `frame` are texts, or numbers in a table that is only written as CSV. In a
    terminal, cells may also be rich's `Text`, and in HTML they may be `Markup`. The first column
    and those in `left` are aligned left, the others right. `total` is a last row below a line. In a
    terminal, a `narrow` table has no lines between its columns, and its numbers are never broken.
    In Markdown and LaTeX, the second cell of the `best` rows is bold, and `best_note` says why.
    """

    frame: pd.DataFrame
    title: str = ""
    notes: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    total: tuple[str, ...] = ()
    narrow: bool = False
    best: frozenset[int] = frozenset()
    best_note: str = ""

    def terminal(self, width: int) -> TerminalTable | str:
        """Return the rows for a terminal; the caller adds the title and the notes.

        If the terminal is too narrow for the columns, they are listed below each other.
        """
        from rich import box
        from rich.table import Table as TerminalTable
        from rich.text import Text

        widths = self._widths(width)
        if widths is None:
            return self._stacked()
        table = TerminalTable(show_footer=bool(self.total))
        if self.narrow:
            table.box, table.padding = box.SIMPLE, (0, 0, 0, 0)
        for place, name in enumerate(map(str, self.frame.columns)):
            left = place == 0 or name in self.left
            head = name
            if self.narrow and not left and len(name) >= _SHORT_HEAD:
                head = name.replace(" ", "\n")
            table.add_column(
                head,
                self.total[place] if self.total else "",
                justify="left" if left else "right",
                overflow="fold",
                no_wrap=self.narrow and not left,
                width=None if self.narrow else widths[place],
            )
        for row in self.frame.itertuples(index=False, name=None):
            table.add_row(*(cell if isinstance(cell, Text) else str(cell) for cell in row))
        return table

    def _widths(self, width: int) -> list[int] | None:
        """Return the columns' widths in a terminal, None if it is too narrow for whole words."""
        widths, least, is_left = [], [], []
        for place, name in enumerate(map(str, self.frame.columns)):
            head = [name, *self.total[place : place + 1]]
            cells = [str(cell) for cell in self.frame.iloc[:, place]]
            is_left.append(place == 0 or name in self.left)
            keeps = self.narrow and not is_left[-1]
            words = [word for text in head + cells for word in text.split()]
            lines = [line for text in head + cells for line in text.split("\n")]
            widths.append(max(map(len, lines)))
            least.append(max(map(len, [*words, *cells] if keeps else words), default=0))
        excess = sum(widths) + (0 if self.narrow else _PADDING * len(widths) + 1) - width
        while excess > 0:
            shrinkable = [i for i, most in enumerate(widths) if most > least[i]]
            if not shrinkable:
                return None
            # Names are broken into lines before numbers are.
            widths[max(shrinkable, key=lambda i: (is_left[i], widths[i]))] -= 1
            excess -= 1
        return widths

    def _stacked(self) -> str:
        """Return each row as lines: its first cell, then the name and text of each other cell."""
        _, *names = map(str, self.frame.columns)
        room = max(map(len, names), default=0)
        lines = []
        for head, *cells in self.frame.astype(str).to_numpy().tolist():
            lines.append(head)
            lines += [
                f"  {name:<{room}}  {cell}" for name, cell in zip(names, cells, strict=True) if cell
            ]
        return "\n".join(lines)

    def html(self, kind: str = "") -> Markup:
        """Return a `<table>` of this class; each row's first cell is its heading."""
        head = Markup("").join(Markup('<th scope="col">{}</th>').format(c) for c in self.frame)
        rows = Markup("\n").join(
            Markup('<tr><th scope="row">{}</th>{}</tr>').format(
                first, Markup("").join(Markup("<td>{}</td>").format(cell) for cell in cells)
            )
            for first, *cells in self.frame.itertuples(index=False, name=None)
        )
        return Markup(
            '<table class="{}">\n<thead><tr>{}</tr></thead>\n<tbody>\n{}\n</tbody>\n</table>'
        ).format(escape(kind), head, rows)

    def markdown(self) -> str:
        """Return GitHub's Markdown, with the title and the notes if there are any."""
        frame = self.frame
        lines = [list(frame.columns), ["---"] * frame.shape[1], *frame.to_numpy().tolist()]
        for place in self.best:
            lines[place + 2][1] = f"**{lines[place + 2][1]}**"
        # A line break in a cell would end the row.
        rows = [
            " | ".join(" ".join(f"{c}".split()).replace("|", "\\|") for c in line) for line in lines
        ]
        table = "".join(f"| {row} |\n" for row in rows)
        title = f"### {self.title}\n\n" if self.title else ""
        return title + table + "".join(f"\n{note}\n" for note in self._notes())

    def latex(self, caption: Sequence[str] | None = None, size: int = 0) -> str:
        """Return a tabular (package booktabs); the title and the notes are comments above it.

        With more sentences for a `caption`, they are the caption of a table that floats. The font
        has at most this `size` (see `together`).
        """
        names = [*map(str, self.frame.columns)]
        left = [place == 0 or name in self.left for place, name in enumerate(names)]
        words = (*([self.title] if self.title else []), *self._notes())
        rows = self.frame.astype(str).to_numpy().tolist()
        text = tabular(names, rows, left, self.best, size)
        if caption is not None:
            return floating(text, [*words, *caption])
        return "".join(f"% {line}\n" for line in words) + text

    def _notes(self) -> tuple[str, ...]:
        return (*self.notes, self.best_note) if self.best_note else self.notes

    def csv(self) -> str:
        """Return the cells as CSV, numbers with ten digits; no text is a spreadsheet formula."""
        texts = self.frame.select_dtypes(exclude=["number", "bool"]).columns
        frame = self.frame.assign(**{name: self.frame[name].map(as_cell) for name in texts})
        frame.columns = frame.columns.map(as_cell)
        how: dict[str, Any] = {"float_format": _FLOAT_FORMAT, "lineterminator": "\n"}
        text: str = frame.to_csv(index=False, **how)
        if "\r" in text:
            # pandas does not quote a carriage return, which would start a new row.
            text = frame.to_csv(index=False, quoting=QUOTE_ALL, **how)
        return text


def together(tables: Sequence[Table], caption: Sequence[str]) -> str:
    """Return tables that float, for LaTeX, all in the font size of the widest."""
    frames = [each.frame.astype(str) for each in tables]
    size = max(text_size([*map(str, each)], each.to_numpy().tolist()) for each in frames)
    return "\n".join(each.latex(caption, size) for each in tables)
