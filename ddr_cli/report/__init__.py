"""Tables, figures, a page and terminal output of results, from journals alone."""

from __future__ import annotations

from enum import StrEnum


class Format(StrEnum):
    """The files that a report writes in addition to the record of verdicts."""

    csv = "csv"
    markdown = "markdown"
    latex = "latex"
    html = "html"
    pdf = "pdf"
    all = "all"
