"""Tables, figures, one page and the terminal's view of results, from journals alone.

The names are imported when they are asked for, so that the command line stays quick.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from ddr_cli.core.lazy import lazy_names


class Format(StrEnum):
    """What a report writes beside the record of verdicts."""

    csv = "csv"
    markdown = "markdown"
    latex = "latex"
    html = "html"
    all = "all"


if TYPE_CHECKING:
    from ddr_cli.report.build import ReportOutcome, check_report, write_report
    from ddr_cli.report.controls import control_table
    from ddr_cli.report.run_files import write_run
    from ddr_cli.report.terminal import run_table
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "build": ["ReportOutcome", "check_report", "write_report"],
            "controls": ["control_table"],
            "run_files": ["write_run"],
            "terminal": ["run_table"],
        },
    )

__all__ = [
    "Format",
    "ReportOutcome",
    "check_report",
    "control_table",
    "run_table",
    "write_report",
    "write_run",
]
