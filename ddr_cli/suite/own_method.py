"""Your own method on the splits that a suite's methods have finished, and on its leaderboard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from ddr_cli.core.errors import DdrError, InputError
from ddr_cli.core.extras import nothing_fitted
from ddr_cli.core.own_code import class_name, located
from ddr_cli.engine.audit import Audit
from ddr_cli.engine.run import RunOutcome, RunSettings
from ddr_cli.suite.audits import audit_parts
from ddr_cli.suite.definition import Suite
from ddr_cli.suite.leaderboard import Leaderboard, leaderboard
from ddr_cli.suite.names import INDUCTIVE
from ddr_cli.suite.remaining import SuitePart, folder_of, parts_of, run_suite, seen_again
from ddr_cli.suite.rows import suite_rows


@dataclass(frozen=True)
class Joined:
    """Your own method in a suite: the suite's rows, its own parts, and the outcomes of its runs.

    `track` is the one that the method's audits put it in.
    """

    suite: Suite
    label: str
    track: str
    classifier: str | None
    metric: str | None
    theirs: pd.DataFrame
    there: Sequence[SuitePart]
    audits: Sequence[Audit] = ()
    ours: Sequence[SuitePart] = ()
    endings: Mapping[str, RunOutcome | DdrError] = field(default_factory=dict)

    @property
    def rows(self) -> pd.DataFrame:
        """The rows of the suite's methods and of your own, as returned by `suite_rows`."""
        if not self.ours:
            refused = (each for each in self.endings.values() if isinstance(each, DdrError))
            said = f"{self.label} has not finished any split yet. Repeat the call to resume."
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
            track=self.track,
            baseline=self.suite.baseline_of(self.track),
        )


def join(
    suite: Suite,
    method: str,
    settings: RunSettings,
    *,
    only: Sequence[str] = (),
    hours: float | None = None,
    classifier: str | None = None,
    metric: str | None = None,
    told: Callable[[str], None] = lambda _: None,
) -> Joined:
    """Run a method on the splits that all of a suite's methods have finished.

    It is audited first. If the embedding of a test sample depends on the other test samples, the
    method is ranked among the transductive ones. Its rows are in ``suite_<suite>_<method>``; the
    same call resumes it. Raises InputError if the suite has no such split.
    """

    def placed(track: str) -> tuple[Joined, Suite, list[SuitePart]]:
        """Return the method in a track, a suite of only it, and the parts of that."""
        own = suite.with_method(located(method, Path()), track)
        folder = folder_of(suite, settings.out)
        with nothing_fitted():
            theirs = parts_of(suite, folder, tracks=[track], only=only)
        there = [part for part in theirs if part.ended]
        if not there:
            raise InputError(
                f"In {folder}, no split of the track {track} has results for all methods. "
                "Use 'ddr suite run' or 'ddr suite fetch' first."
            )
        name, rows = class_name(method), suite_rows(there)
        names = [part.spec.dataset.name for part in there]
        mine = parts_of(own, folder_of(own, settings.out), only=names)
        return Joined(suite, name, track, classifier, metric, rows, there), own, mine

    joined, own, mine = placed(INDUCTIVE)
    # This reports an unknown classifier or metric before anything is run.
    joined.board(joined.theirs, tuned=suite.tunes(INDUCTIVE))
    folder = folder_of(own, settings.out)
    audits = audit_parts(mine, folder, told=told, quiet=settings.quiet)
    if any(each.alone is False for each in audits):
        track = suite.transductive_track
        told(
            f"On {', '.join(each.dataset for each in audits if each.alone is False)}, embeddings "
            f"depend on other test samples: ddr ranks {joined.label} in the track {track}."
        )
        joined, own, mine = placed(track)
    endings = run_suite(
        own,
        mine,
        replace(settings, out=folder),
        hours=hours,
        splits=max(part.ended for part in joined.there),
        told=told,
    )
    ours = [part for part in seen_again(mine) if part.status]
    return replace(joined, audits=audits, ours=ours, endings=endings)
