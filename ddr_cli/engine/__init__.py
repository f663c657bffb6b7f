"""From a spec to a journal of trials: plan, processes, and nothing lost.

The names are imported when they are asked for, so that the command line stays quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddr_cli.core.lazy import lazy_names

if TYPE_CHECKING:
    from ddr_cli.engine.identity import Datasets
    from ddr_cli.engine.journal import read_trials
    from ddr_cli.engine.local import LocalExecutor
    from ddr_cli.engine.look import Look, first_looks
    from ddr_cli.engine.pilot import Pilot, run_pilot
    from ddr_cli.engine.plan import Plan, make_plan
    from ddr_cli.engine.progress import Progress, make_progress
    from ddr_cli.engine.records import read_manifest
    from ddr_cli.engine.run import make_executor, run_spec, run_specs
    from ddr_cli.engine.session import RunOutcome, RunSettings
    from ddr_cli.engine.status import PlanFacts, RunStatus, describe_plan, run_status
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "identity": ["Datasets"],
            "journal": ["read_trials"],
            "local": ["LocalExecutor"],
            "look": ["Look", "first_looks"],
            "pilot": ["Pilot", "run_pilot"],
            "plan": ["Plan", "make_plan"],
            "progress": ["Progress", "make_progress"],
            "records": ["read_manifest"],
            "run": ["make_executor", "run_spec", "run_specs"],
            "session": ["RunOutcome", "RunSettings"],
            "status": ["PlanFacts", "RunStatus", "describe_plan", "run_status"],
        },
    )

__all__ = [
    "Datasets",
    "LocalExecutor",
    "Look",
    "Pilot",
    "Plan",
    "PlanFacts",
    "Progress",
    "RunOutcome",
    "RunSettings",
    "RunStatus",
    "describe_plan",
    "first_looks",
    "make_executor",
    "make_plan",
    "make_progress",
    "read_manifest",
    "read_trials",
    "run_pilot",
    "run_spec",
    "run_specs",
    "run_status",
]
