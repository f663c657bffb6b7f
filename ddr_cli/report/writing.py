"""Tables as text: CSV for programs, Markdown for a page, LaTeX for a paper."""

from __future__ import annotations

import pandas as pd

FLOAT_FORMAT = "%.10g"
"""Ten digits: more than any result carries, fewer than the last bits that platforms differ in."""

_LATEX = str.maketrans(
    {
        "β": r"$\beta$",
        "±": r"$\pm$",
        "≈": r"$\approx$",
        "–": "--",
        "→": r"$\to$",
        "○": r"$\circ$",
        "△": r"$\triangle$",
        "✕": r"$\times$",
        "\N{MULTIPLICATION SIGN}": r"$\times$",
        "μ": r"$\mu$",
    }
)


def to_csv(table: pd.DataFrame) -> str:
    """Return a table as CSV, numbers to ten digits."""
    return table.to_csv(index=False, float_format=FLOAT_FORMAT, lineterminator="\n")


def to_markdown(table: pd.DataFrame) -> str:
    """Return a table of texts as GitHub's Markdown."""
    lines = [list(table.columns), ["---"] * table.shape[1], *table.to_numpy().tolist()]
    rows = [" | ".join(str(cell).replace("|", "\\|") for cell in line) for line in lines]
    return "".join(f"| {row} |\n" for row in rows)


def to_latex(table: pd.DataFrame) -> str:
    """Return a table of texts as a LaTeX tabular (package booktabs)."""
    columns = "l" * table.shape[1]
    text: str = table.to_latex(index=False, escape=True, column_format=columns)
    return text.translate(_LATEX)
