"""From a spec to a journal of trials: plan, processes, and nothing lost.

The names are imported when they are asked for, so that the command line stays quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddr_cli.core.lazy import lazy_names

if TYPE_CHECKING:
    from ddr_cli.engine.backends import make_executor
    from ddr_cli.engine.datasets import Datasets
    from ddr_cli.engine.describe import PlanFacts, describe_plan
    from ddr_cli.engine.execute import RunOutcome, count_to_do, run_spec
    from ddr_cli.engine.journal import read_trials
    from ddr_cli.engine.local import LocalExecutor
    from ddr_cli.engine.plan import Plan, make_plan
    from ddr_cli.engine.progress import Progress, Whole, make_progress
    from ddr_cli.engine.provenance import read_manifest
    from ddr_cli.engine.status import RunStatus, run_status
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "backends": ["make_executor"],
            "datasets": ["Datasets"],
            "describe": ["PlanFacts", "describe_plan"],
            "execute": ["RunOutcome", "count_to_do", "run_spec"],
            "journal": ["read_trials"],
            "local": ["LocalExecutor"],
            "plan": ["Plan", "make_plan"],
            "progress": ["Progress", "Whole", "make_progress"],
            "provenance": ["read_manifest"],
            "status": ["RunStatus", "run_status"],
        },
    )

__all__ = [
    "Datasets",
    "LocalExecutor",
    "Plan",
    "PlanFacts",
    "Progress",
    "RunOutcome",
    "RunStatus",
    "Whole",
    "count_to_do",
    "describe_plan",
    "make_executor",
    "make_plan",
    "make_progress",
    "read_manifest",
    "read_trials",
    "run_spec",
    "run_status",
]
