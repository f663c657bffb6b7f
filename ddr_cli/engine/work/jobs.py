"""Jobs, what comes back of them, and what the scheduler needs of something that runs them.

A new back end is a class with the names of `Executor`. The records are plain and light to import.
A worker that is killed can't say what it was at. Its trace, a file that outlives it, can: which
trials it had finished, whose results are then kept, and which it was on, which alone are lost.
"""

from __future__ import annotations

import json
import os
import queue
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

from ddr_cli.core.errors import DdrError
from ddr_cli.engine.plan.names import candidate_of
from ddr_cli.engine.rows.result import Points, TrialResult

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Params = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Division:
    """Row numbers of a data set: `n_train` of a training part, then those of a test part.

    `places` say in which order the training points are labelled, where only some are.
    """

    rows: NDArray[np.intp]
    n_train: int
    places: NDArray[np.intp] | None = None


@dataclass(frozen=True, eq=False)
class SplitJob:
    """Preprocess one split and search its neighbours, for all fits of that split.

    `data` is the file of the data set, `split` the one to write and `trace` the one that tells how
    far the job is. `rows` are the row numbers of the training part, `n_train` of them, followed by
    those of the test part. `searches` says how many neighbours to find of all points among
    themselves (``transductive``), of the training points among themselves (``out_of_sample``), or
    of the test points among the training points (``queries``). `places` are those of
    `ddr_cli.evaluation.splits.label_places`, where only some training points are labelled. `folds`
    are inner divisions of the training part, by how many labels of a class are known there; in each
    the same is done anew, so that nothing is learned from outside.
    """

    data: Path
    split: Path
    trace: Path
    rows: NDArray[np.intp]
    n_train: int
    steps: tuple[tuple[str, Params], ...]
    searches: Mapping[str, int]
    seed: int
    timeout: float | None = None
    places: NDArray[np.intp] | None = None
    folds: Mapping[int | None, tuple[Division, ...]] = field(default_factory=dict)

    @property
    def whole(self) -> Division:
        """The split itself."""
        return Division(self.rows, self.n_train, self.places)

    @property
    def stages(self) -> int:
        """How many times the time limit applies."""
        return 1 + sum(map(len, self.folds.values()))


@dataclass(frozen=True)
class Evaluation:
    """One trial of a fit: an evaluator on the first `width` columns of the embedding, or on all.

    It is trained on `labels` training points per class, None for all.
    """

    trial_id: str
    width: int | None
    evaluator: str
    params: Params
    labels: int | None = None


@dataclass(frozen=True, eq=False)
class FitJob:
    """Fit one embedding of one split and evaluate trials on it.

    `widths` are all ``n_components`` that the spec has for a nested reducer, the largest first, and
    `params` then lacks it; they hold those of trials that are not in this job too, since what is
    fitted must not depend on what is left to do. `timeout` holds for each trial, the fit included;
    `batched` says whether trials may be evaluated together. Of the points `kept_rows` (numbered as
    the split's rows) the first so many columns of each of `kept_widths` are sent back for a figure.
    The fit sees the labels of `labels` training points per class, None for all.
    With `shuffled`, the labels of either part are permuted before anything sees them.
    With `across_widths` a classifier may score all widths at once, equal to one by one
    but for rounding.
    """

    split: Path
    trace: Path
    reducer: str
    params: Params
    mode: str
    widths: tuple[int, ...]
    evaluations: tuple[Evaluation, ...]
    metrics: tuple[str, ...]
    seed: int
    timeout: float | None = None
    batched: bool = True
    kept_rows: tuple[int, ...] = ()
    kept_widths: tuple[int | None, ...] = ()
    labels: int | None = None
    shuffled: bool = False
    across_widths: bool = False

    @property
    def stages(self) -> int:
        """How many times the time limit applies, at most."""
        return 1 + len(self.widths) + len(self.evaluations)


@dataclass(frozen=True, eq=False)
class TuneJob:
    """Choose the settings of tuned trials on inner folds, then fit and evaluate each trial once.

    Each of the `candidates` is a fit as it would be done on the whole split, whose evaluations are
    candidates of trials (see `candidate_of`); on each of the `n_folds` folds for `labels` they are
    done and scored by `metric`, and trials in the end by all `metrics`.
    """

    split: Path
    trace: Path
    labels: int | None
    n_folds: int
    candidates: tuple[FitJob, ...]
    metric: str
    metrics: tuple[str, ...]
    timeout: float | None = None

    @property
    def stages(self) -> int:
        """How many times the time limit applies, at most."""
        trials = {candidate_of(e.trial_id)[0] for fit in self.candidates for e in fit.evaluations}
        return self.n_folds * sum(fit.stages for fit in self.candidates) + 2 * len(trials)


Job = SplitJob | FitJob | TuneJob


@dataclass(frozen=True)
class JobResult:
    """What a job returns.

    `error` is what kept the whole job from being done, with its `traceback`, `disk_full` whether
    that was a lack of space, which no other job would get around either, and `files_gone` whether
    what it was to read had been removed. `cpu_seconds` is the CPU time of the process since its
    last result, `kept` by width the coordinates of points and, where the method places them, of
    the classes.
    """

    results: tuple[TrialResult, ...] = ()
    warnings: tuple[str, ...] = ()
    error: str = ""
    traceback: str = ""
    disk_full: bool = False
    files_gone: bool = False
    cpu_seconds: float = 0.0
    kept: Mapping[int | None, tuple[Points, Points | None]] = field(default_factory=dict)


class Trace:
    """The trace of a running job, which it begins anew."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8", buffering=1)
        self._write({"pid": os.getpid()})

    def fitting(self) -> None:
        """Note that the shared fit begins."""
        self._write({"on": "fit"})

    def evaluating(self, trial_ids: Sequence[str]) -> None:
        """Note that the evaluation of these trials, or of candidates of trials, begins."""
        self._write({"on": list(dict.fromkeys(candidate_of(each)[0] for each in trial_ids))})

    def finished(self, results: Sequence[TrialResult]) -> None:
        """Note that trials are finished."""
        self._write({"done": [asdict(result) for result in results]})

    def _write(self, record: dict[str, object]) -> None:
        self._file.write(json.dumps(record) + "\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


@dataclass(frozen=True)
class LastSeen:
    """What a trace says: the process (none if the job was not begun), what it was on, its results.

    Of several trials in `evaluating` nobody knows which one the process was on.
    """

    pid: int | None = None
    fitting: bool = False
    evaluating: tuple[str, ...] = ()
    finished: tuple[TrialResult, ...] = ()


def last_seen(path: Path) -> LastSeen:
    """Return what the trace at `path` says; a torn last line and a missing file say nothing."""
    pid: int | None = None
    on: object = ()
    finished: list[TrialResult] = []
    try:
        lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    except (FileNotFoundError, UnicodeDecodeError):
        return LastSeen()
    for line in lines:
        record = json.loads(line)
        pid = record.get("pid", pid)
        if "done" in record:
            finished += [TrialResult(**result) for result in record["done"]]
        on = record.get("on", ())
    evaluating = tuple(on) if isinstance(on, list) else ()
    return LastSeen(pid, on == "fit", evaluating, tuple(finished))


class ExecutorError(DdrError):
    """What runs the jobs can't run any more, neither of this run nor of another."""


@dataclass(frozen=True, eq=False)
class JobEnd:
    """How a job, the object that was submitted, ended: with a result, or its process died.

    Then `reason` says how, and `seen` how far it was.
    """

    job: Job
    result: JobResult | None = None
    death: Literal["timeout", "killed"] | None = None
    reason: str = ""
    seen: LastSeen = LastSeen()


class Executor(Protocol):
    """Runs jobs in other processes, one per core, and survives their deaths."""

    @property
    def capacity(self) -> int:
        """How many submitted jobs keep every process busy."""

    def submit(self, job: Job) -> None:
        """Have a job done. It ends exactly once, whatever becomes of its process."""

    def wait(self, seconds: float) -> list[JobEnd]:
        """Return the jobs that have ended since the last call, waiting for one if there is none."""

    def release(self, path: Path) -> None:
        """Hear that no more jobs will come on a data set or split, named by its file."""

    def wake(self) -> None:
        """Make `wait` return at once; may be called from a signal handler."""

    def discard(self) -> None:
        """Forget all jobs that have not ended, and end the processes that are on one."""

    def stop(self) -> None:
        """End all processes at once."""


class Completions:
    """The numbers of jobs as they end, told from any thread."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[int | None] = queue.SimpleQueue()

    def put(self, number: int) -> None:
        """Tell that a job has ended."""
        self._queue.put(number)

    def wake(self) -> None:
        """Make `take` return at once; may be called from a signal handler."""
        self._queue.put(None)

    def take(self, seconds: float) -> list[int]:
        """Return what was told since the last call, waiting for so long if there is nothing."""
        numbers: list[int | None] = []
        with suppress(queue.Empty):
            numbers.append(self._queue.get(timeout=seconds))
            while True:
                numbers.append(self._queue.get_nowait())
        return [number for number in numbers if number is not None]
