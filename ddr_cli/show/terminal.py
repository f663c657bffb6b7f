"""Blocks in a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from markupsafe import Markup

from ddr_cli.show.page import Badge, Block, Grid, Look, Section, Text, text_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text as Coloured

_COLOURS: dict[Look, str] = {"good": "green", "even": "yellow", "bad": "red", "dim": "dim"}
_SHORT_HEAD = 7
# Characters that a column of a terminal table adds: a line, and a space on either side.
_PADDING = 3


def show(blocks: Iterable[Block], screen: Console) -> None:
    """Print blocks; charts and what is folded are left out."""
    for block in blocks:
        if isinstance(block, Grid):
            if block.title:
                screen.print(block.title, style="bold")
            screen.print(terminal(block, screen.width))
            for note in block.notes:
                screen.print(note)
        elif isinstance(block, Text) and not isinstance(block.words, Markup):
            for line in [block.words] if isinstance(block.words, str) else block.words:
                screen.print(line)
        elif isinstance(block, Section) and not block.folded:
            show(block.blocks, screen)


def terminal(grid: Grid, width: int) -> Table | str:
    """Return the rows of a grid for a terminal, without its title and notes.

    If the terminal is too narrow for the columns, they are listed below each other.
    """
    from rich import box
    from rich.table import Table

    widths = _widths(grid, width)
    if widths is None:
        return _stacked(grid)
    table = Table(show_footer=bool(grid.total))
    if grid.narrow:
        table.box, table.padding = box.SIMPLE, (0, 0, 0, 0)
    for place, (name, left) in enumerate(zip(grid.heads, grid.is_left, strict=True)):
        head = name
        if grid.narrow and not left and len(name) >= _SHORT_HEAD:
            head = name.replace(" ", "\n")
        table.add_column(
            head,
            grid.total[place] if grid.total else "",
            justify="left" if left else "right",
            overflow="fold",
            no_wrap=grid.narrow and not left,
            width=None if grid.narrow else widths[place],
        )
    for row in grid.frame.itertuples(index=False, name=None):
        table.add_row(*map(_cell, row))
    return table


def _cell(cell: object) -> Coloured:
    from rich.text import Text as Coloured

    lines = cell if isinstance(cell, tuple) else (cell,)
    return Coloured("\n").join(
        Coloured(str(line), _COLOURS[line.look] if isinstance(line, Badge) else "")
        for line in lines
    )


def _widths(grid: Grid, width: int) -> list[int] | None:
    """Return the columns' widths in a terminal, None if it is too narrow for whole words."""
    widths, least = [], []
    for place, (name, left) in enumerate(zip(grid.heads, grid.is_left, strict=True)):
        head = [name, *grid.total[place : place + 1]]
        cells = [text_of(cell) for cell in grid.frame.iloc[:, place]]
        words = [word for text in head + cells for word in text.split()]
        lines = [line for text in head + cells for line in text.split("\n")]
        widths.append(max(map(len, lines)))
        keeps = [*words, *cells] if grid.narrow and not left else words
        least.append(max(map(len, keeps), default=0))
    excess = sum(widths) + (0 if grid.narrow else _PADDING * len(widths) + 1) - width
    while excess > 0:
        shrinkable = [i for i, most in enumerate(widths) if most > least[i]]
        if not shrinkable:
            return None
        # Names are broken into lines before numbers are.
        widths[max(shrinkable, key=lambda i: (grid.is_left[i], widths[i]))] -= 1
        excess -= 1
    return widths


def _stacked(grid: Grid) -> str:
    """Return each row as lines: its first cell, then the name and text of each other cell."""
    names = grid.heads[1:]
    room = max(map(len, names), default=0)
    lines = []
    for head, *cells in grid.frame.map(text_of).to_numpy().tolist():
        lines.append(head)
        lines += [
            f"  {name:<{room}}  {cell}" for name, cell in zip(names, cells, strict=True) if cell
        ]
    return "\n".join(lines)
