"""One session of a run, in a locked folder: every finished trial is on disk at once."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from ddr_cli.core.errors import InputError
from ddr_cli.core.own_code import shown
from ddr_cli.engine.decide import Decision
from ddr_cli.engine.plan.plan import Fit, Plan
from ddr_cli.engine.progress import Progress
from ddr_cli.engine.rows.embeddings import KeptEmbedding, embedding_path
from ddr_cli.engine.rows.journal import OK, Journal, parameter_text
from ddr_cli.engine.rows.manifest import SessionRecord, manifest_of, now, packages_of
from ddr_cli.engine.rows.result import Points, TrialResult
from ddr_cli.engine.rows.tracebacks import Tracebacks
from ddr_cli.engine.work.interruptible import interruptible
from ddr_cli.engine.work.jobs import Division, Executor
from ddr_cli.engine.work.majority import majority_scores
from ddr_cli.engine.work.schedule import OpenSplit, Schedule
from ddr_cli.engine.work.scoring import is_measure, load_evaluator
from ddr_cli.engine.work.scratch import Labels, PointSet, Scratch
from ddr_cli.engine.work.splits import Drawn, Draws
from ddr_cli.spec.budgets import ALL

if TYPE_CHECKING:
    from ddr_cli.data import Dataset
    from ddr_cli.spec import Cell, Setting, SplitKey

_SECONDS_DECIMALS = 6
_COORDINATE_DIGITS = 5


class Session:
    """From the first job to the last, or to the interruption, in a folder that is locked."""

    def __init__(
        self,
        plan: Plan,
        dataset: Dataset,
        draws: Draws,
        journal: Journal,
        progress: Progress,
        record: SessionRecord,
    ) -> None:
        self._plan = plan
        self._dataset = dataset
        self._draws = draws
        self._labels = Labels.of(dataset)
        self._journal = journal
        self._progress = progress
        self._record = record
        self._tracebacks = Tracebacks(journal.path.parent)
        self._split_hashes: dict[str, str] = {}
        self._parameter_cells: dict[int, dict[str, str]] = {}
        self._ended = 0
        self._failed = 0

    def run(self, decision: Decision, executor: Executor) -> bool:
        """Run the trials that a decision names; return whether they were interrupted."""
        todo, asked = decision.todo, len(decision.asked)
        folder = self._journal.path.parent
        manifest = manifest_of(folder, self._plan)
        manifest.sizes = dict(self._draws.sizes)
        manifest.begin_session(self._record, packages_of(self._plan.spec))
        manifest.write(folder)
        failed_before = sum(each != OK for each in self._journal.status.values())
        failed_before -= sum(self._journal.status.get(each, OK) != OK for each in todo)
        self._progress.begin(self._plan.spec.name, asked, asked - len(todo), failed_before)
        wall, cpu = time.perf_counter(), time.process_time()
        schedule = None

        def ready() -> None:
            self._record.startup_seconds = round(time.perf_counter() - wall, 3)
            manifest.write(folder)

        try:
            with Scratch() as scratch, interruptible(executor.wake) as stopped:
                schedule = Schedule(
                    self._plan,
                    set(todo),
                    data=PointSet(
                        self._dataset.X, self._labels, categorical=self._dataset.categorical
                    ),
                    scratch=scratch,
                    draw=self._draw,
                    divide=self._divide,
                    executor=executor,
                    ready=ready,
                    record=self._record_results,
                    keep=self._keep,
                    embeddings=decision.embeddings,
                    warn=self._progress.note,
                    timeout=self._record.timeout,
                )
                schedule.run(stopped)
                interrupted = self._ended < len(todo)
                self._record.outcome = "interrupted" if interrupted else "finished"
        finally:
            self._progress.end()
            spent = time.process_time() - cpu + (schedule.cpu_seconds if schedule else 0)
            self._record.wall_seconds = round(time.perf_counter() - wall, 3)
            self._record.cpu_seconds = round(spent, 3)
            self._record.trials_ended = self._ended
            self._record.trials_failed = self._failed
            self._record.finished = now()
            if self._record.outcome is None:
                self._record.outcome = "stopped"
                # What stopped it, such as a full disk, is the message to show.
                with suppress(InputError):
                    manifest.write(folder)
            else:
                manifest.write(folder)
        return interrupted

    def _draw(self, key: SplitKey) -> Drawn:
        drawn = self._draws(key)
        self._split_hashes[key.name] = drawn.split.hash
        return drawn

    def _divide(self, opened: OpenSplit, fit: Fit) -> tuple[Division, ...]:
        assert fit.tuning is not None
        return self._draws.divide(opened.key, opened.split, opened.places, fit.labels, fit.tuning)

    def _record_results(self, results: Sequence[TrialResult]) -> None:
        self._tracebacks.keep(results)
        self._journal.append([self._row(result) for result in results])
        failed = sum(result.status != OK for result in results)
        self._ended += len(results)
        self._failed += failed
        self._progress.advance(len(results) - failed, failed)

    def _row(self, result: TrialResult) -> dict[str, object]:
        trial = self._plan.trials[result.trial_id]
        reducer, evaluator = trial.reducer, trial.evaluator
        if trial.tuning is not None and result.chosen is not None:
            reducer, evaluator = trial.tuning.candidates[result.chosen]
        cells = self._cells("reducer", reducer) | self._cells("classifier", evaluator)
        if trial.tuning is not None and result.chosen is None:
            # What was to be chosen has no value.
            others = [
                self._cells("reducer", one) | self._cells("classifier", other)
                for one, other in trial.tuning.candidates
            ]
            cells = {k: v for k, v in cells.items() if all(one[k] == v for one in others)}
        return {
            "trial_id": result.trial_id,
            "dataset": self._plan.data.name,
            "split": trial.split.name,
            "split_hash": self._split_hashes[trial.split.name],
            "reducer": shown(trial.reducer.name),
            # The column holds measures too; journals that there are call it so.
            "classifier": shown(trial.evaluator.name),
            **cells,
            "split.train": trial.split.train,
            "labels": ALL if trial.labels is None else trial.labels,
            "control": trial.control,
            "tuned": len(trial.tuning.candidates) if trial.tuning is not None else None,
            "inner_score": result.inner_score,
            "tune_seconds": _rounded(result.tune_seconds),
            **(result.metrics if result.status == OK else self._constant_scores(trial)),
            "status": result.status,
            "reason": result.reason,
            "fit_seconds": _rounded(result.fit_seconds),
            "eval_seconds": _rounded(result.eval_seconds),
        }

    def _constant_scores(self, trial: Cell) -> Mapping[str, float]:
        """Return what a trial that failed is scored as; a measure has no such value."""
        if is_measure(load_evaluator(trial.evaluator.name)):
            return {}
        split, labels = self._draw(trial.split).split, self._labels
        return majority_scores(
            labels.y[split.train],
            labels.y[split.test],
            self._plan.spec.metrics,
            labels=trial.labels,
            groups=None if labels.groups is None else labels.groups[split.test],
        )

    def _cells(self, kind: str, setting: Setting) -> dict[str, str]:
        cells = self._parameter_cells.get(id(setting))
        if cells is None:
            values = dict(setting.params)
            if kind == "reducer":
                values["mode"] = setting.mode
            cells = {f"{kind}.{name}": parameter_text(value) for name, value in values.items()}
            cells = {name: text for name, text in cells.items() if name in self._plan.parameters}
            self._parameter_cells[id(setting)] = cells
        return cells

    def _keep(
        self,
        opened: OpenSplit,
        fit: Fit,
        kept: Mapping[int | None, tuple[Points, Points | None]],
    ) -> None:
        """Write embeddings, before the rows on them: a complete journal's run has them too."""
        for width, (coordinates, prototypes) in kept.items():
            trial_id, trial = next(
                (trial_id, one)
                for trial_id, one in fit.trials.items()
                if fit.width_of(one) == width
            )
            rows = np.asarray(opened.kept_rows)
            train = opened.split.train
            own = self._labels.rows(np.concatenate([train, opened.split.test])[rows])
            KeptEmbedding(
                reducer=shown(trial.reducer.name),
                mode=trial.reducer.mode,
                params=dict(trial.reducer.params),
                split=opened.key.name,
                split_hash=opened.split.hash,
                n_components=len(coordinates[0]) if width is None else width,
                classes=own.classes,
                y=tuple(own.y.tolist()),
                part=tuple("train" if row < len(train) else "test" for row in opened.kept_rows),
                subclass_names=own.subclass_names,
                subclasses=None if own.subclasses is None else tuple(own.subclasses.tolist()),
                coordinates=_shortened(coordinates),
                prototypes=None if prototypes is None else _shortened(prototypes),
            ).write(embedding_path(self._journal.path.parent, self._plan, trial_id))


def _shortened(points: Points) -> Points:
    """Return coordinates to as many digits as a figure shows, whatever their size."""
    digits = _COORDINATE_DIGITS
    return tuple(tuple(float(f"{value:.{digits}g}") for value in point) for point in points)


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, _SECONDS_DECIMALS)
