"""How far a job is, told by the worker in a file that outlives it.

A worker that is killed can't say what it was at. Its trace can: which trials it had finished, whose
results are then kept, and which it was on, which alone are lost.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from ddr_cli.engine.jobs import TrialResult


class Trace:
    """The trace of a running job.

    Parameters
    ----------
    path : Path
        The file; a new one is begun.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8", buffering=1)
        self._write({"pid": os.getpid()})

    def fitting(self) -> None:
        """Note that the shared fit begins."""
        self._write({"on": "fit"})

    def evaluating(self, trial_ids: Sequence[str]) -> None:
        """Note that the evaluation of these trials begins."""
        self._write({"on": list(trial_ids)})

    def finished(self, results: Sequence[TrialResult]) -> None:
        """Note that trials are finished."""
        self._write({"done": [asdict(result) for result in results]})

    def _write(self, record: dict[str, object]) -> None:
        self._file.write(json.dumps(record) + "\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()


@dataclass(frozen=True)
class LastSeen:
    """What a trace says.

    Parameters
    ----------
    pid : int, optional
        The process that ran the job; None if the job was not begun.
    fitting : bool
        Whether it was at the shared fit.
    evaluating : tuple of str
        The trials it was evaluating.
    finished : tuple of TrialResult
        What it had finished.
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
