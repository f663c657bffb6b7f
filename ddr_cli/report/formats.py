"""The forms that a report is written in; light to import, for the command line."""

from __future__ import annotations

from enum import StrEnum


class Format(StrEnum):
    """What a report writes beside the record of verdicts."""

    csv = "csv"
    markdown = "markdown"
    latex = "latex"
    html = "html"
    all = "all"
