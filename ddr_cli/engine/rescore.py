"""Scores of a run's trials that it did not compute, from what it has kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ddr_cli.core.atomic import atomic_write, clear_messages
from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.engine.identity import Datasets
from ddr_cli.engine.journal import OK, read_trials
from ddr_cli.engine.kept import SHUFFLED, KeptGroup, read_kept
from ddr_cli.engine.majority import majority_scores
from ddr_cli.engine.records import Manifest, read_manifest
from ddr_cli.engine.scoring import seeded
from ddr_cli.engine.scratch import Labels
from ddr_cli.engine.work import preprocessed
from ddr_cli.evaluation.measures import Embedded
from ddr_cli.evaluation.metrics import METRICS, RANKINGS, TRAINING, VALUED, Scale, get_scale
from ddr_cli.evaluation.registry import MEASURES, PREPROCESSORS
from ddr_cli.spec.controls import SHUFFLED_LABELS
from ddr_cli.spec.model import Spec

if TYPE_CHECKING:
    from ddr_cli.data import Dataset, Sources

SCORES = "scores.csv"

_ROW = ("dataset", "split", "split_hash", "reducer", "classifier")


@dataclass(frozen=True)
class Rescored:
    """A table of a row per trial (or embedding), whose last column has scores on `scale`.

    A trial that failed is scored as the largest class of its training part, as in the journal. Of
    the `missing` trials nothing is kept. `points` is how many points of a split
    a measure looked at, at most, None for a metric.
    """

    table: pd.DataFrame
    scale: Scale
    missing: int
    points: int | None


def score_run(
    folder: Path,
    *,
    metric: str | None = None,
    measure: str | None = None,
    params: Mapping[str, Any] | None = None,
    sources: Sources | None = None,
) -> Rescored:
    """Score what a run has kept by one metric, or by one measure, and write ``scores.csv``.

    Raises
    ------
    InputError
        If there is no such metric or measure, or the run has not kept what it takes.
    """
    manifest, trials = read_manifest(folder), read_trials(folder)
    spec = Spec.from_resolved(manifest.spec)
    trials, groups = trials.set_index("trial_id"), read_kept(folder)
    if metric is not None:
        values, scale, points = _metric_values(metric, groups), get_scale(metric), None
        values |= _of_failures(metric, groups, trials)
        what = "predictions: true"
        # Measures predict nothing.
        wanted = trials[trials["classifier"].isin([item.name for item in spec.classifiers])]
    else:
        assert measure is not None
        values = _measure_values(measure, params or {}, groups, manifest, spec, sources)
        scale, what = MEASURES.load(measure).scale, "embeddings: 500"
        points = max((len(group.points) for group in groups.values()), default=0)
        control = trials.get("control")
        wanted = trials if control is None else trials[control == ""]
        wanted = wanted[wanted["status"] == OK]
    found = [trial for trial in wanted.index if trial in values]
    if not found:
        raise InputError(
            f"{folder} has kept nothing to compute {scale.name} from. Add 'keep: {{{what}}}' to "
            "the spec and run it with --fresh."
        )
    table = wanted.loc[found]
    kept = [name for name in table.columns if name in _ROW or "." in name]
    kept += [name for name in ("labels", "control", "tuned") if name in table.columns]
    kept += ["status"]
    table = table[kept].assign(**{scale.name: [values[trial] for trial in found]})
    if measure is not None:
        # The classifiers of one embedding share its score.
        own = [name for name in table if not str(name).startswith(("classifier", "status"))]
        table = table[own].drop_duplicates()
    path = folder / SCORES
    with clear_messages(path):
        atomic_write(path, table.to_csv(lineterminator="\n"))
    return Rescored(table, scale, len(wanted) - len(found), points)


def _metric_values(name: str, groups: Mapping[str, KeptGroup]) -> dict[str, float]:
    if any(name in table for table in (TRAINING, RANKINGS, VALUED)):
        raise InputError(
            f"The metric '{name}' is not computed from labels predicted for test points, which is "
            f"what runs keep; list it under metrics of the spec."
        )
    if name not in METRICS:
        hint = did_you_mean(name, list(METRICS)) or f" There are {', '.join(METRICS)}."
        raise InputError(f"There is no metric called '{name}'.{hint}")
    metric = METRICS[name]
    return {
        trial: float(metric(group.y_test, predicted))
        for group in groups.values()
        for trial, predicted in group.predicted.items()
    }


def _of_failures(
    metric: str, groups: Mapping[str, KeptGroup], trials: pd.DataFrame
) -> dict[str, float]:
    values: dict[str, float] = {}
    for trial, row in trials[trials["status"] != OK].iterrows():
        shuffled = row.get("control", "") == SHUFFLED_LABELS
        group = groups.get(row["split"] + (SHUFFLED if shuffled else ""))
        if group is not None:
            budget = row.get("labels")
            labels = None if pd.isna(budget) else int(budget)
            values[str(trial)] = majority_scores(
                group.y_train, group.y_test, [metric], labels=labels
            )[metric]
    return values


def _measure_values(
    name: str,
    params: Mapping[str, Any],
    groups: Mapping[str, KeptGroup],
    manifest: Manifest,
    spec: Spec,
    sources: Sources | None,
) -> dict[str, float]:
    factory: Any = MEASURES.load(name)
    groups = {name: group for name, group in groups.items() if group.placed}
    if not groups:
        return {}
    assert manifest.data is not None
    data = Datasets(sources).load(spec, manifest.data.options)
    if data.fingerprint != manifest.data.fingerprint:
        raise InputError(
            f"The data set '{data.name}' is not the one that was run on; its fingerprint differs."
        )
    values: dict[str, float] = {}
    for group in groups.values():
        known: dict[tuple[int, int], float] = {}
        original, labels = _points_of(group, data, spec)
        for trial, (place, width) in group.placed.items():
            if (place, width) not in known:
                embedded = _embedded(group, place, width, original, labels)
                try:
                    known[place, width] = float(factory.score_many(embedded, [params])[0])
                except (TypeError, ValueError) as error:
                    raise InputError(f"{name}: {error}") from None
            values[trial] = known[place, width]
    return values


def _points_of(group: KeptGroup, data: Dataset, spec: Spec) -> tuple[Any, Labels]:
    """Return the points whose places are kept, as the reducers got them, and their labels."""
    labels = Labels.of(data).rows(np.concatenate([group.train, group.test]))
    steps = [
        seeded(PREPROCESSORS.load(step.name)(**step.params), group.seed) for step in spec.preprocess
    ]
    y = labels.y[: len(group.train)]
    parts = data.X[group.train], data.X[group.test]
    points = preprocessed(*parts, y, steps, data.categorical)
    return points[group.points], labels.rows(group.points)


def _embedded(group: KeptGroup, place: int, width: int, original: Any, labels: Labels) -> Embedded:
    places, prototypes = group.places[place], group.prototypes[place]
    if not len(places):
        places = original
    columns = width or places.shape[1]
    return Embedded(
        np.ascontiguousarray(places[:, :columns]) if isinstance(places, np.ndarray) else places,
        original,
        labels.y,
        int(np.sum(group.points < len(group.train))),
        labels.classes,
        labels.subclasses,
        prototypes[:, :columns] if prototypes.size else None,
    )
