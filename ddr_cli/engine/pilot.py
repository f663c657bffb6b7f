"""A pilot: one split of a spec, run to know what the whole will cost and what of it fails."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddr_cli.engine.plan.plan import Fit, Plan, make_plan
from ddr_cli.engine.progress import Progress, duration
from ddr_cli.engine.rows.journal import OK, read_trials
from ddr_cli.engine.session import RunSettings, SpecRun
from ddr_cli.engine.work.local import LocalExecutor

if TYPE_CHECKING:
    import pandas as pd

    from ddr_cli.engine.plan.identity import Datasets
    from ddr_cli.spec import Spec

_MOST_REASON = 200


@dataclass(frozen=True)
class Pilot:
    """What one split took: CPU seconds by method, and why trials of a method failed.

    `splits` is how many there are in all. Preparing a split is not among the seconds.
    """

    name: str
    split: str
    splits: int
    trials: int
    seconds: Mapping[str, float]
    failures: Mapping[str, str]

    @property
    def whole_seconds(self) -> float:
        """The CPU time that all splits take if they are like this one."""
        return self.splits * sum(self.seconds.values())

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        return asdict(self) | {"whole_seconds": self.whole_seconds}

    def __str__(self) -> str:
        wide = max(map(len, self.seconds), default=0)
        lines = [f"  pilot      {self.trials} trials of {self.split}, CPU seconds by method"]
        lines += [f"    {name:<{wide}}  {spent:10.3f}" for name, spent in self.seconds.items()]
        lines.append(
            f"  whole run  about {duration(self.whole_seconds)} of CPU time over "
            f"{self.splits} splits"
        )
        lines += [f"  would fail {name}: {reason}" for name, reason in self.failures.items()]
        return "\n".join(lines)


def run_pilot(spec: Spec, *, datasets: Datasets, timeout: float | None = None) -> Pilot:
    """Run one split of a spec in a folder of its own, which is not kept.

    Raises what a run raises before its first trial.
    """
    whole = make_plan(spec, datasets=datasets)
    key = list(whole.fits)[-1]
    plan = replace(whole, fits={key: whole.fits[key]}, kept={})
    executor = LocalExecutor(1)
    try:
        with tempfile.TemporaryDirectory(prefix="ddr-pilot-") as folder:
            settings = RunSettings(out=Path(folder), timeout=timeout)
            run = SpecRun(spec, settings, datasets, plan=plan)
            outcome = run.run(executor, Progress())
            if outcome.interrupted:
                raise KeyboardInterrupt
            trials = read_trials(outcome.folder).set_index("trial_id")
    finally:
        executor.stop()
    return Pilot(
        spec.name,
        key.name,
        len(whole.fits),
        len(trials),
        method_seconds(plan.fits[key], trials, _method),
        _failures(plan, trials),
    )


def method_seconds(
    fits: Iterable[Fit], trials: pd.DataFrame, name: Callable[[Fit], str]
) -> dict[str, float]:
    """Return the CPU seconds of each method, the dearest first, of trials by their id.

    `name` says which method a fit is of.
    """
    spent: dict[str, float] = {}
    owners = list(fits)
    owner = {trial_id: i for i, fit in enumerate(owners) for trial_id in fit.trials}
    rows = trials[trials.index.isin(owner.keys())]
    for i, own in rows.groupby(rows.index.map(owner)):
        fit = owners[int(i)]
        seconds = own["eval_seconds"].sum()
        if fit.tuning is None:
            # Its trials rest on one embedding.
            seconds += own["fit_seconds"].max() if own["fit_seconds"].notna().any() else 0.0
        else:
            seconds += own[["fit_seconds", "tune_seconds"]].sum().sum()
        spent[name(fit)] = spent.get(name(fit), 0.0) + float(seconds)
    return dict(sorted(spent.items(), key=lambda item: -item[1]))


def _method(fit: Fit) -> str:
    kinds = [fit.control.replace("_", " ")] * bool(fit.control)
    kinds += ["tuned"] * (fit.tuning is not None)
    return ", ".join([fit.reducer.label, *kinds])


def _failures(plan: Plan, trials: pd.DataFrame) -> dict[str, str]:
    """Return the first reason for each method some of whose trials failed, and how many did."""
    found: dict[str, list[str]] = {}
    totals: dict[str, int] = {}
    for fits in plan.fits.values():
        for fit in fits:
            for trial_id, trial in fit.trials.items():
                name = f"{_method(fit)}, {trial.evaluator.label}"
                totals[name] = totals.get(name, 0) + 1
                if trials.at[trial_id, "status"] != OK:
                    found.setdefault(name, []).append(str(trials.at[trial_id, "reason"]))
    return {
        name: f"{len(reasons)} of {totals[name]} trials, {reasons[0][:_MOST_REASON]}"
        for name, reasons in found.items()
    }
