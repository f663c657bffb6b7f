"""How far a run is: before it, from its spec, and at any time, from its folder alone."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddr_cli.core.errors import InputError
from ddr_cli.engine.decide import Decision, Redo, decide
from ddr_cli.engine.plan.identity import Datasets
from ddr_cli.engine.plan.plan import Plan, make_plan
from ddr_cli.engine.progress import duration
from ddr_cli.engine.rows.folder import is_running, journal_of
from ddr_cli.engine.rows.journal import FILE_NAME, OK, parameter_text, read_rows
from ddr_cli.engine.rows.manifest import Manifest, read_manifest
from ddr_cli.engine.rows.tracebacks import read_tracebacks

if TYPE_CHECKING:
    from ddr_cli.spec import Spec


@dataclass(frozen=True)
class PlanFacts:
    """The size of a plan and what is done of it.

    `sharing` is the number of trials per fit; `searches` are the neighbours that are searched for
    once per split, by mode; `seconds_left` estimates the time left, as the last run went;
    `conflict` says why a run would refuse the result folder as it is: what it holds is then not
    counted; `left_out` what the sweep asks of reducers that can't offer it; and of a spec that
    tunes, `inner_fits` counts the fits on inner folds, and `candidates` has a line per method.
    `missing` are files of the data set that are not here.
    """

    name: str
    dataset: str
    folder: str
    trials: int
    splits: int
    fits: int
    sharing: float
    searches: Mapping[str, int]
    done: int
    failed: int
    seconds_left: float | None
    conflict: str | None = None
    left_out: tuple[str, ...] = ()
    inner_fits: int = 0
    candidates: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def remaining(self) -> int:
        """Trials that have no row."""
        return self.trials - self.done - self.failed

    @property
    def what_is_missing(self) -> str:
        """What of the data set is not here, and what gets it; empty if nothing is needed."""
        if not self.missing or not self.remaining:
            return ""
        return (
            f"not here: {', '.join(self.missing)}; 'ddr data fetch {self.dataset}' downloads it or "
            "says what can be done"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        return asdict(self) | {"searches": dict(self.searches), "remaining": self.remaining}

    def __str__(self) -> str:
        lines = [
            f"{self.name}: {self.trials} trials on {self.dataset}, {self.splits} splits",
            f"  fits       {self.fits}, so {self.sharing:.3g} trials share one",
        ]
        if self.candidates:
            lines.append(f"  tuning     {self.inner_fits} fits more on inner folds")
            lines += [f"    {line}" for line in self.candidates]
        lines += [
            f"  neighbours searched once per split, {k} of each point ({mode})"
            for mode, k in self.searches.items()
        ]
        lines += [f"  left out   {line}" for line in self.left_out]
        failed = f", {self.failed} failed" if self.failed else ""
        lines.append(f"  done       {self.done}{failed}, {self.remaining} to do")
        if self.seconds_left is not None:
            lines.append(f"  time       about {duration(self.seconds_left)} left")
        elif self.remaining:
            lines.append("  time       unknown until some trials are done")
        lines.append(f"  results    {self.conflict or self.folder}")
        if self.what_is_missing:
            lines.append(f"  data       {self.what_is_missing}")
        return "\n".join(lines)


def describe_plan(
    spec: Spec, *, out: str | Path = "results", datasets: Datasets | None = None
) -> PlanFacts:
    """Return what a run of a spec would do; the data is read only to know its fingerprint."""
    from ddr_cli.spec import left_out

    datasets = datasets or Datasets()
    plan = make_plan(spec, datasets=datasets)
    folder = Path(out) / spec.name
    try:
        decision = decide(plan, journal_of(folder, plan), Redo())
    except InputError as error:
        decision = Decision((), refusal=str(error))
    # Rows of another version are not counted where a run would refuse them.
    status = {} if decision.refusal else decision.rows
    conflict = decision.refusal or None
    good = sum(each == OK for each in status.values())
    left = len(plan.trials) - len(status)
    return PlanFacts(
        name=spec.name,
        dataset=plan.data.name,
        folder=str(folder),
        trials=len(plan.trials),
        splits=len(plan.fits),
        fits=plan.n_fits,
        sharing=len(plan.trials) / plan.n_fits,
        searches=plan.searches,
        done=good,
        failed=len(status) - good,
        # Another version's sessions say nothing of this one's.
        seconds_left=None if conflict else _seconds_left(folder, len(status), left),
        conflict=conflict,
        left_out=tuple(left_out(spec)),
        inner_fits=plan.n_inner_fits,
        candidates=tuple(_candidates(plan)),
        missing=datasets.missing(spec),
    )


def _candidates(plan: Plan) -> list[str]:
    """Return a line for each tuned method: how many settings it has, and which values."""
    lines: dict[tuple[str, str], str] = {}
    for trial in plan.trials.values():
        if trial.tuning is None:
            continue
        key = (trial.reducer.text, trial.evaluator.text)
        if key in lines:
            continue
        tried: dict[str, list[str]] = {}
        for pair in trial.tuning.candidates:
            for prefix, setting in zip(("reducer", "classifier"), pair, strict=True):
                for name, value in setting.params.items():
                    values = tried.setdefault(f"{prefix}.{name}", [])
                    text = parameter_text(value)
                    values += [text] if text not in values else []
        axes = [f"{name} {', '.join(each)}" for name, each in tried.items() if len(each) > 1]
        n = len(trial.tuning.candidates)
        settings = f"{n} settings" if n > 1 else "1 setting"
        method = f"{trial.reducer.label}, {trial.evaluator.label}"
        lines[key] = f"{method}: {settings}{' of ' * bool(axes)}{'; '.join(axes)}"
    return list(lines.values())


@dataclass(frozen=True)
class RunStatus:
    """How far a run is: of its planned trials those that ended well, and the others by reason.

    `tracebacks` say by reason where the first trial failed, if they were asked for.
    """

    name: str
    planned: int
    done: int
    failures: Mapping[str, int]
    running: bool
    seconds_left: float | None
    tracebacks: Mapping[str, str] = field(default_factory=dict)

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
        for reason, count in self.failures.items():
            lines.append(f"  {count} x {reason}")
            lines += [f"      {line}" for line in self.tracebacks.get(reason, "").splitlines()]
        if self.seconds_left is not None:
            lines.append(f"  about {duration(self.seconds_left)} left")
        return "\n".join(lines)


def run_status(folder: str | Path, *, reasons: bool = False) -> RunStatus:
    """Return how far the run of a result folder is; an `InputError` says if it holds none.

    With `reasons`, the tracebacks of what failed are read too.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    rows = read_rows(folder)
    failed = rows[rows["status"] != OK]
    failures = Counter(failed["status"] + ": " + failed["reason"])
    known = read_tracebacks(folder) if reasons else {}
    return RunStatus(
        name=str(manifest.spec.get("name", folder.name)),
        planned=manifest.planned,
        done=len(rows) - len(failed),
        failures=dict(failures.most_common()),
        running=is_running(folder),
        seconds_left=_seconds_left(folder, len(rows), manifest.planned - len(rows), manifest),
        tracebacks={
            key: known[reason] for key in failures if (reason := key.partition(": ")[2]) in known
        },
    )


def _seconds_left(
    folder: Path, rows: int, remaining: int, manifest: Manifest | None = None
) -> float | None:
    """Estimate the time left from the session that goes on, or else from the last that can tell."""
    try:
        sessions = (manifest or read_manifest(folder)).sessions
    except InputError:
        return None
    paces = [
        (each.wall_seconds - each.startup_seconds, each.trials_ended)
        for each in reversed(sessions)
        if each.finished
    ]
    if sessions and sessions[-1].finished is None and (folder / FILE_NAME).is_file():
        running = is_running(folder)
        # Of a session that was killed, the last row tells when. A copied file's time is another.
        until = time.time() if running else (folder / FILE_NAME).stat().st_mtime
        began = datetime.fromisoformat(sessions[-1].started).timestamp()
        elapsed = until - began - sessions[-1].startup_seconds
        paces.insert(0 if running else len(paces), (elapsed, rows - sessions[-1].rows_before))
    # A session that has just begun says nothing: its processes are still loading libraries.
    telling = (
        (elapsed, ended)
        for elapsed, ended in paces
        if ended > 0 and elapsed > (0 if ended >= (ended + remaining) / 10 else 3)
    )
    elapsed, ended = next(telling, (0, 0))
    return elapsed / ended * remaining if ended and remaining > 0 else None
