"""Results -> summaries, figures, verdicts, claims and one page, from journals alone.

The names are imported when they are asked for, so that the command line stays quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddr_cli.core.lazy import lazy_names

if TYPE_CHECKING:
    from ddr_cli.report.build import ReportOutcome, check_report, write_report, write_run
    from ddr_cli.report.formats import Format
    from ddr_cli.report.runs import Run, load_run
    from ddr_cli.report.samples import write_samples
    from ddr_cli.report.summary import Summary, summarize
    from ddr_cli.report.terminal import overview
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "build": ["ReportOutcome", "check_report", "write_report", "write_run"],
            "formats": ["Format"],
            "runs": ["Run", "load_run"],
            "samples": ["write_samples"],
            "summary": ["Summary", "summarize"],
            "terminal": ["overview"],
        },
    )

__all__ = [
    "Format",
    "ReportOutcome",
    "Run",
    "Summary",
    "check_report",
    "load_run",
    "overview",
    "summarize",
    "write_report",
    "write_run",
    "write_samples",
]
