"""A grid in LaTeX, for pdflatex with only the package booktabs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ddr_cli.show.page import Grid, text_of

_CHARACTERS = str.maketrans(
    {
        **{each: f"\\{each}" for each in "%&_#${}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{each: f"${each}$" for each in "<>|"},
        "–": "--",
        "†": r"$\dagger$",
        "±": r"$\pm$",
        "≈": r"$\approx$",
        "≤": r"$\le$",
        "≥": r"$\ge$",
        "→": r"$\to$",
        "○": r"$\circ$",
        "△": r"$\triangle$",
        "✕": r"$\times$",
        "\N{MULTIPLICATION SIGN}": r"$\times$",
        "β": r"$\beta$",
        "μ": r"$\mu$",
    }
)
_MINUS = re.compile(r"(?<![\w.)\]-])-(?=\d)")


def latex(grid: Grid, caption: Sequence[str] | None = None) -> str:
    """Return a tabular; the title and the notes are comments above it.

    With more sentences for a `caption`, they are the caption of a table that floats.
    """
    cells = grid.frame.map(lambda cell: escaped(text_of(cell)))
    cells.columns = [*map(escaped, grid.heads)]
    for place in grid.best:
        best = str(cells.iat[place, 1])
        cells.iat[place, 1] = rf"\textbf{{{best}}}"
    words = [each for each in (grid.title, *grid.below) if each]
    sentences = [f"{escaped(each.rstrip('.'))}." for each in (*words, *(caption or ()))]
    text: str = cells.style.hide(axis="index").to_latex(
        hrules=True,
        column_format=f"@{{}}{''.join('l' if left else 'r' for left in grid.is_left)}@{{}}",
        caption=" ".join(sentences) if caption is not None else None,
        position_float="centering" if caption is not None else None,
    )
    return text if caption is not None else "".join(f"% {line}\n" for line in words) + text


def escaped(text: str) -> str:
    """Return a text in LaTeX, in one line."""
    words = " ".join(text.split()).translate(_CHARACTERS)
    return _MINUS.sub("$-$", words)
