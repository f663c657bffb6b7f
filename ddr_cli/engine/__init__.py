"""From a spec to a journal of trials: the plan, the processes, and the stored rows.

The names are imported when they are first used, so that the command line starts quickly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddr_cli.core.lazy import lazy_names

if TYPE_CHECKING:
    from ddr_cli.engine.plan.datasets import Datasets as Datasets
    from ddr_cli.engine.plan.plan import make_plan as make_plan
    from ddr_cli.engine.progress import Progress as Progress
    from ddr_cli.engine.progress import make_progress as make_progress
    from ddr_cli.engine.run import RunOutcome as RunOutcome
    from ddr_cli.engine.run import RunSettings as RunSettings
    from ddr_cli.engine.run import run_spec as run_spec
    from ddr_cli.engine.run import run_specs as run_specs
    from ddr_cli.engine.status import PlanFacts as PlanFacts
    from ddr_cli.engine.status import describe_plan as describe_plan
    from ddr_cli.engine.status import run_status as run_status
    from ddr_cli.rows.log import read_trials as read_trials
    from ddr_cli.rows.manifest import read_manifest as read_manifest
else:
    __getattr__, __dir__ = lazy_names(__name__, __file__)
