"""What a run would do, without doing it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddr_cli.core.errors import InputError
from ddr_cli.engine.folder import rows_so_far
from ddr_cli.engine.journal import OK
from ddr_cli.engine.plan import Plan, make_plan
from ddr_cli.engine.progress import duration

if TYPE_CHECKING:
    from ddr_cli.data import Sources
    from ddr_cli.engine.datasets import Datasets
    from ddr_cli.spec import Spec


@dataclass(frozen=True)
class PlanFacts:
    """The size of a plan and what is done of it.

    Parameters
    ----------
    name, dataset : str
        Of the spec.
    folder : str
        The result folder.
    trials, splits : int
        How many there are.
    fits : int
        Embeddings to fit, each for all classifiers and, if the reducer is nested, all dimensions.
    sharing : float
        Trials per fit.
    searches : mapping of str to int
        Neighbours that are searched for once per split, by mode.
    done, failed : int
        Trials that have a row, well or not.
    cpu_seconds_left : float, optional
        An estimate from the trials that are done; None if none are.
    conflict : str, optional
        Why a run would refuse the result folder as it is; what it holds is then not counted.
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
    cpu_seconds_left: float | None
    conflict: str | None = None

    @property
    def remaining(self) -> int:
        """Trials that have no row."""
        return self.trials - self.done - self.failed

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        return asdict(self) | {"searches": dict(self.searches), "remaining": self.remaining}

    def __str__(self) -> str:
        lines = [
            f"{self.name}: {self.trials} trials on {self.dataset}, {self.splits} splits",
            f"  fits       {self.fits}, so {self.sharing:.3g} trials share one",
        ]
        lines += [
            f"  neighbours searched once per split, {k} of each point ({mode})"
            for mode, k in self.searches.items()
        ]
        failed = f", {self.failed} failed" if self.failed else ""
        lines.append(f"  done       {self.done}{failed}, {self.remaining} to do")
        if self.cpu_seconds_left is None:
            lines.append("  time       unknown until some trials are done")
        elif self.remaining:
            lines.append(f"  time       about {duration(self.cpu_seconds_left)} of one core")
        lines.append(f"  results    {self.conflict or self.folder}")
        return "\n".join(lines)


def describe_plan(
    spec: Spec,
    *,
    out: str | Path = "results",
    sources: Sources | None = None,
    datasets: Datasets | None = None,
) -> PlanFacts:
    """Return what a run of a spec would do.

    Parameters
    ----------
    spec : Spec
        The spec.
    out, sources, datasets
        As for `run_spec`.

    Raises
    ------
    InputError
        If the data set, or a reducer or classifier of the spec, is not there.
    DataUnavailableError
        If the data has to be read to know its fingerprint, and can't be had.
    """
    plan = make_plan(spec, sources=sources, datasets=datasets)
    folder = Path(out) / spec.name
    rows: Mapping[str, Mapping[str, str]] = {}
    conflict = None
    try:
        rows = rows_so_far(folder, plan)
    except InputError as error:
        conflict = str(error)
    good = sum(row["status"] == OK for row in rows.values())
    return PlanFacts(
        name=spec.name,
        dataset=plan.data.name,
        folder=str(folder),
        trials=len(plan.trials),
        splits=len(plan.groups),
        fits=plan.n_fits,
        sharing=len(plan.trials) / plan.n_fits,
        searches=plan.searches,
        done=good,
        failed=len(rows) - good,
        cpu_seconds_left=_seconds_left(plan, rows),
        conflict=conflict,
    )


def _seconds_left(plan: Plan, rows: Mapping[str, Mapping[str, str]]) -> float | None:
    """Return the CPU seconds of what has no row, from what the same pieces took so far."""
    fits: dict[str, list[float]] = defaultdict(list)
    evaluations: dict[str, list[float]] = defaultdict(list)
    missing_fits: dict[str, int] = defaultdict(int)
    missing_evaluations: dict[str, int] = defaultdict(int)
    for unit in (unit for group in plan.groups for unit in group.units):
        missing = False
        for trial in unit.trials:
            row = rows.get(trial.id)
            if row is None:
                missing = True
                missing_evaluations[trial.classifier.name] += 1
            elif row["eval_seconds"]:
                evaluations[trial.classifier.name].append(float(row["eval_seconds"]))
        missing_fits[unit.reducer] += missing
        done = (rows.get(trial.id, {}).get("fit_seconds") for trial in unit.trials)
        seconds = next((float(text) for text in done if text), None)
        if seconds is not None:
            fits[unit.reducer].append(seconds)
    if not fits or not evaluations:
        return None
    return _total(missing_fits, fits) + _total(missing_evaluations, evaluations)


def _total(missing: Mapping[str, int], seen: Mapping[str, list[float]]) -> float:
    everything = [seconds for values in seen.values() for seconds in values]
    overall = sum(everything) / len(everything)
    return sum(
        count * (sum(seen[name]) / len(seen[name]) if name in seen else overall)
        for name, count in missing.items()
    )
