"""How far a run is, from its folder alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ddr_cli.engine.folder import is_running
from ddr_cli.engine.journal import OK, read_rows
from ddr_cli.engine.progress import duration
from ddr_cli.engine.provenance import read_manifest


@dataclass(frozen=True)
class RunStatus:
    """How far a run is.

    Parameters
    ----------
    name : str
        The spec's name.
    planned : int
        Number of trials of the spec.
    done : int
        Trials that ended well.
    failures : mapping of str to int
        Trials that did not, by status and reason.
    running : bool
        Whether a run is writing to the folder now.
    seconds_left : float, optional
        An estimate from the last session; None if it can't be made or nothing is left.
    """

    name: str
    planned: int
    done: int
    failures: Mapping[str, int]
    running: bool
    seconds_left: float | None

    @property
    def failed(self) -> int:
        """Number of trials that did not end well."""
        return sum(self.failures.values())

    @property
    def remaining(self) -> int:
        """Number of trials that have no row."""
        return self.planned - self.done - self.failed

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        return asdict(self) | {"failed": self.failed, "remaining": self.remaining}

    def __str__(self) -> str:
        state = "running" if self.running else ("complete" if not self.remaining else "not running")
        lines = [
            f"{self.name}: {self.done} of {self.planned} trials done, {self.failed} failed, "
            f"{self.remaining} to do ({state})"
        ]
        lines += [f"  {count} x {reason}" for reason, count in self.failures.items()]
        if self.seconds_left is not None:
            lines.append(f"  about {duration(self.seconds_left)} left")
        return "\n".join(lines)


def run_status(folder: str | Path) -> RunStatus:
    """Return how far the run of a result folder is.

    Raises
    ------
    InputError
        If the folder holds no run or its files are damaged.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    _, rows = read_rows(folder)
    failures = Counter(f"{row['status']}: {row['reason']}" for row in rows if row["status"] != OK)
    done = sum(row["status"] == OK for row in rows)
    running = is_running(folder)
    planned = int(manifest["planned"])
    return RunStatus(
        name=str(manifest["spec"]["name"]),
        planned=planned,
        done=done,
        failures=dict(failures.most_common()),
        running=running,
        seconds_left=_seconds_left(manifest, len(rows), planned - len(rows), running),
    )


def _seconds_left(
    manifest: Mapping[str, Any], rows: int, remaining: int, running: bool
) -> float | None:
    if not remaining or not manifest["sessions"]:
        return None
    session = manifest["sessions"][-1]
    if running and session["finished"] is None:
        started = datetime.fromisoformat(session["started"])
        elapsed = (datetime.now(UTC) - started).total_seconds()
        ended = rows - session["rows_before"]
    else:
        elapsed, ended = session.get("wall_seconds", 0.0), session.get("trials_ended", 0)
    return elapsed / ended * remaining if ended > 0 and elapsed > 0 else None
