"""From a spec to a journal of trials: plan, processes, and nothing lost.

The names are imported when they are asked for, so that the command line stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ddr_cli.engine.describe import PlanFacts, describe_plan
    from ddr_cli.engine.execute import RunOutcome, run_spec
    from ddr_cli.engine.journal import read_trials
    from ddr_cli.engine.plan import Plan, make_plan
    from ddr_cli.engine.progress import Progress, make_progress
    from ddr_cli.engine.provenance import read_manifest
    from ddr_cli.engine.status import RunStatus, run_status

_HOME = {
    "Plan": "plan",
    "PlanFacts": "describe",
    "Progress": "progress",
    "RunOutcome": "execute",
    "RunStatus": "status",
    "describe_plan": "describe",
    "make_plan": "plan",
    "make_progress": "progress",
    "read_manifest": "provenance",
    "read_trials": "journal",
    "run_spec": "execute",
    "run_status": "status",
}

__all__ = [
    "Plan",
    "PlanFacts",
    "Progress",
    "RunOutcome",
    "RunStatus",
    "describe_plan",
    "make_plan",
    "make_progress",
    "read_manifest",
    "read_trials",
    "run_spec",
    "run_status",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
