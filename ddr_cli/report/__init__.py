"""Results -> summaries, figures, verdicts, claims and one page, from journals alone.

The names are imported when they are asked for, so that the command line stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ddr_cli.report.build import ReportOutcome, check_report, write_report, write_run
    from ddr_cli.report.formats import Format
    from ddr_cli.report.runs import Run, load_run
    from ddr_cli.report.summary import Summary, summarize
    from ddr_cli.report.terminal import overview

# No name is also a module's here: importing that module would put it in the name's place.
_HOMES = {
    "Format": "formats",
    "ReportOutcome": "build",
    "Run": "runs",
    "Summary": "summary",
    "check_report": "build",
    "load_run": "runs",
    "overview": "terminal",
    "summarize": "summary",
    "write_report": "build",
    "write_run": "build",
}

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
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
