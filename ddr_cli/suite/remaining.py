"""A suite's finished, stale and missing trials, their cost, and running them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ddr_cli.core.atomic import atomic_write
from ddr_cli.core.errors import DdrError
from ddr_cli.core.own_code import class_name, display_name
from ddr_cli.core.progress import progress_bar
from ddr_cli.engine.decide import rows_of, stale_rows
from ddr_cli.engine.plan.datasets import Datasets
from ddr_cli.engine.plan.plan import Fit, Plan, make_plan
from ddr_cli.rows.log import (
    OK,
    read_trials,
)
from ddr_cli.rows.manifest import here, read_manifest
from ddr_cli.rows.schema import DESCRIBING, OPTIONAL, OUTCOME
from ddr_cli.spec.controls import SEEN
from ddr_cli.spec.feasible import WIDTH
from ddr_cli.suite.names import FOLDER, SUITE_FILE
from ddr_cli.suite.published import results_of

if TYPE_CHECKING:
    from ddr_cli.engine.run import RunOutcome, RunSettings
    from ddr_cli.spec import Spec, SplitKey
    from ddr_cli.suite.definition import Suite

MEASURED, ESTIMATED = "rows", "estimated"


@dataclass(frozen=True)
class SuitePart:
    """One data set of a track: its plan, the status of its trials, and stale rows by method."""

    spec: Spec
    plan: Plan
    folder: Path
    status: Mapping[str, str]
    stale: Counter[str]

    @property
    def track(self) -> str:
        """The suite's track."""
        assert self.spec.suite is not None
        return self.spec.suite.track

    @property
    def dataset(self) -> str:
        """The data set's name."""
        return self.plan.data.name

    @property
    def grids(self) -> dict[str, list[str]]:
        """The parameters of each method that have a grid."""
        return {item.label: [*item.grids] for item in self.spec.reducers}

    @cached_property
    def tallies(self) -> pd.DataFrame:
        """By method, how many trials are planned, done, failed (of those done), stale, missing."""
        counts: dict[str, Counter[str]] = {}
        for fit in chain.from_iterable(self.plan.fits.values()):
            own = counts.setdefault(fit.reducer.label, Counter())
            ended = [self.status[trial] for trial in fit.trials if trial in self.status]
            own["planned"] += len(fit.trials)
            own["done"] += len(ended)
            own["failed"] += len(ended) - ended.count(OK)
        for name, stale in self.stale.items():
            counts.setdefault(name, Counter())["stale"] = stale
        for own in counts.values():
            own["missing"] = own["planned"] - own["done"]
        columns = ["planned", "done", "failed", "stale", "missing"]
        table = pd.DataFrame(counts.values(), index=list(counts), columns=columns)
        return table.fillna(0).astype(int).rename_axis("method")

    def to_do(self, key: SplitKey) -> list[str]:
        """Return the methods that are not finished on a split."""
        left = (fit for fit in self.plan.fits[key] if not fit.trials.keys() <= self.status.keys())
        return list(dict.fromkeys(fit.reducer.label for fit in left))

    @property
    def ended(self) -> int:
        """The number of leading splits on which all started methods are finished."""
        begun = set(self.tallies.index[self.tallies["done"] > 0])
        keys = list(self.plan.fits) if begun else []
        left = (i for i, key in enumerate(keys) if begun.intersection(self.to_do(key)))
        return next(left, len(keys))

    @cached_property
    def trials(self) -> pd.DataFrame:
        """The current rows, by trial id, with the columns that a suite uses."""
        tuned = {WIDTH, *chain.from_iterable(self.grids.values())}
        columns = {*DESCRIBING, *OPTIONAL, *OUTCOME, SEEN, *self.spec.metrics}
        columns |= {f"reducer.{name}" for name in tuned}
        rows = read_trials(self.folder, which="all", columns=columns).set_index("trial_id")
        return rows[rows.index.isin(self.status.keys())]

    @cached_property
    def seconds(self) -> dict[str, float]:
        """The mean CPU seconds per split of each method.

        Rows that share a fit each record its full time, and none records the preparation of a
        split. If the manifest's sessions made all rows, the sum is scaled to the sessions' time.
        """
        if not self.status:
            return {}
        totals: dict[str, list[float]] = {}
        told = 0.0
        columns = ("fit_seconds", "eval_seconds", "tune_seconds")
        times = self.trials.reindex(columns=columns).astype(float).fillna(0.0)
        by_trial = dict(zip(times.index, times.itertuples(index=False, name=None), strict=True))
        for key, fits in self.plan.fits.items():
            left = set(self.to_do(key))
            for name, seconds in method_seconds(fits, by_trial).items():
                told += seconds
                if name not in left:
                    totals.setdefault(name, []).append(seconds)
        sessions = read_manifest(self.folder).sessions
        whole = sum(each.trials_ended for each in sessions) == len(self.status)
        share = sum(each.cpu_seconds for each in sessions) / told if whole and told else 1.0
        return {name: share * sum(each) / len(each) for name, each in totals.items()}


def method_seconds(
    fits: Iterable[Fit], times: Mapping[str, tuple[float, float, float]]
) -> dict[str, float]:
    """Return the CPU seconds of each method.

    A trial's `times` are those of its fit, its evaluation and its tuning.
    """
    spent: dict[str, float] = {}
    for fit in fits:
        own = [times[trial_id] for trial_id in fit.trials if trial_id in times]
        if not own:
            continue
        fitted, evaluated, tuned = zip(*own, strict=True)
        # Without tuning, the trials of a fit share one embedding, whose time counts once.
        seconds = max(fitted) if fit.tuning is None else sum(fitted) + sum(tuned)
        spent[fit.reducer.label] = spent.get(fit.reducer.label, 0.0) + seconds + sum(evaluated)
    return spent


def folder_of(suite: Suite, out: Path) -> Path:
    """Return the folder of a suite's results in `out` or, if there is none, the fetched one."""
    return results_of(suite.name, out) / f"{FOLDER}{suite.name}"


def parts_of(
    suite: Suite,
    out: Path,
    *,
    tracks: Sequence[str] = (),
    only: Sequence[str] = (),
) -> list[SuitePart]:
    """Return the parts of these tracks and data sets, or of all, with their state in `out`."""
    datasets = Datasets()
    return [
        _part(spec, make_plan(spec, datasets=datasets), out / spec.name)
        for spec in progress_bar(list(suite.specs(tracks=tracks, datasets=only)), "Specs")
    ]


def seen_again(parts: Sequence[SuitePart]) -> list[SuitePart]:
    """Return the parts with their state read again."""
    return [_part(part.spec, part.plan, part.folder) for part in parts]


def _part(spec: Spec, plan: Plan, folder: Path) -> SuitePart:
    rows = rows_of(folder, plan)
    stale = stale_rows(rows, plan)
    labels = {display_name(item.name): item.label for item in spec.reducers}
    old = (row["reducer"] for row in (rows.rows if stale else ()) if row["trial_id"] in stale)
    named = Counter(labels.get(name, class_name(name)) for name in old)
    status = {key: value for key, value in rows.status.items() if key not in stale}
    return SuitePart(spec, plan, folder, status, named)


def run_suite(
    suite: Suite,
    parts: Sequence[SuitePart],
    settings: RunSettings,
    *,
    hours: float | None = None,
    splits: int | None = None,
    told: Callable[[str], None] = lambda _: None,
) -> dict[str, RunOutcome | DdrError]:
    """Run missing and stale trials: one split of every data set, then the next split of each.

    After `hours` CPU hours, no further split is started; `splits` limits the splits of each data
    set. The timeouts are the suite's.
    """
    from ddr_cli.engine.run import run_specs

    spent = 0.0

    def enough(outcome: RunOutcome) -> bool:
        nonlocal spent
        spent += outcome.cpu_seconds
        return hours is not None and spent >= hours * 3600

    most = max(len(part.plan.fits) for part in parts)
    try:
        return run_specs(
            [part.spec for part in parts],
            replace(settings, redo=(*settings.redo, "changed")),
            ended=lambda _: None,
            refused=lambda spec, error: told(f"{spec.name}: {error}"),
            plans={part.spec.name: part.plan for part in parts},
            timeouts={
                part.spec.name: suite.tracks[part.track].timeout or suite.timeout for part in parts
            },
            rounds=range(1, min(most, splits or most) + 1),
            enough=enough,
        )
    finally:
        write_manifest(suite, settings.out)


def write_manifest(suite: Suite, out: Path) -> None:
    """Write suite.json: the suite, versions, and the data and trials of each folder."""
    runs = {}
    for path in sorted(out.glob("*/manifest.json")):
        manifest = read_manifest(path.parent)
        data = manifest.data
        runs[path.parent.name] = {
            "suite": manifest.spec.get("suite"),
            "data": None if data is None else {"name": data.name, "fingerprint": data.fingerprint},
            "planned": manifest.planned,
            "cpu_seconds": round(sum(each.cpu_seconds for each in manifest.sessions), 1),
        }
    if not runs:
        return
    content = {
        "suite": suite.model_dump(mode="json"),
        "versions": here().versions,
        "runs": runs,
    }
    atomic_write(out / SUITE_FILE, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def cost_table(parts: Sequence[SuitePart]) -> pd.DataFrame:
    """Return the cost of each method on each data set of a track.

    `seconds` are CPU seconds of one split, `source` is where they come from, and `seconds_left` are
    of the splits that are left to do. What is not known is missing.
    """
    records = []
    for part in parts:
        left = Counter(name for key in part.plan.fits for name in part.to_do(key))
        for name in part.tallies.index[part.tallies["planned"] > 0]:
            seconds = part.seconds.get(name)
            records.append(
                (part.track, part.dataset, name, seconds, len(part.plan.fits), left[name])
            )
    columns = ["track", "dataset", "method", "seconds", "splits", "to_do"]
    table = pd.DataFrame(records, columns=columns).astype({"seconds": float})
    measured = table["seconds"].notna()
    for _, rows in table.groupby("track"):
        table.loc[rows.index, "seconds"] = _with_estimates(rows)
    table["source"] = np.where(measured, MEASURED, ESTIMATED)
    table.loc[table["seconds"].isna(), "source"] = ""
    return table.assign(seconds_left=table["seconds"] * table["to_do"])


def _with_estimates(rows: pd.DataFrame) -> pd.Series[float]:
    """Return the seconds of a track, with estimates where there are no rows to measure.

    They are from a log-additive model (method plus data set), fitted to the existing rows. A data
    set without rows has the mean effect; a method without rows has no estimate.
    """
    known = rows.dropna(subset="seconds")
    if known.empty:
        return rows["seconds"]
    names = [("dataset", name) for name in known["dataset"].unique()]
    average = slice(len(names))
    names += [("method", name) for name in known["method"].unique()]
    design = np.column_stack([known[column] == name for column, name in names]).astype(float)
    seconds = np.maximum(known["seconds"], 1e-3)
    effects = np.linalg.lstsq(design, np.log(seconds), rcond=None)[0]
    found = dict(zip(names, effects, strict=True))
    of_data = [
        found.get(("dataset", name), float(effects[average].mean())) for name in rows["dataset"]
    ]
    of_method = [found.get(("method", name), np.nan) for name in rows["method"]]
    effect = pd.Series(of_data, rows.index) + of_method
    return rows["seconds"].fillna(effect.map(np.exp))
