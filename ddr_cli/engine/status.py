"""The progress of a run: from its spec, or from its folder alone."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddr_cli.core.errors import InputError, counted
from ddr_cli.engine.decide import Decision, Redo, decide, rows_of
from ddr_cli.engine.plan.datasets import Datasets
from ddr_cli.engine.plan.growth import too_large
from ddr_cli.engine.plan.plan import Plan, make_plan
from ddr_cli.engine.progress import duration
from ddr_cli.rows.folder import is_running
from ddr_cli.rows.log import OK, TRIAL_FILES, parameter_text, read_rows
from ddr_cli.rows.manifest import SessionRecord, read_manifest
from ddr_cli.rows.tracebacks import read_tracebacks
from ddr_cli.spec.sweeps import COMPONENTS

if TYPE_CHECKING:
    from ddr_cli.spec import Spec


@dataclass(frozen=True, kw_only=True)
class RunStatus:
    """The progress of a run: its trials, the successful ones (`done`), and the failures by reason.

    `seconds_left` is estimated from earlier sessions of the run, None if they do not suffice.
    `tracebacks` has, by reason, the traceback of the first failure, if requested.
    """

    name: str
    trials: int
    done: int
    failures: Mapping[str, int]
    running: bool
    seconds_left: float | None
    tracebacks: Mapping[str, str] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        """Number of trials that did not succeed."""
        return sum(self.failures.values())

    @property
    def remaining(self) -> int:
        """Number of trials that have no row."""
        return self.trials - self.done - self.failed

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        return asdict(self) | {"failed": self.failed, "remaining": self.remaining}

    def __str__(self) -> str:
        state = "running" if self.running else ("complete" if not self.remaining else "not running")
        lines = [
            f"{self.name}: {self.done} of {self.trials} trials done, {self.failed} failed, "
            f"{self.remaining} to do ({state})"
        ]
        for reason, count in self.failures.items():
            lines.append(f"  {count} x {reason}")
            lines += [f"      {line}" for line in self.tracebacks.get(reason, "").splitlines()]
        if self.seconds_left is not None:
            lines.append(f"  about {duration(self.seconds_left)} left")
        return "\n".join(lines)


@dataclass(frozen=True, kw_only=True)
class PlanFacts(RunStatus):
    """The size of a plan, and the progress of its run.

    `searches` has the number of neighbours that are searched once per split, by mode. `conflict` is
    the reason why a run would reject the result folder; rows of another version are not counted.
    `left_out` lists requests of the sweep that reducers cannot fulfil. If the spec tunes,
    `inner_fits` counts the fits on inner folds and `candidates` has a line per method. `missing`
    are files of the data set that must be downloaded, and `too_large` has a line for each method
    whose fits are expected to exceed the time limit or the memory of this machine.
    """

    dataset: str
    folder: str
    splits: int
    fits: int
    inner_fits: int
    searches: Mapping[str, int]
    conflict: str | None
    left_out: tuple[str, ...]
    candidates: tuple[str, ...]
    missing: tuple[str, ...]
    too_large: tuple[str, ...]

    @property
    def what_is_missing(self) -> str:
        """The missing files of the data set, and how to get them; empty if none is needed."""
        if not self.missing or not self.remaining:
            return ""
        return (
            f"missing: {', '.join(self.missing)}; 'ddr data fetch {self.dataset}' downloads the "
            "data or explains how to get them"
        )

    def __str__(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        left = "about " + duration(self.seconds_left) + " left" if self.seconds_left else ""
        unknown = "unknown until some trials are done" if self.remaining else ""
        per_fit = self.trials / self.fits
        shared = f", {per_fit:.3g} trials per fit" if per_fit > 1 else ""
        lines = [
            ("fits", f"{self.fits}{shared}"),
            ("tuning", f"{self.inner_fits} more fits on inner folds" * bool(self.candidates)),
            *(("", f"  {line}") for line in self.candidates),
            *(
                ("neighbours", f"{k} per sample, searched once per split ({mode})")
                for mode, k in self.searches.items()
            ),
            *(("left out", line) for line in self.left_out),
            ("done", f"{self.done}{failed}, {self.remaining} to do"),
            ("time", left or unknown),
            ("results", self.conflict or self.folder),
            ("data", self.what_is_missing),
            *(("warning", line) for line in self.too_large),
        ]
        trials, splits = counted(self.trials, "trial"), counted(self.splits, "split")
        first = f"{self.name}: {trials} on {self.dataset}, {splits}"
        return "\n".join([first, *(f"  {name:<10} {text}" for name, text in lines if text)])


def describe_plan(
    spec: Spec,
    *,
    out: str | Path = "results",
    datasets: Datasets | None = None,
    timeout: float | None = None,
) -> PlanFacts:
    """Return a preview of a spec's run; the data is only read if its fingerprint is unknown."""
    from ddr_cli.spec import left_out

    datasets = datasets or Datasets()
    plan = make_plan(spec, datasets=datasets)
    folder = Path(out) / spec.name
    try:
        decision = decide(plan, rows_of(folder, plan), Redo())
    except InputError as error:
        decision = Decision((), refusal=str(error))
    # Rows of another version, because of which a run may refuse the folder, are not counted.
    statuses = Counter(decision.rows.values())
    remaining = len(plan.trials) - len(decision.rows)
    return PlanFacts(
        name=spec.name,
        dataset=plan.data.name,
        folder=str(folder),
        trials=len(plan.trials),
        splits=len(plan.fits),
        fits=plan.n_fits,
        inner_fits=plan.n_inner_fits,
        searches=plan.searches,
        done=statuses.pop(OK, 0),
        failures=dict(statuses),
        running=is_running(folder),
        seconds_left=None
        if decision.refusal
        else _seconds_left(folder, len(decision.rows), remaining),
        conflict=decision.refusal or None,
        left_out=tuple(left_out(spec)),
        candidates=tuple(_candidates(plan)),
        missing=datasets.missing(spec),
        too_large=tuple(too_large(spec, timeout).values()),
    )


def _candidates(plan: Plan) -> list[str]:
    """Return a line for each tuned method: the number of its settings, and their values."""
    lines: dict[tuple[str, str], str] = {}
    for trial in plan.trials.values():
        key = (trial.reducer.text, trial.evaluator.text)
        if trial.tuning is None or key in lines:
            continue
        tried: dict[str, dict[str, None]] = {}
        for pair in trial.tuning.candidates:
            for prefix, setting in zip(COMPONENTS, pair, strict=True):
                for name, value in setting.params.items():
                    tried.setdefault(f"{prefix}.{name}", {})[parameter_text(value)] = None
        axes = "; ".join(f"{name} {', '.join(x)}" for name, x in tried.items() if len(x) > 1)
        n = len(trial.tuning.candidates)
        settings = f"{n} settings of {axes}" if n > 1 else "1 setting"
        lines[key] = f"{trial.reducer.label}, {trial.evaluator.label}: {settings}"
    return list(lines.values())


def run_status(folder: str | Path, *, reasons: bool = False) -> RunStatus:
    """Return the progress of the run in a result folder, or raise an `InputError` if it has none.

    With `reasons`, the tracebacks of the failures are also read.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    rows = read_rows(folder)
    failed = rows[rows["status"] != OK]
    failures = Counter(failed["status"] + ": " + failed["reason"])
    known = read_tracebacks(folder) if reasons else {}
    return RunStatus(
        name=str(manifest.spec.get("name", folder.name)),
        trials=manifest.planned,
        done=len(rows) - len(failed),
        failures=dict(failures.most_common()),
        running=is_running(folder),
        seconds_left=_seconds_left(folder, len(rows), manifest.planned - len(rows)),
        tracebacks={
            key: known[reason] for key in failures if (reason := key.partition(": ")[2]) in known
        },
    )


def _seconds_left(folder: Path, rows: int, remaining: int) -> float | None:
    """Estimate the time left from the current session, or else from the last that suffices."""
    try:
        sessions: list[SessionRecord] = read_manifest(folder).sessions
    except InputError:
        return None
    paces = [
        (each.wall_seconds - each.startup_seconds, each.trials_ended)
        for each in reversed(sessions)
        if each.finished
    ]
    files = [path for path in (folder / name for name in TRIAL_FILES) if path.is_file()]
    if sessions and sessions[-1].finished is None and files:
        running = is_running(folder)
        # A session that was killed ended when the file was last written, unless the file is a copy.
        until = time.time() if running else max(path.stat().st_mtime for path in files)
        began = datetime.fromisoformat(sessions[-1].started).timestamp()
        elapsed = until - began - sessions[-1].startup_seconds
        paces.insert(0 if running else len(paces), (elapsed, rows - sessions[-1].rows_before))
    for elapsed, ended in paces:
        # The first seconds do not show a session's pace, because processes still load libraries.
        least = 0 if ended >= (ended + remaining) / 10 else 3
        if ended > 0 and elapsed > least:
            return elapsed / ended * remaining if remaining > 0 else None
    return None
