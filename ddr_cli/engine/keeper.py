"""What a session's trials predicted and where their methods placed points, on its way to disk."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ddr_cli.engine.draws import Draws
from ddr_cli.engine.jobs import TrialResult
from ddr_cli.engine.journal import OK
from ddr_cli.engine.kept import SHUFFLED, KeptGroup, unpacked, write_part
from ddr_cli.engine.plan import Plan
from ddr_cli.engine.schedule import kept_rows
from ddr_cli.engine.scratch import Labels, PointSet
from ddr_cli.spec.controls import SHUFFLED_LABELS

if TYPE_CHECKING:
    from ddr_cli.spec import SplitKey

_SPLITS_AT_HAND = 64


class Keeper:
    """Keeps what a plan's spec asks for, of results as they come."""

    def __init__(self, plan: Plan, draws: Draws, labels: Labels, folder: Path) -> None:
        self._plan = plan
        self._draws = draws
        self._labels = labels
        self._folder = folder
        self._parts = lru_cache(_SPLITS_AT_HAND)(self._parts_of)
        self._fits = {
            trial_id: fit for fits in plan.fits.values() for fit in fits for trial_id in fit.trials
        }

    def keep(self, results: Sequence[TrialResult]) -> None:
        """Write what is kept of these, before the rows on them are."""
        groups: dict[str, KeptGroup] = {}
        for result in results:
            trial, fit = self._plan.trials[result.trial_id], self._fits[result.trial_id]
            shuffled = trial.control == SHUFFLED_LABELS
            name = trial.split.name + (SHUFFLED if shuffled else "")
            if name not in groups:
                groups[name] = self._parts(trial.split, shuffled).without_trials()
            group = groups[name]
            if result.predicted:
                group.predicted[result.trial_id] = unpacked(result.predicted)["predicted"]
            if result.status == OK and not shuffled:
                # Results of one fit come together, the first with the places of points. The chosen
                # setting of a tuned trial is fitted by itself.
                width = fit.width_of(trial) if trial.tuning is None else None
                group.place(result.trial_id, width, result.placed)
        if groups:
            write_part(self._folder, groups)

    def _parts_of(self, key: SplitKey, shuffled: bool) -> KeptGroup:
        split, seed, _ = self._draws(key)
        n, keep = len(split.train), self._plan.spec.keep
        labels = self._labels.rows(np.concatenate([split.train, split.test]))
        points = PointSet(np.empty((0, 0)), labels, n)
        if shuffled:
            points = points.with_shuffled_labels(seed)
        most = keep.embeddings if keep is not None and not shuffled else None
        placed = np.asarray(kept_rows(most, len(labels.y), seed), dtype=np.intp)
        return KeptGroup(split.train, split.test, points.labels.y, placed, seed)
