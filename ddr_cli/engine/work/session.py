"""One session of a run, in a locked folder: each trial is written to disk as soon as it ends."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from importlib import metadata
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from ddr_cli.core.errors import InputError
from ddr_cli.core.own_code import display_name
from ddr_cli.data.cards import load_card
from ddr_cli.engine.plan.plan import parameter_cells
from ddr_cli.engine.work.samples import Labels, Samples
from ddr_cli.engine.work.schedule import Ended, KeptCoordinates, Schedule
from ddr_cli.engine.work.scoring import is_measure, load_evaluator, majority_scores
from ddr_cli.engine.work.scratch import Scratch
from ddr_cli.evaluation.metrics import majority_baseline
from ddr_cli.rows.embeddings import EMBEDDINGS, KeptEmbedding
from ddr_cli.rows.log import OK, Coordinates, Rows, TrialResult
from ddr_cli.rows.manifest import Manifest, SessionRecord, now, read_manifest
from ddr_cli.rows.tracebacks import Tracebacks

if TYPE_CHECKING:
    from ddr_cli.data import Dataset
    from ddr_cli.engine.decide import Decision
    from ddr_cli.engine.plan.plan import Plan
    from ddr_cli.engine.progress import Progress
    from ddr_cli.engine.work.draws import Draws
    from ddr_cli.engine.work.jobs import Executor
    from ddr_cli.spec import Cell, Spec

_SECONDS_DECIMALS = 6
_COORDINATE_DIGITS = 5


class Session:
    """The work of a run from its first job to its last or to an interruption."""

    def __init__(
        self,
        plan: Plan,
        dataset: Dataset,
        draws: Draws,
        rows: Rows,
        progress: Progress,
        record: SessionRecord,
    ) -> None:
        self._plan = plan
        self._dataset = dataset
        self._draws = draws
        self._labels = Labels.of(dataset)
        self._rows = rows
        self._progress = progress
        self._record = record
        self._tracebacks = Tracebacks(rows.folder)
        self._ended = 0
        self._failed = 0

    def run(self, decision: Decision, executor: Executor) -> bool:
        """Run the trials of a decision; return whether they were interrupted."""
        todo, asked = decision.todo, len(decision.asked)
        folder = self._rows.folder
        manifest = manifest_of(folder, self._plan)
        manifest.sizes = dict(self._draws.sizes)
        manifest.begin_session(self._record, packages_of(self._plan.spec))
        manifest.write(folder)
        status = self._rows.status
        failed_before = sum(each != OK for each in status.values())
        failed_before -= sum(status.get(each, OK) != OK for each in todo)
        self._progress.begin(self._plan.spec.name, asked, asked - len(todo), failed_before)
        try:
            self._work(decision, executor, manifest)
            interrupted = self._ended < len(todo)
            self._record.outcome = "interrupted" if interrupted else "finished"
        finally:
            self._progress.end()
            self._record.trials_ended = self._ended
            self._record.trials_failed = self._failed
            self._record.finished = now()
            if self._record.outcome is None:
                self._record.outcome = "stopped"
                # The user should see the error that stopped the session, such as a full disk.
                with suppress(InputError):
                    manifest.write(folder)
            else:
                manifest.write(folder)
        return interrupted

    def _work(self, decision: Decision, executor: Executor, manifest: Manifest) -> None:
        record, data = self._record, self._dataset
        wall, cpu = time.perf_counter(), time.process_time()
        schedule = None
        try:
            with Scratch() as scratch, _interruptible(executor.wake) as stopped:
                schedule = Schedule(
                    self._plan,
                    decision,
                    Samples(data.X, self._labels, categorical=data.categorical),
                    self._draws,
                    scratch,
                    executor,
                    record.timeout,
                )
                with closing(schedule.run(stopped)) as ends:
                    for ended in ends:
                        if schedule.is_prepared and not record.startup_seconds:
                            record.startup_seconds = round(time.perf_counter() - wall, 3)
                            manifest.write(self._rows.folder)
                        self._take(ended)
        finally:
            spent = time.process_time() - cpu + (schedule.cpu_seconds if schedule else 0)
            record.wall_seconds = round(time.perf_counter() - wall, 3)
            record.cpu_seconds = round(spent, 3)

    def _take(self, ended: Ended) -> None:
        """Write results: embeddings before the rows, so that every row has its embedding."""
        if ended.working_on:
            self._progress.working_on(ended.working_on)
        for warning in ended.warnings:
            self._progress.note(warning)
        for each in ended.embeddings:
            self._keep(each)
        results = ended.results
        if not results:
            return
        self._tracebacks.keep(results)
        self._rows.append({result.trial_id: self._outcome(result) for result in results})
        failed = sum(result.status != OK for result in results)
        self._ended += len(results)
        self._failed += failed
        self._progress.advance(len(results) - failed, failed)

    def _outcome(self, result: TrialResult) -> dict[str, object]:
        """Return what a trial's row has besides its line of the plan."""
        trial, chosen = self._plan.trials[result.trial_id], result.candidate
        selected = {}
        if trial.tuning is not None and chosen is not None:
            selected = parameter_cells(*trial.tuning.candidates[chosen])
        return {
            **selected,
            "split_hash": self._draws.hashes[trial.split.name],
            "inner_score": result.inner_score,
            "tune_seconds": _rounded(result.tune_seconds),
            **(result.metrics if result.status == OK else self._constant_scores(trial)),
            "status": result.status,
            "reason": result.reason,
            "fit_seconds": _rounded(result.fit_seconds),
            "eval_seconds": _rounded(result.eval_seconds),
        }

    def _constant_scores(self, trial: Cell) -> Mapping[str, float]:
        """Return the majority-class baseline's scores, for a failed trial; measures have none."""
        if is_measure(load_evaluator(trial.evaluator.name)):
            return {}
        split, labels = self._draws(trial.split).split, self._labels
        return majority_scores(
            labels.y[split.train],
            labels.y[split.test],
            self._plan.spec.metrics,
            labels=trial.labels,
            groups=None if labels.groups is None else labels.groups[split.test],
        )

    def _keep(self, embedded: KeptCoordinates) -> None:
        opened, fit = embedded.split, embedded.fit
        split, rows = opened.drawn.split, np.asarray(opened.kept_rows)
        for width, (coordinates, prototypes) in embedded.kept.items():
            trial_id, trial = next(
                pair for pair in fit.trials.items() if fit.width_of(pair[1]) == width
            )
            own = self._labels.rows(opened.drawn.division.rows[rows])
            KeptEmbedding(
                reducer=display_name(trial.reducer.name),
                mode=trial.reducer.mode,
                params=dict(trial.reducer.params),
                split=opened.key.name,
                split_hash=split.hash,
                n_components=len(coordinates[0]) if width is None else width,
                classes=own.classes,
                y=tuple(own.y.tolist()),
                part=tuple("train" if row < len(split.train) else "test" for row in rows),
                subclass_names=own.subclass_names,
                subclasses=None if own.subclasses is None else tuple(own.subclasses.tolist()),
                coordinates=_shortened(coordinates),
                prototypes=None if prototypes is None else _shortened(prototypes),
            ).write(self._rows.folder / EMBEDDINGS / self._plan.kept[trial_id])


def manifest_of(folder: Path, plan: Plan) -> Manifest:
    """Return the manifest of a plan, with the sessions of its folder if they can be read."""
    before: dict[str, Any] = {"sizes": {}, "environments": [], "sessions": []}
    with suppress(InputError):
        manifest = read_manifest(folder)
        before = {name: getattr(manifest, name) for name in before}
    spec = plan.spec
    reducers = {one.label: (one.name, one.traits().version) for one in spec.reducers}
    return Manifest(
        format=1,
        spec=spec.resolved(),
        data=plan.data,
        seed=spec.split.seed,
        planned=len(plan.trials),
        majority=majority_of(spec),
        versions={label: spec.version_of(*version) for label, version in reducers.items()},
        **before,
    )


def majority_of(spec: Spec) -> dict[str, float]:
    """Return the scores of the majority-class baseline, none if the card has no class sizes."""
    card = load_card(spec.card)
    options: Any = spec.dataset.options
    # If options change the size of a generated data set, only its class fractions stay known.
    classes = card.expected(card.choose(options)).classes or card.expect.classes or {}
    return majority_baseline(classes.values()) if len(classes) > 1 else {}


def packages_of(spec: Spec) -> dict[str, str]:
    """Return the versions of packages and the hashes of files that provide a spec's components."""
    from ddr_cli.evaluation.evaluators import PREPROCESSORS, evaluator_registry
    from ddr_cli.reducers.registry import REDUCERS
    from ddr_cli.spec.sweeps import combinations

    entries = [evaluator_registry(one.name).get(one.name) for one in spec.evaluators]
    entries += [REDUCERS.get(one.name) for one in spec.reducers]
    entries += [PREPROCESSORS.get(one.name) for one in spec.preprocess]
    packages = {
        entry.origin: entry.source.removeprefix(f"{entry.origin} ")
        for entry in entries
        if entry.source
    }
    settings = ((p, params) for p in spec.reducers for params, _ in combinations(p, spec.sweep))
    libraries = {piece.traits(params).library for piece, params in settings} - {None}
    return packages | {name: metadata.version(name) for name in libraries}


def _shortened(coordinates: Coordinates) -> Coordinates:
    """Return coordinates rounded to the significant digits that a figure shows."""
    digits = _COORDINATE_DIGITS
    return tuple(tuple(float(f"{value:.{digits}g}") for value in row) for row in coordinates)


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, _SECONDS_DECIMALS)


@contextmanager
def _interruptible(wake: Callable[[], None]) -> Iterator[Callable[[], bool]]:
    """Make Ctrl-C and requests to end (SIGTERM, SIGHUP) set a flag within the block.

    Yields a function that returns the flag. A second signal has its usual effect. `wake` is called
    to end a wait within the block. Only the main thread can handle signals; in other threads the
    flag is never set.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    stopped = False
    before: dict[int, object] = {}

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal stopped
        stopped = True
        restore()
        wake()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    names = ("SIGINT", "SIGTERM", "SIGHUP")
    for number in [getattr(signal, name) for name in names if hasattr(signal, name)]:
        # Signals that are ignored, for instance by nohup, stay ignored.
        if signal.getsignal(number) != signal.SIG_IGN:
            before[number] = signal.signal(number, stop)
    try:
        yield lambda: stopped
    finally:
        restore()
