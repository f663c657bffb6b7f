"""Your own method on the splits that a suite's methods have finished, and on its leaderboard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from ddr_cli.core.errors import DdrError, InputError
from ddr_cli.core.own_code import class_name, located
from ddr_cli.engine.audit import Audit
from ddr_cli.engine.run import RunOutcome, RunSettings
from ddr_cli.rows.manifest import read_manifest
from ddr_cli.suite.audits import audit_parts
from ddr_cli.suite.definition import Suite
from ddr_cli.suite.leaderboard import Leaderboard, leaderboard
from ddr_cli.suite.names import INDUCTIVE
from ddr_cli.suite.remaining import SuitePart, folder_of, parts_of, run_suite, seen_again
from ddr_cli.suite.rows import finished_splits, folders_of, rows_in, suite_rows


@dataclass(frozen=True)
class Joined:
    """Your own method in a suite: the suite's rows, its own parts, and the outcomes of its runs.

    `track` is the one that the method's audits put it in; `finished` is the number of splits that
    the suite's methods have finished, by data set.
    """

    suite: Suite
    label: str
    track: str
    classifier: str | None
    metric: str | None
    theirs: pd.DataFrame
    finished: Mapping[str, int]
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
        ours = [rows_in(part.folder, read_manifest(part.folder)) for part in self.ours]
        return pd.concat([self.theirs, *ours], ignore_index=True)

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
        folders = folders_of(suite, folder, tracks=[track], only=only)
        theirs = suite_rows(suite, folders)
        finished = {name: n for name, n in finished_splits(theirs).items() if n}
        if not finished:
            raise InputError(
                f"In {folder}, no split of the track {track} has results for all methods. "
                "Use 'ddr suite run' or 'ddr suite fetch' first."
            )
        theirs = theirs[theirs["dataset"].isin(finished)]
        names = [
            str(each.spec["dataset"]["name"])
            for each in folders.values()
            if each.data and each.data.name in finished
        ]
        mine = parts_of(own, folder_of(own, settings.out), only=names)
        label = class_name(method)
        return Joined(suite, label, track, classifier, metric, theirs, finished), own, mine

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
        splits=max(joined.finished.values()),
        told=told,
    )
    ours = [part for part in seen_again(mine) if part.status]
    return replace(joined, audits=audits, ours=ours, endings=endings)
