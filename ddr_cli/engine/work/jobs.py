"""Jobs, their results, and the interface between the scheduler and a back end.

A new back end is a subclass of `Executor`. The records are plain and import little. A worker that
is killed cannot report anything. Its trace, a file that outlives it, records the finished trials,
whose results are kept, and the current trials, the only ones that are lost.
"""

from __future__ import annotations

import json
import os
import queue
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ddr_cli.core.errors import DdrError
from ddr_cli.rows.log import Coordinates, TrialResult

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Params = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Division:
    """Row numbers of a data set: `n_train` of a training set, then those of a test set.

    `order` are the positions of `rows` in the order in which methods get the samples. `label_order`
    is the order in which the training samples are labelled, if only some are.
    """

    rows: NDArray[np.intp]
    n_train: int
    order: NDArray[np.intp]
    label_order: NDArray[np.intp] | None = None


@dataclass(frozen=True, eq=False)
class SplitJob:
    """Preprocess one split and search its neighbours, for all fits of that split.

    `data` is the file of the data set, `split` is the file to write, and `trace` is the file of the
    trace. `checksum` is that of the data, if foreign code takes part in the run. `searches` is how
    many neighbours to find of all samples among themselves (``transductive``), of the training
    samples among themselves (``out_of_sample``), or of the test samples among the training samples
    (``queries``). `folds` are inner splits of the training set, by the number of labels per class;
    each is preprocessed and searched separately, so that it uses nothing from outside.
    """

    data: Path
    split: Path
    trace: Path
    whole: Division
    steps: tuple[tuple[str, Params], ...]
    searches: Mapping[str, int]
    seed: int
    timeout: float | None = None
    folds: Mapping[int | None, tuple[Division, ...]] = field(default_factory=dict)
    checksum: int | None = None

    @property
    def stages(self) -> int:
        """How many times the time limit applies."""
        return 1 + sum(map(len, self.folds.values()))


@dataclass(frozen=True)
class Evaluation:
    """One trial of a fit: an evaluator on the first `width` columns of the embedding, or on all.

    If the trial is tuned, this is its setting number `candidate`. The evaluator is trained on
    `labels` training samples per class, None for all.
    """

    trial_id: str
    candidate: int
    width: int | None
    evaluator: str
    params: Params
    labels: int | None = None


@dataclass(frozen=True, eq=False)
class FitJob:
    """Fit one embedding of one split and evaluate trials on it.

    `widths` are all ``n_components`` that the spec has for a nested reducer, the largest first;
    `params` then lacks it. They include those of trials that are not in this job, because a fit
    must not depend on which trials remain. `timeout` limits each trial, its fit included. `batched`
    allows evaluating trials together. For a figure, the first columns (each of `kept_widths`) of
    the samples `kept_rows` (positions in the split) are returned. The fit uses the labels of
    `labels` training samples per class, None for all. With `shuffled`, the labels are first
    permuted within the training and the test set. With `across_widths`, a classifier may score all
    values of n_components at once, which changes its numbers by rounding only. `checksum` is that
    of the split, if foreign code takes part in the run; `is_foreign` marks such code.
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
    checksum: int | None = None
    is_foreign: bool = False

    @property
    def stages(self) -> int:
        """How many times the time limit applies, at most."""
        return 1 + len(self.widths) + len(self.evaluations)


@dataclass(frozen=True, eq=False)
class TuneJob:
    """Select the settings of tuned trials on inner folds, then fit and evaluate each trial once.

    The `candidates` are fits as on the whole split; their evaluations are candidates of trials.
    Each is fitted on each of the `n_folds` inner folds for `labels` and scored by `metric`. The
    final trials are scored by all `metrics`.
    """

    split: Path
    trace: Path
    labels: int | None
    n_folds: int
    candidates: tuple[FitJob, ...]
    metric: str
    metrics: tuple[str, ...]
    timeout: float | None = None
    checksum: int | None = None
    is_foreign: bool = False

    @property
    def stages(self) -> int:
        """How many times the time limit applies, at most."""
        trials = {one.trial_id for fit in self.candidates for one in fit.evaluations}
        return self.n_folds * sum(fit.stages for fit in self.candidates) + 2 * len(trials)


Job = SplitJob | FitJob | TuneJob


@dataclass(frozen=True)
class JobResult:
    """What a job returns.

    `error` is the reason why the whole job failed, with its `traceback`; `disk_full`: the disk has
    no space, so that every other job would fail, too; `files_gone`: a file that the job reads was
    removed or changed. `checksum` is that of a prepared split. `cpu_seconds` is the CPU time of the
    process since its last result. `kept` has, by number of columns, the coordinates of samples and,
    if the method provides them, of the classes.
    """

    results: tuple[TrialResult, ...] = ()
    warnings: tuple[str, ...] = ()
    error: str = ""
    traceback: str = ""
    disk_full: bool = False
    files_gone: bool = False
    checksum: int | None = None
    cpu_seconds: float = 0.0
    kept: Mapping[int | None, tuple[Coordinates, Coordinates | None]] = field(default_factory=dict)


class Trace(AbstractContextManager["Trace"]):
    """The trace of a running job; it replaces an earlier one."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8", buffering=1)
        self._write({"pid": os.getpid()})

    def fitting(self) -> None:
        """Record that the shared fit begins."""
        self._write({"on": "fit"})

    def evaluating(self, trial_ids: Sequence[str]) -> None:
        """Record that the evaluation of these trials, or of their candidates, begins."""
        self._write({"on": list(dict.fromkeys(trial_ids))})

    def finished(self, results: Sequence[TrialResult]) -> None:
        """Record the results of finished trials."""
        self._write({"done": [asdict(result) for result in results]})

    def _write(self, record: dict[str, object]) -> None:
        self._file.write(json.dumps(record) + "\n")

    def __exit__(self, *_: object) -> None:
        self._file.close()


@dataclass(frozen=True)
class LastSeen:
    """A trace's content: the process (None before the job begins), current trials, results.

    If `evaluating` has several trials, the process was evaluating one of them.
    """

    pid: int | None = None
    fitting: bool = False
    evaluating: tuple[str, ...] = ()
    finished: tuple[TrialResult, ...] = ()


def last_seen(path: Path) -> LastSeen:
    """Read the trace at `path`; a torn last line or a missing file is no error."""
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
    """The executor is lost: it can run no further jobs, of this run or another."""


@dataclass(frozen=True, eq=False)
class JobEnd:
    """How a submitted job ended: with a result, or by the death of its process.

    After a death, `reason` is its cause and `seen` is the progress of the job.
    """

    job: Job
    result: JobResult | None = None
    death: Literal["timeout", "killed"] | None = None
    reason: str = ""
    seen: LastSeen = LastSeen()


class Executor(ABC):
    """Runs jobs in other processes, one per core, and survives their deaths.

    A back end calls `_notify` with a job's number when the job has ended, from any thread.
    """

    def __init__(self) -> None:
        self._ended: queue.SimpleQueue[int | None] = queue.SimpleQueue()

    @property
    @abstractmethod
    def capacity(self) -> int:
        """The number of submitted jobs that keeps every process busy."""

    @abstractmethod
    def submit(self, job: Job) -> None:
        """Accept a job. It ends exactly once, whatever happens to its process."""

    @abstractmethod
    def wait(self, seconds: float) -> list[JobEnd]:
        """Return the jobs that have ended since the last call; if none has, wait for one."""

    @abstractmethod
    def discard(self) -> None:
        """Forget all jobs that have not ended, and end the processes that run them."""

    @abstractmethod
    def stop(self) -> None:
        """End all processes at once."""

    def release(self, path: Path) -> None:  # noqa: B027 - most back ends hold nothing of a file
        """Free the memory for a data set or split, named by its file, which no further jobs use."""

    def wake(self) -> None:
        """Make `wait` return at once; may be called from a signal handler."""
        self._ended.put(None)

    def _notify(self, number: int) -> None:
        self._ended.put(number)

    def _take(self, seconds: float) -> list[int]:
        """Return the numbers of jobs that have ended; if there is none, wait for one."""
        numbers: list[int | None] = []
        with suppress(queue.Empty):
            numbers.append(self._ended.get(timeout=seconds))
            while True:
                numbers.append(self._ended.get_nowait())
        return [number for number in numbers if number is not None]
