"""From a spec to a journal of trials: plan, processes, and nothing lost.

The names are imported when they are asked for, so that the command line stays quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddr_cli.core.lazy import lazy_names

if TYPE_CHECKING:
    from ddr_cli.engine.plan.identity import Datasets
    from ddr_cli.engine.plan.plan import Plan, make_plan
    from ddr_cli.engine.progress import Progress, make_progress
    from ddr_cli.engine.rows.journal import read_trials
    from ddr_cli.engine.rows.manifest import read_manifest
    from ddr_cli.engine.run import (
        RunOutcome,
        RunSettings,
        make_executor,
        run_spec,
        run_specs,
    )
    from ddr_cli.engine.status import PlanFacts, RunStatus, describe_plan, run_status
    from ddr_cli.engine.work.local import LocalExecutor
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "plan.identity": ["Datasets"],
            "rows.journal": ["read_trials"],
            "work.local": ["LocalExecutor"],
            "plan.plan": ["Plan", "make_plan"],
            "progress": ["Progress", "make_progress"],
            "rows.manifest": ["read_manifest"],
            "run": ["RunOutcome", "RunSettings", "make_executor", "run_spec", "run_specs"],
            "status": ["PlanFacts", "RunStatus", "describe_plan", "run_status"],
        },
    )

__all__ = [
    "Datasets",
    "LocalExecutor",
    "Plan",
    "PlanFacts",
    "Progress",
    "RunOutcome",
    "RunSettings",
    "RunStatus",
    "describe_plan",
    "make_executor",
    "make_plan",
    "make_progress",
    "read_manifest",
    "read_trials",
    "run_spec",
    "run_specs",
    "run_status",
]
