"""One session of a run: from the first job to the last, or to the interruption."""

from __future__ import annotations

import time
from collections.abc import Sequence, Set
from contextlib import suppress
from typing import TYPE_CHECKING

from ddr_cli.core.errors import InputError
from ddr_cli.engine import embeddings
from ddr_cli.engine.arrays import Labels, save_labels, save_matrix
from ddr_cli.engine.executor import Executor
from ddr_cli.engine.interrupts import interruptible
from ddr_cli.engine.jobs import Kept, TrialResult
from ddr_cli.engine.journal import OK, Journal, parameter_text
from ddr_cli.engine.plan import Group, Plan, Unit
from ddr_cli.engine.progress import Progress
from ddr_cli.engine.provenance import Manifest
from ddr_cli.engine.schedule import Draw, Schedule
from ddr_cli.engine.scratch import Scratch
from ddr_cli.evaluation.splits import make_split, method_seed

if TYPE_CHECKING:
    from ddr_cli.data import Dataset
    from ddr_cli.spec import Setting

_SECONDS_DECIMALS = 6


class Session:
    """Runs trials of a plan and writes their rows.

    Parameters
    ----------
    plan : Plan
        The plan.
    dataset : Dataset
        Its data.
    journal : Journal
        Where rows go as trials end.
    manifest : Manifest
        Where the session's facts go; it has begun.
    progress : Progress
        What is told how it goes.
    """

    def __init__(
        self,
        plan: Plan,
        dataset: Dataset,
        journal: Journal,
        manifest: Manifest,
        progress: Progress,
    ) -> None:
        self._plan = plan
        self._dataset = dataset
        self._journal = journal
        self._manifest = manifest
        self._progress = progress
        self._split_hashes: dict[str, str] = {}
        self._parameter_cells: dict[int, dict[str, str]] = {}
        self._ended = 0
        self._failed = 0

    def run(
        self,
        todo: Sequence[str],
        executor: Executor,
        timeout: float | None,
        redo: Set[str] = frozenset(),
    ) -> bool:
        """Do the trials `todo`, and make the kept embeddings `redo` again.

        Returns
        -------
        bool
            Whether the session was told to stop before the end.

        Raises
        ------
        InputError
            If the journal can't be written any more, or the spec asks for an impossible split.
        """
        wall, cpu = time.perf_counter(), time.process_time()
        outcome, schedule = "stopped", None
        try:
            with Scratch() as scratch, interruptible(executor.wake) as stopped:
                data = scratch.folder("data")
                save_matrix(data, "X", self._dataset.X)
                save_labels(data, labels_of(self._dataset))
                schedule = Schedule(
                    self._plan,
                    set(todo),
                    data=data,
                    scratch=scratch,
                    draw=self._draw,
                    executor=executor,
                    record=self._record,
                    keep=self._keep,
                    redo=redo,
                    warn=self._progress.note,
                    timeout=timeout,
                )
                schedule.run(stopped)
                outcome = "interrupted" if self._ended < len(todo) else "finished"
        finally:
            facts = {
                "outcome": outcome,
                "wall_seconds": round(time.perf_counter() - wall, 3),
                "cpu_seconds": round(
                    time.process_time() - cpu + (schedule.cpu_seconds if schedule else 0), 3
                ),
                "trials_ended": self._ended,
                "trials_failed": self._failed,
            }
            if outcome == "stopped":
                # What stopped it, such as a full disk, is the message to show.
                with suppress(InputError):
                    self._manifest.end(facts)
            else:
                self._manifest.end(facts)
        return outcome == "interrupted"

    def sizes(self) -> dict[str, dict[str, int]]:
        """Return how many points the parts of each kind of split have.

        Raises
        ------
        InputError
            If the spec asks for an impossible split.
        """
        # The sizes of a split depend on its kind alone, so the first of each kind stands for all.
        first = {group.split.kind: group for group in reversed(self._plan.groups)}
        draws = {kind: self._draw(group).split for kind, group in first.items()}
        return {
            kind: {"train": len(split.train), "test": len(split.test)}
            for kind, split in draws.items()
        }

    def _draw(self, group: Group) -> Draw:
        key, spec = group.split, self._plan.spec.split
        own = self._dataset.split
        split = make_split(
            key.kind,
            self._dataset.y,
            index=key.index,
            seed=spec.seed,
            dataset=self._dataset.name,
            predefined=None if own is None else (own.train, own.test),
            train=None if key.kind == "predefined" else spec.train,
        )
        self._split_hashes[key.name] = split.hash
        return Draw(split, method_seed(spec.seed, self._dataset.name, key.index))

    def _record(self, results: Sequence[TrialResult]) -> None:
        self._journal.append([self._row(result) for result in results])
        failed = sum(result.status != OK for result in results)
        self._ended += len(results)
        self._failed += failed
        self._progress.advance(len(results) - failed, failed)

    def _keep(self, group: Group, unit: Unit, draw: Draw, kept: Kept) -> None:
        labels = labels_of(self._dataset)
        folder = self._journal.path.parent
        embeddings.write(folder, self._plan, group, unit, draw, labels, kept)

    def _row(self, result: TrialResult) -> dict[str, object]:
        trial = self._plan.trials[result.trial_id]
        return {
            "trial_id": trial.id,
            "dataset": self._plan.data.name,
            "split": trial.split.name,
            "split_hash": self._split_hashes[trial.split.name],
            "reducer": trial.reducer.name,
            "classifier": trial.classifier.name,
            **self._cells("reducer", trial.reducer),
            **self._cells("classifier", trial.classifier),
            **result.metrics,
            "status": result.status,
            "reason": result.reason,
            "fit_seconds": _rounded(result.fit_seconds),
            "eval_seconds": _rounded(result.eval_seconds),
        }

    def _cells(self, kind: str, setting: Setting) -> dict[str, str]:
        cells = self._parameter_cells.get(id(setting))
        if cells is None:
            values = dict(setting.params) | ({"mode": setting.mode} if kind == "reducer" else {})
            cells = {f"{kind}.{name}": parameter_text(value) for name, value in values.items()}
            self._parameter_cells[id(setting)] = cells
        return cells


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, _SECONDS_DECIMALS)


def labels_of(dataset: Dataset) -> Labels:
    """Return the labels of a data set's points."""
    return Labels(
        dataset.y,
        dataset.target_names,
        dataset.subclasses,
        dataset.subclass_names,
        dataset.groups,
    )
