"""Blocks in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup

from ddr_cli.show.page import Block, Grid, Section, Text, text_of


def markdown(blocks: Iterable[Block], level: int = 2) -> str:
    """Return blocks as Markdown, without charts; sections have headings from this level on."""
    return "\n".join(filter(None, (_block(each, level) for each in blocks)))


def _block(block: Block, level: int) -> str:
    if isinstance(block, Grid):
        return _grid(block)
    if isinstance(block, Section):
        return f"{'#' * level} {block.title}\n\n{markdown(block.blocks, level + 1)}"
    if isinstance(block, Text) and not isinstance(block.words, Markup):
        if isinstance(block.words, str):
            return f"{block.words.strip()}\n"
        return "".join(f"- {each}\n" for each in block.words)
    return ""


def _grid(grid: Grid) -> str:
    lines = [grid.heads, ["---"] * len(grid.heads), *grid.frame.map(text_of).to_numpy().tolist()]
    for place in grid.best:
        lines[place + 2][1] = f"**{lines[place + 2][1]}**"
    # A line break in a cell would end the row.
    rows = [" | ".join(" ".join(c.split()).replace("|", "\\|") for c in line) for line in lines]
    title = f"### {grid.title}\n\n" if grid.title else ""
    return title + "".join(f"| {row} |\n" for row in rows) + "".join(f"\n{n}\n" for n in grid.below)
