"""Tables, figures, a page and terminal output of results, from journals alone.

The names are imported on demand, so that the command line starts quickly.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from ddr_cli.core.lazy import lazy_names


class Format(StrEnum):
    """The files that a report writes in addition to the record of verdicts."""

    csv = "csv"
    markdown = "markdown"
    latex = "latex"
    html = "html"
    pdf = "pdf"
    all = "all"


if TYPE_CHECKING:
    from ddr_cli.report.run_files import write_run as write_run
    from ddr_cli.report.run_tables import control_table as control_table
    from ddr_cli.report.run_tables import run_table as run_table
else:
    __getattr__, __dir__ = lazy_names(__name__, __file__)
