"""Your own method on the splits that a suite's methods have finished, and on its leaderboard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from ddr_cli.core.errors import DdrError, InputError
from ddr_cli.core.own_code import class_name, located
from ddr_cli.engine.plan.datasets import Datasets
from ddr_cli.engine.run import RunOutcome, RunSettings
from ddr_cli.suite.definition import INDUCTIVE, Suite
from ddr_cli.suite.leaderboard import Leaderboard, leaderboard
from ddr_cli.suite.remaining import SuitePart, folder_of, parts_of, run_suite, seen_again
from ddr_cli.suite.rows import suite_rows

if TYPE_CHECKING:
    from ddr_cli.data import Sources


@dataclass(frozen=True)
class Joined:
    """Your own method in a suite: the suite's rows, its own parts, and the outcomes of its runs."""

    suite: Suite
    label: str
    classifier: str | None
    metric: str | None
    theirs: pd.DataFrame
    ours: Sequence[SuitePart]
    endings: dict[str, RunOutcome | DdrError]

    @property
    def rows(self) -> pd.DataFrame:
        """The rows of the suite's methods and of your own, as returned by `suite_rows`."""
        if not self.ours:
            refused = (each for each in self.endings.values() if isinstance(each, DdrError))
            said = f"{self.label} has not ended on any split yet; the same call goes on."
            raise next(refused, InputError(said))
        return pd.concat([self.theirs, suite_rows(self.ours)], ignore_index=True)

    @property
    def is_tuned(self) -> bool:
        """Whether it has parameters to tune: n_components, or grids of its own."""
        trials = (trial for part in self.ours for trial in part.plan.trials.values())
        return any(each.tuning is not None and len(each.tuning.candidates) > 1 for each in trials)

    def board(self, rows: pd.DataFrame, *, tuned: bool) -> Leaderboard:
        """Return the leaderboard with the method in it."""
        return leaderboard(
            rows,
            classifier=self.classifier,
            metric=self.metric,
            tuned=tuned,
            baseline=self.suite.baseline_of(INDUCTIVE),
        )


def join(
    suite: Suite,
    method: str,
    settings: RunSettings,
    *,
    sources: Sources | None = None,
    only: Sequence[str] = (),
    hours: float | None = None,
    classifier: str | None = None,
    metric: str | None = None,
    told: Callable[[str], None] = lambda _: None,
) -> Joined:
    """Run a method on the splits that all of a suite's methods have finished.

    Its rows are in ``suite_<suite>_<method>``; the same call resumes it. Raises InputError if the
    suite has no such split.
    """
    own = suite.with_method(located(method, Path()))
    datasets = Datasets(sources)
    folder = folder_of(suite, settings.out)
    theirs = parts_of(suite, folder, datasets=datasets, tracks=[INDUCTIVE], only=only)
    there = [part for part in theirs if part.ended]
    if not there:
        raise InputError(
            f"{folder} has no split on which all methods have ended: run the suite first, or name "
            "the folder that holds its results by --out."
        )
    joined = Joined(suite, class_name(method), classifier, metric, suite_rows(there), (), {})
    # What is asked for and not there is told before anything is run.
    joined.board(joined.theirs, tuned=suite.tracks[INDUCTIVE].tune is not None)
    names = [part.spec.dataset.name for part in there]
    folder = folder_of(own, settings.out)
    mine = parts_of(own, folder, datasets=datasets, only=names)
    endings = run_suite(
        own,
        mine,
        replace(settings, out=folder),
        sources=sources,
        hours=hours,
        splits=max(part.ended for part in there),
        told=told,
    )
    ours = [part for part in seen_again(mine) if part.status]
    return replace(joined, ours=ours, endings=endings)
